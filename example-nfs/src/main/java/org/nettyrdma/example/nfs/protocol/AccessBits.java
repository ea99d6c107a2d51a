package org.nettyrdma.example.nfs.protocol;

/** What the caller asks to do and may do in ACCESS (RFC 1813, section 3.3.4); a set of these bits. */
public final class AccessBits {

    /** Read data from a file or list a directory. */
    public static final int READ = 0x01;

    /** Find a name in a directory. */
    public static final int LOOKUP = 0x02;

    /** Rewrite existing data of a file or change existing names of a directory. */
    public static final int MODIFY = 0x04;

    /** Write new data or add names to a directory. */
    public static final int EXTEND = 0x08;

    /** Delete a name from a directory. */
    public static final int DELETE = 0x10;

    /** Execute a file. */
    public static final int EXECUTE = 0x20;

    /** All of them. */
    public static final int ALL = 0x3F;

    private AccessBits() {
    }
}
