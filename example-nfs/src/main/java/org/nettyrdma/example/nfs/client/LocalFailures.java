package org.nettyrdma.example.nfs.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Set;

/** What went wrong with files of this machine, in words and with their names. */
public final class LocalFailures {

    /** Java passes on the text of the C library and nothing else; the last is that of a file system in memory. */
    private static final Set<String> OF_ALL = Set.of("No space left on device", "Disk quota exceeded", "Read-only file system",
            "out of disk space");

    private LocalFailures() {
    }

    /**
     * Says why something with a local file failed.
     *
     * @param failure what Java threw; some of its exceptions carry their reason in their type only
     * @return the reason, without the name of the file
     */
    public static String reason(IOException failure) {
        if (failure instanceof NoSuchFileException missing) {
            return isBehindFile(missing.getFile()) ? "Not a directory" : "no such file or directory";
        }
        if (failure instanceof FileAlreadyExistsException) {
            return "it exists already";
        }
        if (failure instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (failure instanceof NotDirectoryException) {
            return "not a directory";
        }
        if (failure instanceof DirectoryNotEmptyException) {
            return "the directory is not empty";
        }
        if (failure instanceof AtomicMoveNotSupportedException) {
            return "it lies on another file system than the directory that is copied to";
        }
        String text = failure instanceof FileSystemException withReason ? withReason.getReason() : failure.getMessage();
        return text == null ? "the local file system failed" : text;
    }

    /** JDK 25 says of what is behind a file that it is not there, and older ones what the system says. */
    private static boolean isBehindFile(String name) {
        Path way = name == null ? null : Path.of(name).getParent();
        while (way != null && Files.notExists(way)) {
            way = way.getParent();
        }
        return way != null && !Files.isDirectory(way);
    }

    /** Whether other files fail for the same reason. In other languages than English nobody knows. */
    static boolean isOfAll(FileSystemException failure) {
        return failure.getReason() != null && OF_ALL.contains(failure.getReason());
    }

    /** Returns the exception for a failure of a channel, which does not know its name. */
    static IOException named(String name, IOException failure) {
        IOException named;
        if (failure instanceof ClosedByInterruptException || failure instanceof InterruptedIOException) {
            named = new InterruptedIOException(name + ": interrupted");
        } else if (failure instanceof FileSystemException) {
            return failure;
        } else {
            named = new FileSystemException(name, null, reason(failure));
        }
        named.initCause(failure);
        return named;
    }
}
