package org.nettyrdma.example.nfs.server;

import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.example.nfs.protocol.FileHandle;
import org.nettyrdma.example.nfs.protocol.NfsTime;

/**
 * A file that some client has a handle of, and under which names it was last seen. A directory has one name at most, other
 * files may have several. Thread safe: changes hold the monitor, readers see an immutable list.
 */
final class FileNode {

    /** A name in a directory. */
    record Name(FileNode directory, String name) {
    }

    /** Of a file with more names the others are found by a search. */
    private static final int MAX_NAMES = 16;
    /** What the objects of a file and of a name take, about; the characters of a name come on top. */
    private static final int FILE_BYTES = 320;
    private static final int NAME_BYTES = 80;
    private static final FileTime LONG_AGO = FileTime.fromMillis(0);

    private final FileId id;
    private final FileHandle handle;
    private volatile List<Name> names = List.of();
    private volatile boolean used;
    /** What {@link #count} said last; guarded by the monitor. */
    private long countedBytes;
    /** Set only where the file system does not keep it, see {@link AttributeStore#keepsChangeTime()}. */
    private volatile FileTime changeTime = LONG_AGO;

    FileNode(FileId id, FileHandle handle) {
        this.id = id;
        this.handle = handle;
    }

    FileId id() {
        return id;
    }

    FileHandle handle() {
        return handle;
    }

    List<Name> names() {
        return names;
    }

    /** Somebody has asked for the file, or for one below it. */
    void use() {
        if (!used) {
            used = true;
        }
    }

    /** Whether that was so since this was asked last. */
    boolean wasUsed() {
        boolean was = used;
        used = false;
        return was;
    }

    /** Says by how much more memory the file takes than when it was counted last, in bytes. */
    synchronized long count() {
        long before = countedBytes;
        countedBytes = FILE_BYTES;
        for (Name name : names) {
            countedBytes += NAME_BYTES + 2L * name.name().length();
        }
        return countedBytes - before;
    }

    /** Says how much memory that was. */
    synchronized long uncount() {
        long before = countedBytes;
        countedBytes = 0;
        return before;
    }

    synchronized void nameSeen(Name name, boolean isDirectory) {
        if (isDirectory) {
            names = List.of(name);
        } else if (!names.contains(name)) {
            List<Name> more = new ArrayList<>(names);
            if (more.size() == MAX_NAMES) {
                more.remove(0);
            }
            more.add(name);
            names = List.copyOf(more);
        }
    }

    synchronized void nameGone(Name name) {
        if (names.contains(name)) {
            names = names.stream().filter(other -> !other.equals(name)).toList();
        }
    }

    NfsTime changeTimeNotBefore(NfsTime seen) {
        FileTime known = changeTime;
        return known.compareTo(seen.toFileTime()) > 0 ? NfsTime.of(known) : seen;
    }

    /** Moves the change time on, by at least a nanosecond, so that two changes never look like one. */
    synchronized void changed(NfsTime lastShown) {
        Instant next = changeTimeNotBefore(lastShown).toFileTime().toInstant().plusNanos(1);
        Instant now = Instant.now();
        changeTime = FileTime.from(now.isAfter(next) ? now : next);
    }
}
