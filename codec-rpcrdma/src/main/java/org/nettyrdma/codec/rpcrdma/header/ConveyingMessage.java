package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;

/**
 * A message with a call or a reply. Nearly all messages are of this kind. So it keeps the fields of its header instead of the
 * header, and changes its credits in place: one object of 32 bytes for each message, not two or three.
 */
public sealed class ConveyingMessage extends RpcRdmaMessage permits InvalidatingMessage {

    private final ChunkLists chunks;
    private final int xid;
    private int creditWord;
    private final byte version;
    private final byte flags;
    private final boolean noMsg;
    private final boolean response;

    /**
     * @param header a header that, with this role, it {@linkplain #canHold can hold}
     * @param role request or response
     * @param body the inline part of the RPC message; its reference passes to the new message
     */
    public ConveyingMessage(WithChunks header, Role role, ByteBuf body) {
        this(header.version(), header.xid(), header.flags(), header.chunks(), header instanceof NoMsg, role, body);
        creditWord = (int) header.credits();
    }

    /**
     * Of fields that it {@linkplain #canHold(int, int, Role) can hold}. Its credit word is 0 until it is stamped.
     *
     * @param version version word
     * @param xid transaction id
     * @param flags flag word, 0 in version 1
     * @param chunks chunk lists
     * @param noMsg whether the RPC message is in a chunk
     * @param role request or response
     * @param body the inline part of the RPC message; its reference passes to the new message
     */
    public ConveyingMessage(int version, int xid, int flags, ChunkLists chunks, boolean noMsg, Role role, ByteBuf body) {
        super(body);
        this.version = (byte) version;
        this.xid = xid;
        this.flags = (byte) flags;
        this.chunks = chunks;
        this.noMsg = noMsg;
        this.response = role == Role.RESPONSE;
    }

    /**
     * What another message is, whose reference passes to this one.
     *
     * @param other the message
     */
    public ConveyingMessage(ConveyingMessage other) {
        this(other.version, other.xid, other.flags, other.chunks, other.noMsg, other.role(), other.content());
        creditWord = other.creditWord;
    }

    /**
     * Whether this type can keep all values of a header.
     *
     * @param header a header
     * @param role what it is for
     * @return {@code true} if nothing is lost
     */
    public static boolean canHold(WithChunks header, Role role) {
        return canHold(header.version(), header.flags(), role);
    }

    /**
     * The versions that there are fit, and the flags that are defined; and calls and replies have one of two roles.
     *
     * @param version version word
     * @param flags flag word
     * @param role what the message is
     * @return {@code true} if nothing is lost
     */
    public static boolean canHold(int version, int flags, Role role) {
        return (byte) version == version && (byte) flags == flags && (role == Role.REQUEST || role == Role.RESPONSE);
    }

    @Override
    public RpcRdmaHeader header() {
        return noMsg ? new NoMsg(xid, version, credits(), flags, chunks) : new Msg(xid, version, credits(), flags, chunks);
    }

    @Override
    public ChunkLists chunks() {
        return chunks;
    }

    @Override
    public int version() {
        return version;
    }

    /**
     * The flag word of its header.
     *
     * @return the flag word, 0 in version 1
     */
    public int flags() {
        return flags;
    }

    @Override
    public boolean isNoMsg() {
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
    public RpcRdmaMessage invalidating(int steeringTag) {
        return new InvalidatingMessage(this, steeringTag);
    }

    @Override
    public boolean isInvalidating() {
        return false;
    }

    @Override
    public int invalidatedTag() {
        return 0;
    }
}
