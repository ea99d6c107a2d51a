package org.nettyrdma.codec.rpcrdma.header;

/** Which calls from server to client one side supports (version-two-08, section 4.2.2). */
public enum ReverseRequestSupport {
    /** RDMA2_RVREQSUP_NONE: neither such calls nor replies to them are received. */
    NONE(0),
    /** RDMA2_RVREQSUP_INLINE: they are received, but only without chunks. */
    INLINE(1),
    /** RDMA2_RVREQSUP_GENL: they are received with all that calls from client to server have. */
    GENERAL(2);

    private final int code;

    ReverseRequestSupport(int code) {
        this.code = code;
    }

    /** The value on the wire. */
    int code() {
        return code;
    }
}
