package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.WithChunks;

/**
 * A message with a call or a reply. It keeps the fields of its header instead of the header, and changes its credits in place,
 * because nearly all messages are of this kind: one object for each, of 32 bytes, and not two or three.
 */
sealed class ConveyingMessage extends RpcRdmaMessage permits InvalidatingMessage {

    private final ChunkLists chunks;
    private final int xid;
    private int creditWord;
    private final byte version;
    private final byte flags;
    private final boolean noMsg;
    private final boolean response;

    /**
     * @param header a header that, with this role, it {@linkplain #canHold can hold}
     */
    ConveyingMessage(WithChunks header, Role role, ByteBuf body) {
        this(header.version(), header.xid(), (int) header.credits(), header.flags(), header.chunks(),
                header instanceof NoMsg, role, body);
    }

    /** Of fields that it {@linkplain #canHold(int, int, Role) can hold}. */
    ConveyingMessage(int version, int xid, int creditWord, int flags, ChunkLists chunks, boolean noMsg, Role role, ByteBuf body) {
        super(body);
        this.version = (byte) version;
        this.xid = xid;
        this.creditWord = creditWord;
        this.flags = (byte) flags;
        this.chunks = chunks;
        this.noMsg = noMsg;
        this.response = role == Role.RESPONSE;
    }

    /** What another message is, whose reference passes to this one. */
    ConveyingMessage(ConveyingMessage other) {
        this(other.version, other.xid, other.creditWord, other.flags, other.chunks, other.noMsg, other.role(), other.content());
    }

    /** Whether nothing of a header is lost here. */
    static boolean canHold(WithChunks header, Role role) {
        return canHold(header.version(), header.flags(), role);
    }

    /** The versions that there are fit, and the flags that are defined; and calls and replies have one of two roles. */
    static boolean canHold(int version, int flags, Role role) {
        return (byte) version == version && (byte) flags == flags && (role == Role.REQUEST || role == Role.RESPONSE);
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

    /** The flag word of its header. */
    int flags() {
        return flags;
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

    @Override
    RpcRdmaMessage invalidating(int steeringTag) {
        return new InvalidatingMessage(this, steeringTag);
    }

    @Override
    boolean isInvalidating() {
        return false;
    }

    @Override
    int invalidatedTag() {
        return 0;
    }
}
