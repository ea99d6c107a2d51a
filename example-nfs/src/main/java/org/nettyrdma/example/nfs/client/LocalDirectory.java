package org.nettyrdma.example.nfs.client;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.HashSet;
import java.util.Set;
import org.nettyrdma.example.nfs.LocalNames;
import org.nettyrdma.example.nfs.PosixMode;
import org.nettyrdma.example.nfs.protocol.Fattr;

/**
 * A directory of this machine that is held open. What is done in it is done by one name relative to what is open, and follows
 * no symbolic link: whoever chooses the names cannot choose where they lead, and what is put into the place of the directory
 * meanwhile does not count. Any thread.
 */
final class LocalDirectory implements Closeable {

    private static final int OWNER_ONLY = 0600;
    private static final Set<OpenOption> NEW_FILE =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    private final Path path;
    private final SecureDirectoryStream<Path> stream;
    /** File keys of what was put here, or opened here. */
    private final Set<Object> placed = new HashSet<>();

    private LocalDirectory(Path path, SecureDirectoryStream<Path> stream) {
        this.path = path;
        this.stream = stream;
    }

    /** Opens a directory by a path of the user's, in which links are followed. */
    static LocalDirectory open(Path path) throws IOException {
        return of(path, Files.newDirectoryStream(path));
    }

    private static LocalDirectory of(Path path, DirectoryStream<Path> stream) throws IOException {
        if (stream instanceof SecureDirectoryStream<Path> secure) {
            return new LocalDirectory(path, secure);
        }
        stream.close();
        throw new FileSystemException(path.toString(), null, "this system cannot work relative to an open directory");
    }

    Path path() {
        return path;
    }

    /** Returns the path of a name, for messages. */
    Path path(Path name) {
        return path.resolve(name);
    }

    /** With all bytes, which the path itself does not show. */
    private String textOf(Path name) {
        return LocalNames.textOf(path(name));
    }

    /**
     * Opens a directory in this one.
     *
     * @return {@code null} if there is nothing of that name
     * @throws IOException if something else has that name, or the same directory was opened or put here by another name
     */
    synchronized LocalDirectory openDirectory(Path name) throws IOException {
        BasicFileAttributes attributes = attributes(name);
        if (attributes == null) {
            return null;
        }
        requireNew(name, attributes);
        if (!attributes.isDirectory()) {
            throw new FileSystemException(textOf(name), null, attributes.isSymbolicLink()
                    ? "it is a symbolic link here, which a copy does not follow" : "it exists here, and is no directory");
        }
        LocalDirectory opened = openDirectory(name, path(name));
        placed.add(attributes.fileKey());
        return opened;
    }

    /** Opens a directory in this one that is called something else from now on. */
    LocalDirectory openDirectory(Path name, Path newPath) throws IOException {
        try {
            return of(newPath, stream.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            throw failure(newPath, e);
        }
    }

    /**
     * Creates a file that nobody else may read or change yet; fails if anything has that name.
     *
     * @param wanted what a failure names, because it is what the file is going to be called
     */
    FileChannel newFile(Path name, Path wanted) throws IOException {
        try {
            return (FileChannel) stream.newByteChannel(name, NEW_FILE, PosixMode.attributes(path, OWNER_ONLY));
        } catch (IOException e) {
            throw failure(wanted, e);
        }
    }

    /** Sets mode and time of change of a file in this directory that is not a symbolic link; a failure names {@code wanted}. */
    void setAttributes(Path name, Fattr attributes, Path wanted) throws IOException {
        set(stream.getFileAttributeView(name, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS), attributes, wanted);
    }

    /** Sets mode and time of change of this directory. */
    void setAttributes(Fattr attributes) throws IOException {
        set(stream.getFileAttributeView(PosixFileAttributeView.class), attributes, path);
    }

    private static void set(PosixFileAttributeView view, Fattr attributes, Path of) throws IOException {
        try {
            // The mode may forbid what the time needs.
            view.setTimes(attributes.modifyTime().toFileTime(), null, null);
            view.setPermissions(PosixMode.toPermissions(attributes.mode()));
        } catch (IOException e) {
            throw failure(of, e);
        }
    }

    /**
     * Moves what has one name here to a name in another directory, in the place of what has that name there, unless that is
     * neither a file nor a symbolic link. Nobody sees anything between the old and the new.
     *
     * @throws IOException if what is there was put there by the same copy, under a name that the file system takes for the same
     */
    void moveTo(LocalDirectory target, Path name, Path targetName) throws IOException {
        synchronized (target) {
            BasicFileAttributes there = target.attributes(targetName);
            if (there != null) {
                target.requireNew(targetName, there);
                if (there.isDirectory() || there.isOther()) {
                    throw new FileSystemException(target.textOf(targetName), null,
                            "it is a " + (there.isDirectory() ? "directory" : "device, pipe or socket") + " here, and stays one");
                }
            }
            BasicFileAttributes moved = attributes(name);
            try {
                try {
                    stream.move(name, target.stream, targetName);
                } catch (FileAlreadyExistsException e) { // file systems in memory do not replace
                    target.stream.deleteFile(targetName);
                    stream.move(name, target.stream, targetName);
                }
            } catch (IOException e) {
                throw failure(target.path(targetName), e);
            }
            target.placed.add(moved == null ? null : moved.fileKey());
        }
    }

    /** Names that a file system does not tell apart, for example by case, would become one file. */
    private void requireNew(Path name, BasicFileAttributes there) throws FileSystemException {
        if (there.fileKey() != null && placed.contains(there.fileKey())) {
            throw new FileSystemException(textOf(name), null,
                    "this copy made it already, from a name that is the same to the file system here");
        }
    }

    /** Returns {@code null} if there is nothing of that name; of a symbolic link its own. */
    private BasicFileAttributes attributes(Path name) throws IOException {
        try {
            return stream.getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS).readAttributes();
        } catch (NoSuchFileException e) {
            return null;
        } catch (IOException e) {
            throw failure(path(name), e);
        }
    }

    /** Deletes what is not a directory, if it is there. */
    void delete(Path name) throws IOException {
        try {
            stream.deleteFile(name);
        } catch (NoSuchFileException e) {
            // As wanted.
        }
    }

    /** What relative calls throw names no directory. */
    static IOException failure(Path of, IOException cause) {
        FileSystemException named = new FileSystemException(LocalNames.textOf(of), null, LocalFailures.reason(cause));
        named.initCause(cause);
        return named;
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
