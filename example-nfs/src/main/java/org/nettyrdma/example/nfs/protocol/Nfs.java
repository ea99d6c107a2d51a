package org.nettyrdma.example.nfs.protocol;

/** Numbers and limits of the NFS version 3 protocol (RFC 1813, sections 2.2 to 2.4). */
public final class Nfs {

    /** The program number. */
    public static final int PROGRAM = 100003;

    /** The version of the program. */
    public static final int VERSION = 3;

    /** The usual port over TCP. */
    public static final int TCP_PORT = 2049;

    /** The usual port over RDMA (RFC 8267). */
    public static final int RDMA_PORT = 20049;

    /** Most bytes of a file handle. */
    public static final int MAX_HANDLE_BYTES = 64;

    /** Most bytes of a name or path that are taken; the protocol has no limit, file systems take fewer. */
    public static final int MAX_STRING_BYTES = 4096;

    /** Most bytes of data of one READ or WRITE that are read from the wire. */
    public static final int MAX_DATA_BYTES = 16 * 1024 * 1024;

    private Nfs() {
    }
}
