package org.nettyrdma.example.nfs.server;

import org.nettyrdma.example.nfs.protocol.AccessBits;
import org.nettyrdma.example.nfs.protocol.Fattr;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** Decides from the mode of a file what a caller may do. Stateless. */
final class AccessControl {

    private static final int READ = 4;
    private static final int WRITE = 2;
    private static final int EXECUTE = 1;
    private static final int ANY_EXECUTE = 0111;
    static final int SET_USER_ID = 04000;
    static final int SET_GROUP_ID = 02000;
    private static final int STICKY = 01000;

    private AccessControl() {
    }

    /** The answer of ACCESS: which of the bits asked for the caller has (RFC 1813, section 3.3.4). */
    static int grantedBits(Credentials caller, Fattr file, int requested, boolean readOnly) {
        int permissions = permissions(caller, file);
        int granted = 0;
        if ((permissions & READ) != 0) {
            granted |= AccessBits.READ;
        }
        if ((permissions & WRITE) != 0 && !readOnly) {
            granted |= AccessBits.MODIFY | AccessBits.EXTEND | (file.isDirectory() ? AccessBits.DELETE : 0);
        }
        if ((permissions & EXECUTE) != 0) {
            granted |= file.isDirectory() ? AccessBits.LOOKUP : AccessBits.EXECUTE;
        }
        return granted & requested;
    }

    /**
     * Reading data. The owner always may, because a client checks the mode when it opens a file and not again after a change
     * of the mode (RFC 1813, section 4.4), and who may execute a file must be able to load it.
     */
    static void requireReadData(Credentials caller, Fattr file) throws NfsException {
        require(mayReadData(caller, file), NfsStatus.ACCES);
    }

    static boolean mayReadData(Credentials caller, Fattr file) {
        return owns(caller, file) || (permissions(caller, file) & (READ | EXECUTE)) != 0;
    }

    /** Writing data; the owner always may, see {@link #requireReadData}. */
    static void requireWriteData(Credentials caller, Fattr file) throws NfsException {
        require(owns(caller, file) || (permissions(caller, file) & WRITE) != 0, NfsStatus.ACCES);
    }

    static void requireList(Credentials caller, Fattr directory) throws NfsException {
        require((permissions(caller, directory) & READ) != 0, NfsStatus.ACCES);
    }

    static void requireSearch(Credentials caller, Fattr directory) throws NfsException {
        require(maySearch(caller, directory), NfsStatus.ACCES);
    }

    static boolean maySearch(Credentials caller, Fattr directory) {
        return (permissions(caller, directory) & EXECUTE) != 0;
    }

    /** Adding names to a directory. */
    static void requireAdd(Credentials caller, Fattr directory) throws NfsException {
        int needed = WRITE | EXECUTE;
        require((permissions(caller, directory) & needed) == needed, NfsStatus.ACCES);
    }

    /** Taking the name of {@code file} out of a directory; in a sticky one only the owner of either may. */
    static void requireRemove(Credentials caller, Fattr directory, Fattr file) throws NfsException {
        requireAdd(caller, directory);
        boolean sticky = (directory.mode() & STICKY) != 0;
        require(!sticky || owns(caller, file) || owns(caller, directory), NfsStatus.ACCES);
    }

    /** Giving a directory another parent, which changes its {@code ..} and looks for nothing in it. */
    static void requireMove(Credentials caller, Fattr directory) throws NfsException {
        require((permissions(caller, directory) & WRITE) != 0, NfsStatus.ACCES);
    }

    static void requireOwner(Credentials caller, Fattr file) throws NfsException {
        require(owns(caller, file), NfsStatus.PERM);
    }

    static boolean owns(Credentials caller, Fattr file) {
        return caller.isRoot() || caller.userId() == file.userId();
    }

    static void require(boolean condition, NfsStatus otherwise) throws NfsException {
        if (!condition) {
            throw new NfsException(otherwise);
        }
    }

    private static int permissions(Credentials caller, Fattr file) {
        if (caller.isRoot()) {
            return file.isDirectory() || (file.mode() & ANY_EXECUTE) != 0 ? READ | WRITE | EXECUTE : READ | WRITE;
        }
        if (caller.userId() == file.userId()) {
            return file.mode() >> 6 & 7;
        }
        return caller.isInGroup(file.groupId()) ? file.mode() >> 3 & 7 : file.mode() & 7;
    }
}
