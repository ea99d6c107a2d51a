package org.nettyrdma.example.nfs.server;

import org.nettyrdma.example.nfs.protocol.NameText;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** What a client may call a file. */
final class FileNames {

    static final String SELF = ".";
    static final String PARENT = "..";
    /** Longest name in bytes, as on every common Unix file system. */
    static final int MAX_BYTES = 255;
    /** In UTF-8; of two characters that are one code point it is four. */
    private static final int MAX_BYTES_OF_CHARACTER = 3;

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
        AccessControl.require(!isTooLong(name), NfsStatus.NAMETOOLONG);
        return name;
    }

    static boolean isTooLong(String name) {
        return MAX_BYTES_OF_CHARACTER * name.length() > MAX_BYTES && NameText.encode(name).length > MAX_BYTES;
    }

    /** As {@link #requireComponent}, and refuses the two names that every directory has. */
    static String requireOrdinary(String name, NfsStatus whereDot) throws NfsException {
        AccessControl.require(!isDot(name), whereDot);
        return requireComponent(name);
    }
}
