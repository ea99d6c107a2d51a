package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * One copy from the server to this machine, see {@link TreeCopy}. The server chooses the names, and what is made of them, but
 * not where they lead: each name is made relative to the directory that the copy holds open, see {@link LocalDirectory}.
 */
final class GetTree {

    private static final int MAX_LINKED_FILES = 1 << 20;

    private final RemoteFiles files;
    private final CopyOptions options;
    private final CopyListener listener;
    private final CopyJobs jobs;
    private final ListingBudget budget = new ListingBudget();
    private final Map<FileIdentity, Path> linkedFiles = new HashMap<>();
    private final Set<LocalDirectory> opened = ConcurrentHashMap.newKeySet();
    private Staging staging;

    /** What the names of one file have in common. */
    private record FileIdentity(long fileSystemId, long fileId) {
    }

    GetTree(RemoteFiles files, CopyOptions options, CopyJobs jobs) {
        this.files = files;
        this.options = options;
        listener = options.listener();
        this.jobs = jobs;
    }

    void run(RemoteFile source, Path target) throws IOException {
        boolean directory = source.attributes().isDirectory();
        LocalDirectory base = directory ? openOrMake(target) : LocalDirectory.open(parent(target));
        CopiedDirectory top = new CopiedDirectory(base,
                directory && !options.keepsTargetAttributes() ? source.attributes() : null, opened);
        try (Staging unfinished = new Staging(base)) {
            staging = unfinished;
            if (directory) {
                listener.attempt(() -> getChildren(source, top, 1));
            } else {
                get(source, top, target.getFileName(), 1);
            }
            jobs.finish();
            unfinished.remove();
            listener.attempt(top::release);
        } finally {
            // What runs uses them; without a failure nothing runs, and they are closed.
            jobs.close();
            for (LocalDirectory left : opened) {
                left.close();
            }
        }
    }

    private static LocalDirectory openOrMake(Path target) throws IOException {
        try {
            Staging.createDirectory(target);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
        return LocalDirectory.open(target);
    }

    private static Path parent(Path target) {
        return target.getParent() != null ? target.getParent() : target.getFileSystem().getPath("");
    }

    private void get(RemoteFile source, CopiedDirectory parent, Path name, int depth) throws IOException {
        switch (source.attributes().type()) {
            case REGULAR -> getFile(source, parent, name);
            case DIRECTORY -> getDirectory(source, parent, name, depth);
            case SYMBOLIC_LINK -> getSymbolicLink(source, parent, name);
            case BLOCK_DEVICE, CHARACTER_DEVICE, SOCKET, FIFO ->
                    listener.skipped(source.path(), "it is neither a file nor a directory nor a symbolic link");
        }
    }

    private void getFile(RemoteFile source, CopiedDirectory parent, Path name) throws IOException {
        if (Integer.compareUnsigned(source.attributes().linkCount(), 1) > 0) {
            getLinkedFile(source, parent, name);
            return;
        }
        parent.retain();
        jobs.start(() -> {
            listener.attempt(() -> getFile(source, parent.local(), name));
            listener.attempt(parent::release);
        });
    }

    private void getFile(RemoteFile source, LocalDirectory directory, Path name) throws IOException {
        Path made = TemporaryNames.next(directory.path());
        try {
            download(source, directory, made, directory.path(name));
            directory.moveTo(directory, made, name);
        } catch (IOException | RuntimeException | Error e) {
            try {
                directory.delete(made);
            } catch (IOException cleanUp) { // on a read-only file system it fails also where there is nothing
                e.addSuppressed(cleanUp);
            }
            throw e;
        }
    }

    /** Files with several names are copied before the walk goes on, so that the next name finds the first one. */
    private void getLinkedFile(RemoteFile source, CopiedDirectory parent, Path name) throws IOException {
        Path wanted = parent.local().path(name);
        Path file = linkedFiles.get(identityOf(source));
        if (file == null) {
            if (linkedFiles.size() == MAX_LINKED_FILES) {
                throw new IOException(source.path() + ": more than " + MAX_LINKED_FILES + " files with several names");
            }
            file = staging.newName(wanted);
            linkedFiles.put(identityOf(download(source, staging.directory(), file, wanted)), file);
        }
        staging.directory().moveTo(parent.local(), staging.makeLink(file, wanted), name);
    }

    private static FileIdentity identityOf(RemoteFile file) {
        return new FileIdentity(file.attributes().fileSystemId(), file.attributes().fileId());
    }

    /** Returns the file that it has copied: {@code source}, or the one in its place. */
    private RemoteFile download(RemoteFile source, LocalDirectory directory, Path made, Path wanted) throws IOException {
        try {
            downloadFound(source, directory, made, wanted);
            return source;
        } catch (NfsException e) {
            RemoteFile replacement = replacement(source, e);
            directory.delete(made);
            downloadFound(replacement, directory, made, wanted);
            return replacement;
        }
    }

    /**
     * Finds what has taken the place of a file since its directory was listed: programs replace files by renaming others to
     * them, and whole directories are listed before the first of their files is copied.
     *
     * @throws NfsException {@code failure}, unless it says that the file is gone, and another one of its type has its name
     */
    private RemoteFile replacement(RemoteFile source, NfsException failure) throws IOException {
        RemoteFile now = failure.status() == NfsStatus.STALE ? files.find(source.path()) : null;
        if (now == null || now.attributes().type() != source.attributes().type()) {
            throw failure;
        }
        return now;
    }

    private void downloadFound(RemoteFile source, LocalDirectory directory, Path made, Path wanted) throws IOException {
        Fattr attributes;
        try (FileChannel content = directory.newFile(made, wanted)) {
            Download download = new Download(files, source, content, LocalNames.textOf(wanted), options);
            download.run();
            attributes = download.attributes();
        }
        directory.setAttributes(made, attributes, wanted);
    }

    private void getSymbolicLink(RemoteFile source, CopiedDirectory parent, Path name) throws IOException {
        String target = readLink(source);
        try {
            staging.makeSymbolicLink(parent.local(), name, LocalNames.path(name, target));
        } catch (InvalidPathException e) {
            listener.skipped(source.path(), "this machine takes no link to " + target + ": " + e.getReason());
        }
    }

    private String readLink(RemoteFile source) throws IOException {
        try {
            return files.readLink(source);
        } catch (NfsException e) {
            return files.readLink(replacement(source, e));
        }
    }

    private void getDirectory(RemoteFile source, CopiedDirectory parent, Path name, int depth) throws IOException {
        LocalDirectory existing = parent.local().openDirectory(name);
        LocalDirectory local = existing != null ? existing : staging.makeDirectory(parent.local(), name);
        CopiedDirectory directory = new CopiedDirectory(local, source.attributes(), opened);
        listener.attempt(() -> getChildren(source, directory, depth + 1));
        listener.attempt(directory::release);
    }

    private void getChildren(RemoteFile source, CopiedDirectory directory, int depth) throws IOException {
        RemoteFiles.checkDepth(source, depth);
        long held = budget.usedBytes();
        try {
            for (RemoteFile child : files.list(source, budget, listener)) {
                listener.attempt(() -> getChild(child, directory, depth));
            }
        } finally {
            budget.giveBackTo(held);
        }
    }

    private void getChild(RemoteFile child, CopiedDirectory directory, int depth) throws IOException {
        Path name;
        try {
            name = LocalNames.path(directory.local().path(), child.name());
        } catch (InvalidPathException e) {
            listener.skipped(child.path(), "this machine cannot have its name: " + e.getReason());
            return;
        }
        get(child, directory, name, depth);
    }
}
