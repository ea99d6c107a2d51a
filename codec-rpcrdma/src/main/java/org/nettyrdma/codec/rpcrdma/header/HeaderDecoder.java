package org.nettyrdma.codec.rpcrdma.header;

import static org.nettyrdma.codec.rpcrdma.format.ChunkListReader.requireReadable;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.format.FormatTable;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.codec.rpcrdma.format.SpokenVersions;

/**
 * Reads transport headers outside of a pipeline, for tools that show captured messages. It looks at one message alone. It does
 * not check whether the message fits its connection, its direction and its RPC message; {@link RpcRdmaCodec} does.
 */
public final class HeaderDecoder {

    private HeaderDecoder() {
    }

    /**
     * Reads the header of one message of version 1 or 2, whichever its version word says. An error in the layout of version 1
     * that quotes version 2 is recognised as such. Any thread may call it.
     *
     * @param message    one whole Send, reader index at the XID; the caller keeps the reference. Afterwards its reader index
     *                   stands behind the header, where the RPC message begins if the header is a {@link RpcRdmaHeader.Msg};
     *                   after an exception at or shortly behind the field that the exception names
     * @param limits     what is accepted in chunk lists; nothing is allocated for more than that or for more than
     *                   {@code message} holds
     * @param extensions what is known of version 2 beyond the base protocol
     * @return the header; RDMA_MSGP is a {@link RpcRdmaHeader.Msg} too
     * @throws RpcRdmaException if the header breaks a rule of its version (RFC 8166, section 4; version-two-08, section 5),
     *                          if it exceeds {@code limits}, or if it has another version
     */
    public static RpcRdmaHeader decode(ByteBuf message, RpcRdmaLimits limits, HeaderExtensions extensions)
            throws RpcRdmaException {
        requireReadable(message, HeaderLayout.FIXED_LENGTH, "fixed part of the header");
        return new FormatTable(SpokenVersions.BOTH, limits, extensions).ofReceived(message).read(message);
    }
}
