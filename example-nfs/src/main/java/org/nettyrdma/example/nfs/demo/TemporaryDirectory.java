package org.nettyrdma.example.nfs.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A directory that is deleted with all that is in it, also when the process is ended by a signal. */
public final class TemporaryDirectory implements AutoCloseable {

    private static final Logger LOGGER = LoggerFactory.getLogger(TemporaryDirectory.class);
    private static final int MAX_ATTEMPTS_AT_EXIT = 100;

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
        try {
            Runtime.getRuntime().removeShutdownHook(deleteAtExit);
        } catch (IllegalStateException e) {
            LOGGER.debug("the process is ending, {} is deleted", path, e);
        }
    }

    /** Other threads may still write; they fail once the directory is gone that they write to. */
    private void deleteQuietly() {
        for (int attempt = 0; attempt < MAX_ATTEMPTS_AT_EXIT; attempt++) {
            try {
                delete();
                return;
            } catch (IOException | UncheckedIOException e) {
                LOGGER.debug("cannot delete {} yet", path, e);
            }
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
