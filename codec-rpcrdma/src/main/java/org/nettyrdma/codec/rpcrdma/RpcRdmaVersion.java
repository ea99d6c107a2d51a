package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** A version of the protocol: what planning needs to know of its header format, and the headers that it makes. */
public enum RpcRdmaVersion {
    /** RFC 8166, here by rfc5666bis-01. */
    ONE(RpcRdmaLayout.VERSION, RpcRdmaLayout.CHUNK_FREE_LENGTH),
    /** version-two-08; other revisions of that draft use the same number and other code points, and are not spoken. */
    TWO(VersionTwoLayout.VERSION, VersionTwoLayout.CHUNK_FREE_LENGTH);

    private final int number;
    private final int chunkFreeLength;

    RpcRdmaVersion(int number, int chunkFreeLength) {
        this.number = number;
        this.chunkFreeLength = chunkFreeLength;
    }

    /**
     * What the version word of a header says.
     *
     * @return 1 or 2
     */
    public int number() {
        return number;
    }

    /** The length in bytes of the header of a message without chunks. */
    int chunkFreeLength() {
        return chunkFreeLength;
    }

    /** The length in bytes of the header of a message with these chunks. */
    int headerLength(ChunkLists chunks) {
        return chunkFreeLength + RpcRdmaLayout.chunksLength(chunks);
    }

    /**
     * A message with a call or a reply.
     *
     * @param credits what is likely to be stamped
     * @param body    the inline part, empty if {@code isNoMsg}; its reference passes to the message
     * @param isNoMsg whether the RPC message is in a chunk
     */
    RpcRdmaMessage message(Role role, int xid, int credits, ChunkLists chunks, ByteBuf body, boolean isNoMsg) {
        return new ConveyingMessage(number, xid, credits, 0, chunks, isNoMsg, role, body);
    }

    /** A header for an RPC message that follows; credits and direction are stamped on its way out. */
    Msg msg(int xid, ChunkLists chunks) {
        return new Msg(xid, number, 0, 0, chunks);
    }

}
