package org.nettyrdma.codec.rpcrdma.format;

/**
 * The transport header of RPC-over-RDMA version 2 (version-two-08, sections 3 to 6). Every field is a big-endian 32-bit word;
 * the first four stand where version 1 has them, and the lists are those of {@link HeaderLayout}.
 * <pre>{@code
 *   0      4         8         12     16      20
 *   +------+---------+---------+------+-------+----------------------------------------------------
 *   | XID  | version | credits | type | flags | body
 *   +------+---------+---------+------+-------+----------------------------------------------------
 *
 *   type RDMA2_MSG, RDMA2_NOMSG   handle to invalidate | Read list | Write list | Reply chunk | RPC message (RDMA2_MSG only)
 *   type RDMA2_ERROR              1 | lowest version | highest version     (RDMA2_ERR_VERS)
 *                                 4 | most Read chunks                     (RDMA2_ERR_READ_CHUNKS)
 *                                 5 | most Write chunks                    (RDMA2_ERR_WRITE_CHUNKS)
 *                                 6 | most segments                        (RDMA2_ERR_SEGMENTS)
 *                                 7 | chunk index | length needed          (RDMA2_ERR_WRITE_RESOURCE)
 *                                 8 | length needed                        (RDMA2_ERR_REPLY_RESOURCE)
 *                                 any other code
 *   type RDMA2_CONNPROP           n | n times { property id | length | value, padded to a multiple of 4 }
 * }</pre>
 *
 * <p>The XDR in the draft does not compile; the form that is meant is in {@code rpcrdma-v2.x} beside the classes.
 */
public final class VersionTwoLayout {

    /** The version that this layout is of. */
    public static final int VERSION = 2;

    static final int FLAGS_OFFSET = HeaderLayout.FIXED_LENGTH;
    /** {@code rpcrdma2_hdr_prefix}: what every header has. */
    public static final int PREFIX_LENGTH = FLAGS_OFFSET + Integer.BYTES;
    /** What stands for no handle to invalidate and three absent lists: zeros. */
    static final int NO_CHUNKS_LENGTH = 4 * Integer.BYTES;
    /** A header without chunks. */
    public static final int CHUNK_FREE_LENGTH = PREFIX_LENGTH + NO_CHUNKS_LENGTH;

    /**
     * The shortest message that conveys a call or a reply: RDMA2_NOMSG with a Reply chunk of one segment. RDMA2_MSG has at least
     * the 24 bytes of a reply behind the header.
     */
    public static final int LEAST_CONVEYING_LENGTH = CHUNK_FREE_LENGTH + Integer.BYTES + HeaderLayout.SEGMENT_LENGTH;

    /** {@code RPCRDMA2_F_RESPONSE}: the XID is one that the receiver has made, the credits are a grant. */
    public static final int F_RESPONSE = 1;

    public static final int RDMA2_MSG = 0;
    public static final int RDMA2_NOMSG = 1;
    public static final int RDMA2_ERROR = 4;
    public static final int RDMA2_CONNPROP = 5;

    public static final int ERR_VERS = 1;
    public static final int ERR_BAD_XDR = 2;
    public static final int ERR_INVAL_HTYPE = 3;
    public static final int ERR_READ_CHUNKS = 4;
    public static final int ERR_WRITE_CHUNKS = 5;
    public static final int ERR_SEGMENTS = 6;
    public static final int ERR_WRITE_RESOURCE = 7;
    public static final int ERR_REPLY_RESOURCE = 8;
    public static final int ERR_SYSTEM = 9;

    private VersionTwoLayout() {
    }
}
