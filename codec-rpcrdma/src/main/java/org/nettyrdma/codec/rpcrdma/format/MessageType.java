package org.nettyrdma.codec.rpcrdma.format;

/** The type word of a version 1 header, {@code rdma_proc} (RFC 8166, section 4.2.4). */
enum MessageType {
    /** Chunk lists and then an RPC message. */
    RDMA_MSG(0),
    /** Chunk lists only; the RPC message travels in a chunk. */
    RDMA_NOMSG(1),
    /** As RDMA_MSG with an alignment hint before the lists; obsolete, received but never sent. */
    RDMA_MSGP(2),
    /** The Read chunks of a reply have been fetched; obsolete, dropped but with {@link RpcRdmaCodec#obsoleteTypes}. */
    RDMA_DONE(3),
    /** The responder could not parse the call, or not answer it. */
    RDMA_ERROR(4),
    /** A number that stands for no type. */
    UNKNOWN(-1);

    private static final MessageType[] BY_CODE = {RDMA_MSG, RDMA_NOMSG, RDMA_MSGP, RDMA_DONE, RDMA_ERROR};

    private final int code;

    MessageType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }

    static MessageType of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : UNKNOWN;
    }
}
