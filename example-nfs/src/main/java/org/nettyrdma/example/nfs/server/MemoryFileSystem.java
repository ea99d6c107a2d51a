package org.nettyrdma.example.nfs.server;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Creates file systems in memory that behave like a Unix file system. */
public final class MemoryFileSystem {

    private static final int BLOCK_BYTES = 64 * 1024;

    private MemoryFileSystem() {
    }

    /**
     * Creates an empty file system whose root directory everybody may write to.
     *
     * @param maxBytes most bytes of file content that it takes; beyond that writing fails as on a full disk
     * @return a new file system, which the caller closes
     */
    public static FileSystem create(long maxBytes) {
        FileSystem fileSystem = Jimfs.newFileSystem(Configuration.unix().toBuilder()
                .setAttributeViews("basic", "owner", "posix", "unix")
                .setWorkingDirectory("/")
                .setBlockSize(BLOCK_BYTES)
                .setMaxSize(maxBytes)
                .build());
        try {
            Path root = fileSystem.getPath("/");
            Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxrwxrwx"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return fileSystem;
    }
}
