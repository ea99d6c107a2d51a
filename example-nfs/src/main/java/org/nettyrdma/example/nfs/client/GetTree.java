package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.nettyrdma.example.nfs.protocol.Fattr;

/** One copy from the server to this machine, see {@link TreeCopy}. */
final class GetTree {

    /** Nobody else reads or changes a copy before it has its own mode. */
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_FILE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY_DIRECTORY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    /** A local path is opened only if it is no symbolic link: the server chooses the names, not where they lead. */
    private static final Set<OpenOption> WRITE = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE,
            StandardOpenOption.TRUNCATE_EXISTING, LinkOption.NOFOLLOW_LINKS);

    private final RemoteFiles files;
    private final CopyOptions options;
    private final CopyJobs jobs;
    private final Map<Long, Path> firstNamesByFileId = new HashMap<>();
    private final List<CopyJobs.Job> hardLinks = new ArrayList<>();
    private final List<CopyJobs.Job> directoryAttributes = new ArrayList<>();

    /** Makes a name; {@link #replace} runs it again when something else had that name. */
    @FunctionalInterface
    private interface NameMaker {

        void make() throws IOException;
    }

    GetTree(RemoteFiles files, CopyOptions options, CopyJobs jobs) {
        this.files = files;
        this.options = options;
        this.jobs = jobs;
    }

    void run(RemoteFile source, Path target) throws IOException {
        get(source, target);
        jobs.finish();
        for (CopyJobs.Job hardLink : hardLinks) {
            hardLink.run();
        }
        for (CopyJobs.Job attributes : directoryAttributes) {
            attributes.run();
        }
    }

    private void get(RemoteFile source, Path target) throws IOException {
        switch (source.attributes().type()) {
            case REGULAR -> getFileOrHardLink(source, target);
            case DIRECTORY -> getDirectory(source, target);
            case SYMBOLIC_LINK -> {
                Path linkTarget = target.getFileSystem().getPath(files.readLink(source));
                replace(target, () -> Files.createSymbolicLink(target, linkTarget));
            }
            case BLOCK_DEVICE, CHARACTER_DEVICE, SOCKET, FIFO ->
                    options.listener().skipped(source.path(), "it is neither a file nor a directory nor a symbolic link");
        }
    }

    private void getFileOrHardLink(RemoteFile source, Path target) throws IOException {
        Path first = source.attributes().linkCount() > 1
                ? firstNamesByFileId.putIfAbsent(source.attributes().fileId(), target) : null;
        if (first == null) {
            jobs.start(() -> getFile(source, target));
        } else {
            hardLinks.add(() -> replace(target, () -> Files.createLink(target, first)));
        }
    }

    private void getFile(RemoteFile source, Path target) throws IOException {
        if (Files.isSymbolicLink(target)) {
            Files.delete(target);
        }
        try (FileChannel content = FileChannel.open(target, WRITE, OWNER_ONLY_FILE)) {
            new Download(files, source, content, options).run();
        }
        setAttributes(target, source.attributes());
    }

    private void getDirectory(RemoteFile source, Path target) throws IOException {
        try {
            Files.createDirectory(target, OWNER_ONLY_DIRECTORY);
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(target, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
        for (RemoteFile child : files.list(source)) {
            get(child, target.resolve(child.name()));
        }
        directoryAttributes.add(() -> setAttributes(target, source.attributes()));
    }

    /** Makes a name; what has it already is deleted, unless it is a directory with something in it. */
    private static void replace(Path target, NameMaker maker) throws IOException {
        try {
            maker.make();
        } catch (FileAlreadyExistsException e) {
            Files.delete(target);
            maker.make();
        }
    }

    private static void setAttributes(Path target, Fattr attributes) throws IOException {
        Files.setPosixFilePermissions(target, PosixMode.toPermissions(attributes.mode()));
        Files.setLastModifiedTime(target, attributes.modifyTime().toFileTime());
    }
}
