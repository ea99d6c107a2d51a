package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.PosixMode;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.RenameArguments;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.TimeChange;

/** One copy from this machine to the server, see {@link TreeCopy}. */
final class PutTree {

    /** What a file or directory gets while it is being filled. */
    private static final int OWNER_ONLY_FILE = 0600;
    private static final int OWNER_ONLY_DIRECTORY = 0700;
    private static final int MAX_LINKED_FILES = 1 << 20;
    /** How long to wait for what only leaves things tidy. */
    private static final int CLEAN_UP_MILLIS = 2000;

    private final RemoteFiles files;
    private final NfsClient client;
    private final CopyOptions options;
    private final CopyListener listener;
    private final CopyJobs jobs;
    /** Of files with several names: that of one that is gone may be another file's already. */
    private final Set<Object> linkedFileKeys = new HashSet<>();
    private final Map<Object, RemoteFile> copiesByFileKey = new ConcurrentHashMap<>();
    private final List<FailureListener.Part> hardLinks = new ArrayList<>();
    private final List<FailureListener.Part> directoryAttributes = new ArrayList<>();

    PutTree(RemoteFiles files, CopyOptions options, CopyJobs jobs) {
        this.files = files;
        this.client = files.client();
        this.options = options;
        listener = options.listener();
        this.jobs = jobs;
    }

    void run(Path source, RemoteFile directory, String name) throws IOException {
        put(source, directory, name);
        jobs.finish();
        for (FailureListener.Part hardLink : hardLinks) {
            listener.attempt(hardLink);
        }
        for (FailureListener.Part attributes : directoryAttributes) {
            listener.attempt(attributes);
        }
    }

    void put(Path source, RemoteFile directory, String name) throws IOException {
        PosixFileAttributes attributes = Files.readAttributes(source, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (attributes.isSymbolicLink()) {
            putSymbolicLink(source, directory, name);
        } else if (attributes.isDirectory()) {
            putDirectory(source, attributes, directory, name);
        } else if (!attributes.isRegularFile()) {
            listener.skipped(LocalNames.textOf(source), "it is neither a file nor a directory nor a symbolic link");
        } else {
            putRegularFile(source, attributes, directory, name);
        }
    }

    private void putRegularFile(Path source, PosixFileAttributes attributes, RemoteFile directory, String name)
            throws IOException {
        Object linkedFileKey = mayHaveSeveralNames(source) ? attributes.fileKey() : null;
        if (linkedFileKey == null || linkedFileKeys.add(linkedFileKey)) {
            if (linkedFileKeys.size() > MAX_LINKED_FILES) {
                throw new IOException(LocalNames.textOf(source) + ": more than " + MAX_LINKED_FILES
                        + " files with several names");
            }
            jobs.start(() -> listener.attempt(() -> putFile(source, attributes, linkedFileKey, directory, name)));
        } else {
            hardLinks.add(() -> putHardLink(source, attributes, linkedFileKey, directory, name));
        }
    }

    private static boolean mayHaveSeveralNames(Path file) throws IOException {
        return !file.getFileSystem().supportedFileAttributeViews().contains("unix")
                || (Integer) Files.getAttribute(file, "unix:nlink", LinkOption.NOFOLLOW_LINKS) > 1;
    }

    private void putDirectory(Path source, PosixFileAttributes attributes, RemoteFile parent, String name) throws IOException {
        int mode = PosixMode.of(attributes.permissions());
        RemoteFile directory;
        try {
            directory = files.makeDirectory(parent, name, Sattr.NONE.withMode(mode | OWNER_ONLY_DIRECTORY));
        } catch (NfsException e) {
            if (e.status() != NfsStatus.EXIST) {
                throw e;
            }
            directory = files.lookup(parent, name);
            if (!directory.attributes().isDirectory()) {
                throw e;
            }
        }
        RemoteFile filled = directory;
        listener.attempt(() -> putChildren(source, filled));
        directoryAttributes.add(() -> setAttributes(filled, attributes));
    }

    private void putChildren(Path source, RemoteFile directory) throws IOException {
        try (DirectoryStream<Path> children = Files.newDirectoryStream(source)) {
            for (Path child : children) {
                listener.attempt(() -> put(child, directory, LocalNames.nameOf(child)));
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
    }

    /** What has the name stays as it is until the new file is there, with its mode and time. */
    private void putFile(Path source, PosixFileAttributes attributes, Object linkedFileKey, RemoteFile directory, String name)
            throws IOException {
        String path = RemotePath.child(directory.path(), name);
        String temporary = TemporaryNames.next();
        Sattr initial = Sattr.NONE.withMode(PosixMode.of(attributes.permissions()) | OWNER_ONLY_FILE);
        try (FileChannel content = FileChannel.open(source, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            // Nobody else has the name. If the server is lost after it has made the file, the call is made again.
            CompletableFuture<LookupResult> creation = client.create(new CreateArguments(
                    new DirectoryOperationArguments(directory.handle(), temporary), CreateMode.UNCHECKED, initial, 0));
            try {
                RemoteFile made = files.created(directory, temporary, RemoteFiles.call(path, creation));
                RemoteFile copy = new RemoteFile(path, made.handle(), made.attributes());
                new Upload(files, content, LocalNames.textOf(source), copy, options).run();
                setAttributes(copy, attributes);
                rename(directory, temporary, name, copy);
                if (linkedFileKey != null) {
                    copiesByFileKey.put(linkedFileKey, copy);
                }
            } catch (IOException | RuntimeException | Error e) {
                if (!(e instanceof NfsException && creation.isCompletedExceptionally())) { // else nothing was made
                    cleanUp(directory, temporary, creation.thenCompose(created -> client.remove(directory.handle(), temporary)));
                }
                throw e;
            }
        }
    }

    private void putSymbolicLink(Path source, RemoteFile directory, String name) throws IOException {
        String target = LocalNames.textOf(Files.readSymbolicLink(source));
        replace(directory, name, made -> client.makeSymbolicLink(new SymbolicLinkArguments(
                new DirectoryOperationArguments(directory.handle(), made), Sattr.NONE, target)));
    }

    private void putHardLink(Path source, PosixFileAttributes attributes, Object fileKey, RemoteFile directory, String name)
            throws IOException {
        RemoteFile first = copiesByFileKey.get(fileKey);
        if (first == null) { // that copy has failed
            putFile(source, attributes, fileKey, directory, name);
            return;
        }
        replace(directory, name, made -> client.link(first.handle(), directory.handle(), made));
    }

    /** Makes a name; what has it already gives way in one step, unless it is a directory. */
    private void replace(RemoteFile directory, String name, Function<String, CompletableFuture<?>> maker) throws IOException {
        String path = RemotePath.child(directory.path(), name);
        try {
            RemoteFiles.call(path, maker.apply(name));
        } catch (NfsException e) {
            if (e.status() != NfsStatus.EXIST) {
                throw e;
            }
            String temporary = TemporaryNames.next();
            try {
                try {
                    RemoteFiles.call(path, maker.apply(temporary));
                } catch (NfsException again) {
                    if (again.status() != NfsStatus.EXIST) {
                        throw again;
                    }
                    // Nobody else has the name: a server that was lost had made it, and the call was made again.
                }
                rename(directory, temporary, name, files.lookup(directory, temporary));
            } finally {
                // Two names of the same file both stay when one is renamed to the other (RFC 1813, section 3.3.14).
                cleanUp(directory, temporary, client.remove(directory.handle(), temporary));
            }
        }
    }

    private void cleanUp(RemoteFile directory, String temporary, CompletableFuture<Void> removal) {
        if (!Await.cleanUp(removal, CLEAN_UP_MILLIS)) {
            listener.left(RemotePath.child(directory.path(), temporary));
        }
    }

    /** If the server is lost after it has renamed the file, the call is made again, and does not find it. */
    private void rename(RemoteFile directory, String name, String newName, RemoteFile file) throws IOException {
        try {
            RemoteFiles.call(RemotePath.child(directory.path(), newName), client.rename(new RenameArguments(
                    new DirectoryOperationArguments(directory.handle(), name),
                    new DirectoryOperationArguments(directory.handle(), newName))));
        } catch (NfsException e) {
            if (e.status() != NfsStatus.NOENT || !files.lookup(directory, newName).handle().equals(file.handle())) {
                throw e;
            }
        }
    }

    private void setAttributes(RemoteFile file, PosixFileAttributes attributes) throws IOException {
        Sattr changes = Sattr.NONE.withMode(PosixMode.of(attributes.permissions()))
                .withTimes(TimeChange.NONE, TimeChange.to(NfsTime.of(attributes.lastModifiedTime())));
        RemoteFiles.call(file.path(), client.setAttributes(new SetAttributesArguments(file.handle(), changes, null)));
    }
}
