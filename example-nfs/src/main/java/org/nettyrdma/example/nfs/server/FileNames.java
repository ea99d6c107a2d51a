package org.nettyrdma.example.nfs.server;

import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** What a client may call a file. */
final class FileNames {

    static final String SELF = ".";
    static final String PARENT = "..";
    /** Longest name in bytes, as on every common Unix file system. */
    static final int MAX_BYTES = 255;

    private FileNames() {
    }

    static boolean isDot(String name) {
        return name.equals(SELF) || name.equals(PARENT);
    }

    /**
     * Refuses what is no name of one file in one directory. {@code NFS3ERR_ACCES} is the answer to characters that the
     * server cannot handle (RFC 1813, section 4.6).
     */
    static String requireComponent(String name) throws NfsException {
        AccessControl.require(!name.isEmpty() && name.indexOf('/') < 0 && name.indexOf('\0') < 0, NfsStatus.ACCES);
        AccessControl.require(NameText.encode(name).length <= MAX_BYTES, NfsStatus.NAMETOOLONG);
        return name;
    }

    /** As {@link #requireComponent}, and refuses the two names that every directory has. */
    static String requireOrdinary(String name, NfsStatus whereDot) throws NfsException {
        AccessControl.require(!isDot(name), whereDot);
        return requireComponent(name);
    }
}
