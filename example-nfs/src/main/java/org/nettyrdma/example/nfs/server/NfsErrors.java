package org.nettyrdma.example.nfs.server;

import static java.util.Map.entry;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.NotLinkException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.Map;
import java.util.Set;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** Turns what a file system throws into the status that the client is told. The only place that does. */
final class NfsErrors {

    /**
     * What the C library calls the errors for which Java has no exception type; the JDK passes the text on and nothing
     * else. A text that is not here, for example in another language, becomes NFS3ERR_IO.
     */
    private static final Map<String, NfsStatus> BY_REASON = Map.ofEntries(
            entry("No space left on device", NfsStatus.NOSPC),
            entry("out of disk space", NfsStatus.NOSPC), // Jimfs
            entry("Disk quota exceeded", NfsStatus.DQUOT),
            entry("File too large", NfsStatus.FBIG),
            entry("Read-only file system", NfsStatus.ROFS),
            entry("File name too long", NfsStatus.NAMETOOLONG),
            entry("Not a directory", NfsStatus.NOTDIR),
            entry("Is a directory", NfsStatus.ISDIR),
            entry("Directory not empty", NfsStatus.NOTEMPTY),
            entry("Invalid cross-device link", NfsStatus.XDEV),
            entry("Operation not permitted", NfsStatus.PERM),
            entry("Permission denied", NfsStatus.ACCES),
            entry("Invalid argument", NfsStatus.INVAL),
            entry("Too many links", NfsStatus.MLINK),
            entry("Stale file handle", NfsStatus.STALE),
            entry("No such device or address", NfsStatus.NXIO),
            entry("No such device", NfsStatus.NODEV),
            entry("Device or resource busy", NfsStatus.ACCES), // something is mounted there; as the Linux server has it
            entry("Cannot allocate memory", NfsStatus.JUKEBOX), // passes, and says nothing about the file
            entry("Operation not supported", NfsStatus.NOTSUPP));

    /** Of this process, and of all processes. */
    private static final Set<String> NO_DESCRIPTOR_LEFT = Set.of("Too many open files", "Too many open files in system");

    private NfsErrors() {
    }

    static NfsStatus statusOf(Exception failure) {
        if (failure instanceof NfsException known) {
            return known.status();
        }
        if (failure instanceof UnknownFileException) {
            return NfsStatus.JUKEBOX;
        }
        if (failure instanceof RuntimeException && failure.getCause() instanceof IOException wrapped) {
            return statusOf(wrapped); // as directory streams do
        }
        if (isOutOfDescriptors(failure)) {
            return NfsStatus.JUKEBOX;
        }
        if (failure instanceof FileSystemException withReason && withReason.getReason() != null) {
            return ofText(withReason.getReason(), ofType(failure));
        }
        return failure.getMessage() == null ? ofType(failure) : ofText(failure.getMessage(), ofType(failure));
    }

    /** Whether a file could not be opened because too many are open, which says nothing about that file. */
    static boolean isOutOfDescriptors(Exception failure) {
        return failure instanceof FileSystemException withReason && withReason.getReason() != null
                && NO_DESCRIPTOR_LEFT.contains(withReason.getReason());
    }

    private static NfsStatus ofText(String text, NfsStatus otherwise) {
        return BY_REASON.getOrDefault(text, otherwise);
    }

    private static NfsStatus ofType(Exception failure) {
        if (failure instanceof NoSuchFileException || failure instanceof FileNotFoundException) {
            return NfsStatus.NOENT;
        }
        if (failure instanceof FileAlreadyExistsException) {
            return NfsStatus.EXIST;
        }
        if (failure instanceof DirectoryNotEmptyException) {
            return NfsStatus.NOTEMPTY;
        }
        if (failure instanceof NotDirectoryException) {
            return NfsStatus.NOTDIR;
        }
        if (failure instanceof AccessDeniedException || failure instanceof InvalidPathException) {
            return NfsStatus.ACCES; // RFC 1813, section 4.6, for names that the server cannot handle
        }
        if (failure instanceof NotLinkException || failure instanceof FileSystemLoopException) {
            return NfsStatus.INVAL;
        }
        if (failure instanceof AtomicMoveNotSupportedException) {
            return NfsStatus.XDEV;
        }
        if (failure instanceof ReadOnlyFileSystemException) {
            return NfsStatus.ROFS;
        }
        if (failure instanceof UnsupportedOperationException) {
            return NfsStatus.NOTSUPP;
        }
        if (failure instanceof ClosedChannelException) {
            // Another thread was interrupted while it used the channel. The next call opens the file again.
            return NfsStatus.JUKEBOX;
        }
        return failure instanceof IOException ? NfsStatus.IO : NfsStatus.SERVERFAULT;
    }
}
