package org.nettyrdma.codec.rpcrdma;

/**
 * The transport header of RPC-over-RDMA version 2 (version-two-08, sections 3 to 6). Every field is a big-endian 32-bit word;
 * the first four stand where version 1 has them, and the lists are those of {@link RpcRdmaLayout}.
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
final class VersionTwoLayout {

    /** The version that this layout is of. */
    static final int VERSION = 2;

    static final int FLAGS_OFFSET = RpcRdmaLayout.FIXED_LENGTH;
    /** {@code rpcrdma2_hdr_prefix}: what every header has. */
    static final int PREFIX_LENGTH = FLAGS_OFFSET + Integer.BYTES;
    /** What stands for no handle to invalidate and three absent lists: zeros. */
    static final int NO_CHUNKS_LENGTH = 4 * Integer.BYTES;
    /** A header without chunks. */
    static final int CHUNK_FREE_LENGTH = PREFIX_LENGTH + NO_CHUNKS_LENGTH;

    /** {@code RPCRDMA2_F_RESPONSE}: the XID is one that the receiver has made, the credits are a grant. */
    static final int F_RESPONSE = 1;

    static final int RDMA2_MSG = 0;
    static final int RDMA2_NOMSG = 1;
    static final int RDMA2_ERROR = 4;
    static final int RDMA2_CONNPROP = 5;

    static final int ERR_VERS = 1;
    static final int ERR_BAD_XDR = 2;
    static final int ERR_INVAL_HTYPE = 3;
    static final int ERR_READ_CHUNKS = 4;
    static final int ERR_WRITE_CHUNKS = 5;
    static final int ERR_SEGMENTS = 6;
    static final int ERR_WRITE_RESOURCE = 7;
    static final int ERR_REPLY_RESOURCE = 8;
    static final int ERR_SYSTEM = 9;

    private VersionTwoLayout() {
    }
}
