package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** A version of the protocol: the sizes of its headers, and a factory of its messages. */
public enum RpcRdmaVersion {
    /** RFC 8166. */
    ONE(HeaderLayout.VERSION, HeaderLayout.CHUNK_FREE_LENGTH),
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

    /**
     * The length in bytes of the header of a message without chunks.
     *
     * @return the length in bytes
     */
    public int chunkFreeLength() {
        return chunkFreeLength;
    }

    /**
     * The length in bytes of the header of a message with these chunks.
     *
     * @param chunks the chunks of the message
     * @return the length in bytes
     */
    public int headerLength(ChunkLists chunks) {
        return chunkFreeLength + HeaderLayout.chunksLength(chunks);
    }

    /**
     * A message with a call or a reply.
     *
     * @param credits what is likely to be stamped
     * @param body    the inline part, empty if {@code isNoMsg}; its reference passes to the message
     * @param isNoMsg whether the RPC message is in a chunk
     * @param role    request or response
     * @param xid     transaction id
     * @param chunks  chunk lists
     * @return the message
     */
    public RpcRdmaMessage message(Role role, int xid, int credits, ChunkLists chunks, ByteBuf body, boolean isNoMsg) {
        return new ConveyingMessage(number, xid, 0, chunks, isNoMsg, role, body).withCredits(credits);
    }

    /**
     * A header for an RPC message that follows; credits and direction are stamped on its way out.
     *
     * @param xid transaction id
     * @param chunks chunk lists
     * @return the header
     */
    public Msg msg(int xid, ChunkLists chunks) {
        return new Msg(xid, number, 0, 0, chunks);
    }

}
