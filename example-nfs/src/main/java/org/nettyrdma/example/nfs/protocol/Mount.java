package org.nettyrdma.example.nfs.protocol;

/** Numbers and limits of the MOUNT protocol, version 3 (RFC 1813, section 5.1). */
public final class Mount {

    /** The program number. */
    public static final int PROGRAM = 100005;

    /** The version of the program. */
    public static final int VERSION = 3;

    /** Most bytes of a path. */
    public static final int MAX_PATH_BYTES = 1024;

    /** Most bytes of a name. */
    public static final int MAX_NAME_BYTES = 255;

    private Mount() {
    }
}
