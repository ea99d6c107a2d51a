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

    private final FileId id;
    private final FileHandle handle;
    private volatile List<Name> names = List.of();
    /** Set only where the file system does not keep it, see {@link AttributeStore#keepsChangeTime()}. */
    private volatile FileTime changeTime = FileTime.fromMillis(0);

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

    synchronized void nameSeen(Name name, boolean isDirectory) {
        if (isDirectory) {
            names = List.of(name);
        } else if (!names.contains(name)) {
            List<Name> more = new ArrayList<>(names);
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
