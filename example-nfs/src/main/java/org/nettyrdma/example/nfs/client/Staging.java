package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.nettyrdma.example.nfs.PosixMode;

/**
 * A directory of our own, in which what Java can make by path only is made: directories, symbolic links and further names of
 * files. From there it is moved into open directories. The server knows neither its name nor those in it. One thread.
 */
final class Staging implements AutoCloseable {

    private static final int OWNER_ONLY = 0700;

    private final LocalDirectory base;
    private LocalDirectory directory;

    /** Nothing is created before it is needed; then it is in {@code base}. */
    Staging(LocalDirectory base) {
        this.base = base;
    }

    LocalDirectory directory() throws IOException {
        if (directory == null) {
            Path name = TemporaryNames.next(base.path());
            createDirectory(base.path(name));
            directory = base.openDirectory(name);
        }
        return directory;
    }

    /** Creates a directory that only its owner may use. */
    static void createDirectory(Path path) throws IOException {
        Files.createDirectory(path, PosixMode.attributes(path, OWNER_ONLY));
    }

    /** Makes an empty directory that only its owner may use, moves it into another one and opens it. */
    LocalDirectory makeDirectory(LocalDirectory parent, Path name) throws IOException {
        Path made = make(parent.path(name), Staging::createDirectory);
        LocalDirectory opened = directory.openDirectory(made, parent.path(name));
        try {
            directory.moveTo(parent, made, name);
            return opened;
        } catch (IOException | RuntimeException e) {
            opened.close();
            throw e;
        }
    }

    /** Makes a symbolic link in the place of what has that name. */
    void makeSymbolicLink(LocalDirectory parent, Path name, Path target) throws IOException {
        Path made = make(parent.path(name), path -> Files.createSymbolicLink(path, target));
        directory.moveTo(parent, made, name);
    }

    /** Makes another name here of a file that is here. */
    Path makeLink(Path file, Path wanted) throws IOException {
        return make(wanted, path -> Files.createLink(path, directory.path(file)));
    }

    /** A name here that nothing has. */
    Path newName(Path wanted) throws IOException {
        return make(wanted, path -> { });
    }

    /** Makes something at a path. */
    @FunctionalInterface
    private interface Maker {

        void make(Path path) throws IOException;
    }

    /** Makes something under a name that nothing has; a failure names {@code wanted}, as nobody knows the names here. */
    private Path make(Path wanted, Maker maker) throws IOException {
        try {
            Path name = TemporaryNames.next(directory().path());
            maker.make(directory.path(name));
            return name;
        } catch (IOException e) {
            throw LocalDirectory.failure(wanted, e);
        }
    }

    /** Removes it with what is left in it, as far as that is possible; nothing the second time. */
    void remove() throws IOException {
        if (directory == null) {
            return;
        }
        try (LocalDirectory opened = directory; DirectoryStream<Path> left = Files.newDirectoryStream(opened.path())) {
            for (Path path : left) {
                Files.delete(path); // a directory that was not moved is empty
            }
        }
        Files.delete(directory.path());
        directory = null;
    }

    @Override
    public void close() throws IOException {
        remove();
    }
}
