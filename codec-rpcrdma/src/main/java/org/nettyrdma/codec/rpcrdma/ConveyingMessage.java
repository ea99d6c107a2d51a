package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.WithChunks;

/**
 * A message with a call or a reply. It keeps the fields of its header instead of the header, and changes its credits in place,
 * because nearly all messages are of this kind: one object for each, and not two or three.
 */
final class ConveyingMessage extends RpcRdmaMessage {

    private final ChunkLists chunks;
    private final int xid;
    private final int flags;
    private final byte version;
    private final boolean noMsg;
    private final boolean response;
    private int creditWord;

    /**
     * @param header a header that, with this role, it {@linkplain #canHold can hold}
     */
    ConveyingMessage(WithChunks header, Role role, ByteBuf body) {
        this((byte) header.version(), header.xid(), (int) header.credits(), header.flags(), header.chunks(),
                header instanceof NoMsg, role, body);
    }

    ConveyingMessage(byte version, int xid, int creditWord, int flags, ChunkLists chunks, boolean noMsg, Role role, ByteBuf body) {
        super(body);
        this.version = version;
        this.xid = xid;
        this.creditWord = creditWord;
        this.flags = flags;
        this.chunks = chunks;
        this.noMsg = noMsg;
        this.response = role == Role.RESPONSE;
    }

    /** Whether nothing of a header is lost here: the versions that there are fit, and calls and replies have one of two roles. */
    static boolean canHold(WithChunks header, Role role) {
        return (byte) header.version() == header.version() && (role == Role.REQUEST || role == Role.RESPONSE);
    }

    @Override
    public RpcRdmaHeader header() {
        return noMsg ? new NoMsg(xid, version, credits(), flags, chunks) : new Msg(xid, version, credits(), flags, chunks);
    }

    @Override
    ChunkLists chunks() {
        return chunks;
    }

    @Override
    int version() {
        return version;
    }

    @Override
    boolean isNoMsg() {
        return noMsg;
    }

    @Override
    public int xid() {
        return xid;
    }

    @Override
    public Role role() {
        return response ? Role.RESPONSE : Role.REQUEST;
    }

    @Override
    public boolean grantsCredits() {
        return true;
    }

    @Override
    public long credits() {
        return Integer.toUnsignedLong(creditWord);
    }

    @Override
    public RpcRdmaMessage withCredits(int credits) {
        creditWord = credits;
        return this;
    }
}
