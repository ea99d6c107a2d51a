package org.nettyrdma.example.nfs.protocol;

/** The procedures of NFS version 3 (RFC 1813, section 3.3). */
public enum NfsProcedure {

    /** Does nothing; shows that the server answers (RFC 1813, section 3.3.0). */
    NULL(0),
    /** Gets the attributes of a file (RFC 1813, section 3.3.1). */
    GETATTR(1),
    /** Changes attributes of a file (RFC 1813, section 3.3.2). */
    SETATTR(2),
    /** Finds a name in a directory (RFC 1813, section 3.3.3). */
    LOOKUP(3),
    /** Asks what the caller may do (RFC 1813, section 3.3.4). */
    ACCESS(4),
    /** Reads a symbolic link (RFC 1813, section 3.3.5). */
    READLINK(5),
    /** Reads from a file (RFC 1813, section 3.3.6). */
    READ(6),
    /** Writes to a file (RFC 1813, section 3.3.7). */
    WRITE(7),
    /** Creates a file (RFC 1813, section 3.3.8). */
    CREATE(8),
    /** Creates a directory (RFC 1813, section 3.3.9). */
    MKDIR(9),
    /** Creates a symbolic link (RFC 1813, section 3.3.10). */
    SYMLINK(10),
    /** Creates a special file (RFC 1813, section 3.3.11). */
    MKNOD(11),
    /** Removes a file (RFC 1813, section 3.3.12). */
    REMOVE(12),
    /** Removes a directory (RFC 1813, section 3.3.13). */
    RMDIR(13),
    /** Renames a file or a directory (RFC 1813, section 3.3.14). */
    RENAME(14),
    /** Gives a file one more name (RFC 1813, section 3.3.15). */
    LINK(15),
    /** Lists a directory (RFC 1813, section 3.3.16). */
    READDIR(16),
    /** Lists a directory with attributes and handles (RFC 1813, section 3.3.17). */
    READDIRPLUS(17),
    /** Tells how full the file system is (RFC 1813, section 3.3.18). */
    FSSTAT(18),
    /** Tells the limits of the server (RFC 1813, section 3.3.19). */
    FSINFO(19),
    /** Tells the limits of names and links (RFC 1813, section 3.3.20). */
    PATHCONF(20),
    /** Makes earlier writes stable (RFC 1813, section 3.3.21). */
    COMMIT(21);

    private static final NfsProcedure[] BY_NUMBER = values();

    private final int number;

    NfsProcedure(int number) {
        this.number = number;
    }

    /**
     * The number in the call header.
     *
     * @return 0 to 21
     */
    public int number() {
        return number;
    }

    /**
     * Finds a procedure.
     *
     * @param number the number in the call header
     * @return the procedure, or {@code null} if there is none of this number
     */
    public static NfsProcedure of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }
}
