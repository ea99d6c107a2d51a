package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import org.nettyrdma.example.nfs.PosixMode;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** What outlives the server: the key of the file handles. */
final class StateDirectory {

    private static final String KEY_FILE = "handle.key";

    private StateDirectory() {
    }

    /** Reads the key, and makes one at the first start. */
    static byte[] key(Path directory, Path exportRoot) throws IOException {
        try {
            return keyIn(directory, exportRoot);
        } catch (FileSystemException e) { // names a file that nobody has asked for, where the directory is the usual one
            throw new IOException("the state directory " + directory + " cannot be used", e);
        }
    }

    private static byte[] keyIn(Path directory, Path exportRoot) throws IOException {
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectories(directory.toAbsolutePath().getParent());
                Files.createDirectory(directory, PosixMode.attributes(directory, 0700));
            }
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory)) { // which another server may just have made
                throw new NotDirectoryException(e.getFile());
            }
        }
        if (isInside(directory.toRealPath(), exportRoot)) {
            throw new IOException("the state directory " + directory + " is inside of the export " + exportRoot
                    + ": clients could read the key of the file handles");
        }
        Path file = directory.resolve(KEY_FILE);
        if (!Files.exists(file)) {
            // Written aside and named then, so that a crash leaves no key that is too short.
            Path aside = Files.createTempFile(directory, KEY_FILE, null, PosixMode.attributes(directory, 0600));
            try {
                Files.write(aside, newKey(), StandardOpenOption.WRITE, StandardOpenOption.SYNC);
                giveName(aside, file);
            } finally {
                Files.deleteIfExists(aside); // where there was no room for it, each attempt would leave another one
            }
        }
        force(directory); // also where the key is there: it may be of a server that was killed before it forced the name
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) {
            force(parent); // where it may just have been made
        }
        byte[] key = Files.readAllBytes(file);
        if (key.length != FileHandles.KEY_BYTES) {
            throw new IOException(file + " has " + key.length + " bytes (expected: " + FileHandles.KEY_BYTES
                    + "); without it a new key is made, and clients must mount again");
        }
        return key;
    }

    /** A move would replace the key of another server that starts at the same time. */
    private static void giveName(Path aside, Path file) throws IOException {
        try {
            Files.createLink(file, aside);
        } catch (FileAlreadyExistsException e) {
            // both use that one
        } catch (FileSystemException | UnsupportedOperationException e) { // no links there
            Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Has the names in a directory outlive a loss of power, as far as the file system can, and this process may open it. */
    private static void force(Path directory) throws IOException {
        if (directory.getFileSystem() != FileSystems.getDefault()) {
            return; // elsewhere Java opens no directories
        }
        try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
            names.force(true);
        } catch (IOException e) {
            NfsStatus status = NfsErrors.statusOf(e);
            if (status != NfsStatus.ACCES && status != NfsStatus.PERM && !OpenFiles.cannotForce(e)) {
                throw e;
            }
        }
    }

    static byte[] newKey() {
        byte[] key = new byte[FileHandles.KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return key;
    }

    private static boolean isInside(Path directory, Path exportRoot) {
        return directory.getFileSystem() == exportRoot.getFileSystem() && directory.startsWith(exportRoot);
    }
}
