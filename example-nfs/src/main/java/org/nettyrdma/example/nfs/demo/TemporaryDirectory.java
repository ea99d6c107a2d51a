package org.nettyrdma.example.nfs.demo;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** A directory that is deleted with all that is in it, also when the process is ended by a signal. */
public final class TemporaryDirectory implements AutoCloseable {

    private final Path path;
    private final Thread deleteAtExit = new Thread(this::deleteQuietly, "delete-temporary-directory");

    private TemporaryDirectory(Path path) {
        this.path = path;
        Runtime.getRuntime().addShutdownHook(deleteAtExit);
    }

    /**
     * Creates a directory where the system keeps temporary files.
     *
     * @return a new directory
     * @throws IOException if it cannot be created
     */
    public static TemporaryDirectory create() throws IOException {
        return new TemporaryDirectory(Files.createTempDirectory("netty-rdma-demo-"));
    }

    /**
     * Returns where the directory is.
     *
     * @return its path
     */
    public Path path() {
        return path;
    }

    @Override
    public void close() throws IOException {
        delete();
        Runtime.getRuntime().removeShutdownHook(deleteAtExit);
    }

    private void deleteQuietly() {
        try {
            delete();
        } catch (IOException e) {
            // The process ends, and what could not be deleted is still being written.
        }
    }

    private void delete() throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        Files.walkFileTree(path, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) throws IOException {
                Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
                return FileVisitResult.CONTINUE;
            }

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
}
