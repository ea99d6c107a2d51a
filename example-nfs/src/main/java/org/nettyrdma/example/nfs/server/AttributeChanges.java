package org.nettyrdma.example.nfs.server;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.FileType;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import org.nettyrdma.example.nfs.protocol.Sattr;
import org.nettyrdma.example.nfs.protocol.TimeChange;

/** Changes attributes, for SETATTR and for the procedures that create files. */
final class AttributeChanges {

    private static final int NANOS_PER_SECOND = 1_000_000_000;
    private static final int SET_ID_BITS = AccessControl.SET_USER_ID | AccessControl.SET_GROUP_ID;
    private static final int GROUP_EXECUTE = 010;

    private final FileTree tree;
    private final Export export;
    private final OpenFiles openFiles;

    AttributeChanges(FileTree tree, Export export, OpenFiles openFiles) {
        this.tree = tree;
        this.export = export;
        this.openFiles = openFiles;
    }

    /** Checks everything before anything is changed. */
    void requireAllowed(Credentials caller, FileObject file, Sattr changes) throws NfsException {
        Fattr now = file.attributes();
        if (changes.mode().isPresent()) {
            AccessControl.requireOwner(caller, now);
            // Java opens a file to change its mode, and opening one of these would block or do something.
            AccessControl.require(mayBeOpened(now), NfsStatus.NOTSUPP);
        }
        requireAllowedOwner(caller, now, changes);
        if (changes.size().isPresent()) {
            file.requireRegular();
            requireAllowedSize(changes.size().getAsLong());
            AccessControl.requireWriteData(caller, now);
        }
        requireAllowedTimes(caller, now, changes.accessTime(), changes.modifyTime());
        if (changes.accessTime().isSet() || changes.modifyTime().isSet()) {
            // The same: all but symbolic links are opened. A pipe without a writer would never be, and keep the name lock.
            AccessControl.require(!file.isSpecial(), NfsStatus.NOTSUPP);
        }
    }

    private static boolean mayBeOpened(Fattr file) {
        return file.isDirectory() || file.type() == FileType.REGULAR;
    }

    /** Refuses a size that the file system cannot have, among them those of 2^63 and more, which are negative here. */
    void requireAllowedSize(long size) throws NfsException {
        AccessControl.require(size >= 0 && size <= tree.store().maxFileBytes(), NfsStatus.FBIG);
    }

    /**
     * Only root gives files away, and to nobody who is squashed; an owner may pass a file to another of the own groups. Others
     * are refused also where nothing would change, as POSIX has it for chown.
     */
    private void requireAllowedOwner(Credentials caller, Fattr now, Sattr changes) throws NfsException {
        AccessControl.require(changes.userId().orElse(now.userId()) != Credentials.NO_ID
                && changes.groupId().orElse(now.groupId()) != Credentials.NO_ID, NfsStatus.INVAL);
        boolean newUser = changes.userId().isPresent() && changes.userId().getAsInt() != now.userId();
        boolean newGroup = changes.groupId().isPresent() && changes.groupId().getAsInt() != now.groupId();
        if (changes.userId().isPresent() || changes.groupId().isPresent()) {
            AccessControl.requireOwner(caller, now);
        }
        AccessControl.require(!newUser || caller.isRoot() && Credentials.isUserOf(export, changes.userId().getAsInt()),
                NfsStatus.PERM);
        if (newGroup) {
            int groupId = changes.groupId().getAsInt();
            AccessControl.require((caller.isRoot() || caller.isInGroup(groupId)) && Credentials.isGroupOf(export, groupId),
                    NfsStatus.PERM);
        }
    }

    /** Only the owner sets a time of choice, whatever the other one is to be; who may write sets the server's. */
    private static void requireAllowedTimes(Credentials caller, Fattr now, TimeChange... times) throws NfsException {
        for (TimeChange change : times) {
            if (change.how() == TimeChange.How.SET_TO_CLIENT_TIME) {
                AccessControl.requireOwner(caller, now);
                int nanoseconds = change.time().nanoseconds();
                AccessControl.require(Integer.compareUnsigned(nanoseconds, NANOS_PER_SECOND) < 0, NfsStatus.INVAL);
            }
        }
        if (times[0].isSet() || times[1].isSet()) {
            AccessControl.requireWriteData(caller, now); // which its owner may
        }
    }

    /**
     * Makes changes that {@link #requireAllowed} allowed: the size before the times, which it changes; the mode after the
     * size and the owner, whose changes clear bits of it. Who sets the size of a file that others may know has the lock of its
     * contents alone: what they write behind its end before it is extended would be lost.
     */
    void apply(Credentials caller, FileObject file, Sattr changes) throws IOException {
        if (changes.size().isPresent()) {
            clearSetIdBits(caller, file);
            resize(openFiles.forWriting(file), changes.size().getAsLong());
        }
        changeOwner(caller, file, changes);
        if (changes.mode().isPresent()) {
            tree.store().setMode(file.path(), allowedMode(caller, file.attributes(), changes));
        }
        if (changes.size().isPresent() && changes.modifyTime().how() != TimeChange.How.SET_TO_CLIENT_TIME) {
            touch(file, changes.accessTime());
        } else if (changes.accessTime().isSet() || changes.modifyTime().isSet()) {
            setTimes(file, changes.accessTime(), changes.modifyTime());
        }
        tree.changed(file);
    }

    /** Setting the size counts as writing even where it stays the same. A client may say so, too: Linux does. */
    private void touch(FileObject file, TimeChange accessTime) throws IOException {
        try {
            setTimes(file, accessTime, TimeChange.SERVER_TIME);
        } catch (FileSystemException e) {
            // Who may write to a file need not own it. The size is set, and where it changed the file system has set the time.
            if (accessTime.isSet()) {
                throw e;
            }
        }
    }

    /**
     * The server's time is that of the file system, which stamps every change. It may be some milliseconds behind Java's, by
     * which a file would look newer than one that is written after it.
     */
    private void setTimes(FileObject file, TimeChange accessTime, TimeChange modifyTime) throws IOException {
        AttributeStore store = tree.store();
        FileTime now = FileTime.from(Instant.now());
        store.setTimes(file.path(), timeToSet(accessTime, now), timeToSet(modifyTime, now));
        if (store.keepsChangeTime() && (accessTime.equals(TimeChange.SERVER_TIME) || modifyTime.equals(TimeChange.SERVER_TIME))) {
            FileTime stamped = store.read(file.path()).attributes().changeTime().toFileTime();
            store.setTimes(file.path(), timeToSet(accessTime, stamped), timeToSet(modifyTime, stamped));
        }
    }

    private static FileTime timeToSet(TimeChange change, FileTime now) {
        return switch (change.how()) {
            case DONT_CHANGE -> null;
            case SET_TO_SERVER_TIME -> now;
            case SET_TO_CLIENT_TIME -> change.time().toFileTime();
        };
    }

    /** Also to what they are, which takes the set-id bits off and moves the change time on, as chown(2) does. */
    private void changeOwner(Credentials caller, FileObject file, Sattr changes) throws IOException {
        if (changes.userId().isEmpty() && changes.groupId().isEmpty()) {
            return;
        }
        tree.store().setOwner(file.path(), changes.userId(), changes.groupId());
        if (changes.mode().isEmpty()) {
            clearSetIdBits(caller, file);
        }
    }

    /** Who is not in the group of a file or directory does not get its rights, nor what is made in it. */
    private static int allowedMode(Credentials caller, Fattr now, Sattr changes) {
        int mode = changes.mode().getAsInt() & Fattr.MODE_MASK;
        boolean mayUseGroup = caller.isRoot() || caller.isInGroup(changes.groupId().orElse(now.groupId()));
        return mayUseGroup ? mode : mode & ~AccessControl.SET_GROUP_ID;
    }

    /**
     * Takes the set-id bits off a program that somebody but root changed, as an operating system does. What does not belong to
     * the user of this process it leaves to the system, which does so when this process changes the file next.
     */
    void clearSetIdBits(Credentials caller, FileObject file) throws IOException {
        Fattr now = file.attributes();
        if (caller.isRoot() || now.type() != FileType.REGULAR || (now.mode() & SET_ID_BITS) == 0) {
            return;
        }
        // Without group execute the bit means mandatory locking, and stays.
        int cleared = (now.mode() & GROUP_EXECUTE) == 0 ? AccessControl.SET_USER_ID : SET_ID_BITS;
        if ((now.mode() & cleared) != 0) {
            try {
                tree.store().setMode(file.path(), now.mode() & ~cleared);
            } catch (FileSystemException e) {
                if (NfsErrors.statusOf(e) != NfsStatus.PERM) {
                    throw e;
                }
            }
        }
    }

    /**
     * Opens a file whose size is to change, for {@link #resize}, or returns {@code null} if it is not. A file system that knows
     * no holes, as that in memory, fills them with zeros, and others free the blocks of a file one by one where they are apart:
     * that may take long, and nobody is to wait for the name lock meanwhile. After that, {@link #apply} finds the size set.
     */
    OpenFile openToResize(Credentials caller, FileObject file, Sattr changes) throws IOException {
        long size = file.attributes().size();
        if (changes.size().orElse(size) == size) {
            return null;
        }
        clearSetIdBits(caller, file);
        return openFiles.forWriting(file);
    }

    /** With the lock of the contents alone. */
    static void resize(OpenFile file, long size) throws IOException {
        try (file) {
            setSize(file.channel(), size);
        }
    }

    private static void setSize(FileChannel channel, long size) throws IOException {
        if (size > channel.size()) {
            channel.write(ByteBuffer.allocate(1), size - 1); // RandomAccessFile would follow a link
        } else {
            channel.truncate(size);
        }
    }
}
