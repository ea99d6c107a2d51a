package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystem;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** The kinds of file systems that every server test runs on. */
enum TestFileSystem {

    /** In memory. */
    MEMORY {
        @Override
        Path create() {
            FileSystem fileSystem = MemoryFileSystem.create(MAX_BYTES);
            try {
                Path parent = Files.createDirectory(fileSystem.getPath("/outside"));
                return newRoot(parent);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        void delete(Path root) throws IOException {
            root.getFileSystem().close();
        }
    },

    /** A temporary directory of the operating system. */
    DIRECTORY {
        @Override
        Path create() throws IOException {
            return newRoot(Files.createTempDirectory("nfs-test"));
        }

        @Override
        void delete(Path root) throws IOException {
            Files.walkFileTree(root.getParent(), new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                    Files.delete(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                    Files.delete(directory);
                    return FileVisitResult.CONTINUE;
                }
            });
        }
    };

    static final long MAX_BYTES = 64L * 1024 * 1024;

    /** Creates a directory to export, below one that is not exported and may hold what clients must not reach. */
    abstract Path create() throws IOException;

    abstract void delete(Path root) throws IOException;

    private static Path newRoot(Path parent) throws IOException {
        Path root = Files.createDirectory(parent.resolve("export"));
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("rwxrwxrwx"));
        return root.toRealPath();
    }
}
