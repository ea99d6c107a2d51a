package org.nettyrdma.codec.rpcrdma;

import static org.nettyrdma.codec.rpcrdma.ChunkListReader.requireReadable;

import io.netty.buffer.ByteBuf;

/**
 * Reads transport headers outside of a pipeline, for tools that show what others have sent. It looks at one message alone:
 * whether a message fits to its connection, its direction and its RPC message is for {@link RpcRdmaCodec} to judge.
 */
public final class RpcRdmaHeaders {

    private RpcRdmaHeaders() {
    }

    /**
     * Reads the header of one message of version 1 or 2, whichever its version word says. An error in the layout of version 1
     * that quotes version 2 is recognised as such. Any thread may call it.
     *
     * @param message    one whole Send, reader index at the XID; it stays the caller's. Afterwards its reader index stands behind
     *                   the header, where the RPC message begins if the header is a {@link RpcRdmaHeader.Msg}; after an exception
     *                   at or shortly behind the field that the exception names
     * @param limits     what is accepted in chunk lists; nothing is allocated for more than that or for more than
     *                   {@code message} holds
     * @param extensions what is known of version 2 beyond the base protocol
     * @return the header; RDMA_MSGP is a {@link RpcRdmaHeader.Msg} too
     * @throws RpcRdmaException if the header breaks a rule of its version (rfc5666bis-01, section 5; version-two-08, section 5),
     *                          if it exceeds {@code limits}, or if it has another version
     */
    public static RpcRdmaHeader decode(ByteBuf message, RpcRdmaLimits limits, RpcRdmaExtensions extensions)
            throws RpcRdmaException {
        requireReadable(message, RpcRdmaLayout.FIXED_LENGTH, "fixed part of the header");
        return new HeaderFormats(SpokenVersions.BOTH, limits, extensions).ofReceived(message).read(message);
    }
}
