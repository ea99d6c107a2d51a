package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * How much memory the names of a file system may take that keeps them there and does not count them: each with its file, but
 * without what is in it. The name lock guards it.
 */
final class NameQuota {

    /** A name, its entry, and a file or directory with its attributes. */
    static final long NAME_BYTES = 2048;
    /** Each name on the way to the target of a symbolic link is an object of its own. */
    static final long TARGET_NAME_BYTES = 128;

    /** Java does not tell how many files fit; any large number keeps clients from thinking that none does. */
    private static final long UNKNOWN = Integer.MAX_VALUE;

    private final long maxBytes;
    private volatile long bytes; // read by FSSTAT without the lock

    NameQuota(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Fails if there is no room for a name that takes so much. */
    void requireRoom(long nameBytes) throws NfsException {
        AccessControl.require(nameBytes <= maxBytes - bytes, NfsStatus.NOSPC);
    }

    /** How many more there can be, of {@link #most}. */
    long free() {
        return Math.min((maxBytes - bytes) / NAME_BYTES, most());
    }

    long most() {
        return Math.min(maxBytes / NAME_BYTES, UNKNOWN);
    }

    /** A name was made for which there is room. */
    void add(long nameBytes) {
        bytes += nameBytes;
    }

    /** A name is gone; it may be one that was there before this began to count. */
    void remove(long nameBytes) {
        bytes = Math.max(0, bytes - nameBytes);
    }

    /** What a symbolic link takes. */
    static long bytesOfLink(Path target) {
        return NAME_BYTES + TARGET_NAME_BYTES * target.getNameCount();
    }

    /** What a name takes that is to be removed. */
    long bytesOf(FileObject file) throws IOException {
        boolean isCounted = maxBytes < Long.MAX_VALUE;
        return isCounted && file.attributes().type() == FileType.SYMBOLIC_LINK
                ? bytesOfLink(Files.readSymbolicLink(file.path())) : NAME_BYTES;
    }
}
