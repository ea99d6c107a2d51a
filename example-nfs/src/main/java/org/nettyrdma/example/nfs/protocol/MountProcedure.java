package org.nettyrdma.example.nfs.protocol;

/** The procedures of MOUNT version 3 (RFC 1813, section 5.2). */
public enum MountProcedure {

    /** Does nothing; shows that the server answers (RFC 1813, section 5.2.0). */
    NULL(0),
    /** Gets the handle of an exported directory (RFC 1813, section 5.2.1). */
    MNT(1),
    /** Lists who mounted what (RFC 1813, section 5.2.2). */
    DUMP(2),
    /** Takes one entry of the caller from that list (RFC 1813, section 5.2.3). */
    UMNT(3),
    /** Takes all entries of the caller from that list (RFC 1813, section 5.2.4). */
    UMNTALL(4),
    /** Lists what is exported (RFC 1813, section 5.2.5). */
    EXPORT(5);

    private static final MountProcedure[] BY_NUMBER = values();

    private final int number;

    MountProcedure(int number) {
        this.number = number;
    }

    /**
     * The number in the call header.
     *
     * @return 0 to 5
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
    public static MountProcedure of(int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : null;
    }
}
