package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.channels.FileChannel;
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
import java.util.function.Supplier;
import org.nettyrdma.example.nfs.protocol.CreateArguments;
import org.nettyrdma.example.nfs.protocol.CreateMode;
import org.nettyrdma.example.nfs.protocol.DirectoryOperationArguments;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.NfsTime;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.SetAttributesArguments;
import org.nettyrdma.example.nfs.protocol.SymbolicLinkArguments;
import org.nettyrdma.example.nfs.protocol.TimeChange;

/** One copy from this machine to the server, see {@link TreeCopy}. */
final class PutTree {

    /** What a file or directory gets while it is being filled. */
    private static final int OWNER_ONLY_FILE = 0600;
    private static final int OWNER_ONLY_DIRECTORY = 0700;

    private final RemoteFiles files;
    private final NfsClient client;
    private final CopyOptions options;
    private final CopyJobs jobs;
    private final Set<Object> seenFileKeys = new HashSet<>();
    private final Map<Object, RemoteFile> copiesByFileKey = new ConcurrentHashMap<>();
    private final List<CopyJobs.Job> hardLinks = new ArrayList<>();
    private final List<CopyJobs.Job> directoryAttributes = new ArrayList<>();

    PutTree(RemoteFiles files, CopyOptions options, CopyJobs jobs) {
        this.files = files;
        this.client = files.client();
        this.options = options;
        this.jobs = jobs;
    }

    void run(Path source, RemoteFile directory, String name) throws IOException {
        put(source, directory, name);
        jobs.finish();
        for (CopyJobs.Job hardLink : hardLinks) {
            hardLink.run();
        }
        for (CopyJobs.Job attributes : directoryAttributes) {
            attributes.run();
        }
    }

    private void put(Path source, RemoteFile directory, String name) throws IOException {
        PosixFileAttributes attributes = Files.readAttributes(source, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (attributes.isSymbolicLink()) {
            putSymbolicLink(source, directory, name);
        } else if (attributes.isDirectory()) {
            putDirectory(source, attributes, directory, name);
        } else if (!attributes.isRegularFile()) {
            options.listener().skipped(source.toString(), "it is neither a file nor a directory nor a symbolic link");
        } else if (attributes.fileKey() == null || seenFileKeys.add(attributes.fileKey())) {
            jobs.start(() -> putFile(source, attributes, directory, name));
        } else {
            hardLinks.add(() -> putHardLink(attributes.fileKey(), directory, name));
        }
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
        try (DirectoryStream<Path> children = Files.newDirectoryStream(source)) {
            for (Path child : children) {
                put(child, directory, child.getFileName().toString());
            }
        }
        RemoteFile filled = directory;
        directoryAttributes.add(() -> setAttributes(filled, attributes));
    }

    private void putFile(Path source, PosixFileAttributes attributes, RemoteFile directory, String name) throws IOException {
        try (FileChannel content = FileChannel.open(source, StandardOpenOption.READ)) {
            Sattr initial = Sattr.NONE.withMode(PosixMode.of(attributes.permissions()) | OWNER_ONLY_FILE).withSize(0);
            CreateArguments create = new CreateArguments(new DirectoryOperationArguments(directory.handle(), name),
                    CreateMode.UNCHECKED, initial, 0);
            RemoteFile copy = files.created(directory, name, replace(directory, name, () -> client.create(create)));
            new Upload(files, content, copy, options).run();
            setAttributes(copy, attributes);
            if (attributes.fileKey() != null) {
                copiesByFileKey.put(attributes.fileKey(), copy);
            }
        }
    }

    private void putSymbolicLink(Path source, RemoteFile directory, String name) throws IOException {
        SymbolicLinkArguments link = new SymbolicLinkArguments(new DirectoryOperationArguments(directory.handle(), name),
                Sattr.NONE, Files.readSymbolicLink(source).toString());
        replace(directory, name, () -> client.makeSymbolicLink(link));
    }

    private void putHardLink(Object fileKey, RemoteFile directory, String name) throws IOException {
        RemoteFile first = copiesByFileKey.get(fileKey);
        replace(directory, name, () -> client.link(first.handle(), directory.handle(), name));
    }

    /** Makes a name; what has it already is removed, unless it is a directory or the call itself takes it over. */
    private <T> T replace(RemoteFile directory, String name, Supplier<CompletableFuture<T>> call) throws IOException {
        String path = RemotePath.child(directory.path(), name);
        try {
            return RemoteFiles.call(path, call.get());
        } catch (NfsException e) {
            if (e.status() != NfsStatus.EXIST) {
                throw e;
            }
            RemoteFiles.call(path, client.remove(directory.handle(), name));
            return RemoteFiles.call(path, call.get());
        }
    }

    private void setAttributes(RemoteFile file, PosixFileAttributes attributes) throws IOException {
        Sattr changes = Sattr.NONE.withMode(PosixMode.of(attributes.permissions()))
                .withTimes(TimeChange.NONE, TimeChange.to(NfsTime.of(attributes.lastModifiedTime())));
        RemoteFiles.call(file.path(), client.setAttributes(new SetAttributesArguments(file.handle(), changes, null)));
    }
}
