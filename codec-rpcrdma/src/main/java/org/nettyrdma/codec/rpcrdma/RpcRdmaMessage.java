package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.StringUtil;
import java.util.Objects;
import org.nettyrdma.handler.credit.CreditedMessage;

/**
 * One transport message: the header, and the bytes of the RPC message that travel in the same Send. The content is empty
 * unless the header is a {@link RpcRdmaHeader.Msg}, or an {@link RpcRdmaHeader.Extension} that conveys a message; its reader
 * index stands at the XID of the RPC message. A received
 * message's content is the receive buffer itself, its reader index moved over the header, so nothing was copied.
 */
public final class RpcRdmaMessage extends DefaultByteBufHolder implements CreditedMessage {

    private final RpcRdmaHeader header;
    private final Role role;
    /** The receiver's steering tag that the Send invalidates, or -1 for a plain Send; a tag is an unsigned number here. */
    private final long invalidatedTag;

    private RpcRdmaMessage(RpcRdmaHeader header, Role role, ByteBuf body, long invalidatedTag) {
        super(body);
        this.header = header;
        this.role = role;
        this.invalidatedTag = invalidatedTag;
    }

    /**
     * Creates a message that carries a call.
     *
     * @param header its header
     * @param body   the inline part of the RPC message; its reference passes to the new message
     * @return a message in the role of a request
     */
    public static RpcRdmaMessage call(RpcRdmaHeader header, ByteBuf body) {
        return new RpcRdmaMessage(header, Role.REQUEST, body, -1);
    }

    /**
     * Creates a message that carries a reply.
     *
     * @param header its header
     * @param body   the inline part of the RPC message; its reference passes to the new message
     * @return a message in the role of a response
     */
    public static RpcRdmaMessage reply(RpcRdmaHeader header, ByteBuf body) {
        return new RpcRdmaMessage(header, Role.RESPONSE, body, -1);
    }

    /**
     * Creates a message that refuses a call.
     *
     * @param header a {@link RpcRdmaHeader.VersionError}, {@link RpcRdmaHeader.ChunkError} or
     *               {@link RpcRdmaHeader.TransportError}
     * @return a message in the role of a response
     */
    public static RpcRdmaMessage error(RpcRdmaHeader header) {
        return new RpcRdmaMessage(header, Role.RESPONSE, Unpooled.EMPTY_BUFFER, -1);
    }

    /** Creates a message that ends a reply with Read chunks: a notice on the credit of its call. */
    static RpcRdmaMessage done(RpcRdmaHeader.Done header) {
        return new RpcRdmaMessage(header, Role.NOTICE, Unpooled.EMPTY_BUFFER, -1);
    }

    /**
     * Creates a message that tells the peer transport properties.
     *
     * @param header its header
     * @return a message that takes no credit and gives none back
     */
    public static RpcRdmaMessage properties(RpcRdmaHeader.ConnectionProperties header) {
        return new RpcRdmaMessage(header, Role.NEITHER, Unpooled.EMPTY_BUFFER, -1);
    }

    /**
     * Creates a message of an OPTIONAL header type.
     *
     * @param header its header; {@link HeaderFlag#RESPONSE} in its flags says whether a credited one is a request or a response
     * @param body   what follows it, empty unless the type {@linkplain HeaderType#conveysMessage conveys a message}; its
     *               reference passes to the new message
     * @return a message in the role that its type and flags say
     */
    public static RpcRdmaMessage extension(RpcRdmaHeader.Extension<?> header, ByteBuf body) {
        return of(header.type().role(HeaderFlag.RESPONSE.isSet(header)), header, body);
    }

    /** Creates a message in any role. */
    static RpcRdmaMessage of(Role role, RpcRdmaHeader header, ByteBuf body) {
        return new RpcRdmaMessage(header, role, body, -1);
    }

    /**
     * The transport header.
     *
     * @return the header
     */
    public RpcRdmaHeader header() {
        return header;
    }

    @Override
    public int xid() {
        return header.xid();
    }

    @Override
    public Role role() {
        return role;
    }

    /** A reply with Read chunks comes through the codec only where it is going to be answered with RDMA_DONE. */
    @Override
    public boolean keepsCredit() {
        return role == Role.RESPONSE && header instanceof RpcRdmaHeader.WithChunks message
                && !message.chunks().readChunks().isEmpty();
    }

    @Override
    public boolean isAnswer() {
        return role == Role.CONTROL && HeaderFlag.RESPONSE.isSet(header);
    }

    /** Whether this is no call and no reply, and takes no credit. */
    boolean isWithoutCall() {
        return role == Role.NEITHER || role == Role.CONTROL;
    }

    /**
     * The credit word of RDMA2_ERROR must be ignored (version-two-08, section 5.3.3); so is that of every ERR_VERS, as it may be a
     * client's first answer, and more than one message may be sent only behind one that is no error (section 7).
     */
    @Override
    public boolean grantsCredits() {
        return !(header instanceof RpcRdmaHeader.TransportError || header instanceof RpcRdmaHeader.VersionError);
    }

    @Override
    public long credits() {
        return header.credits();
    }

    @Override
    public RpcRdmaMessage withCredits(int credits) {
        if (credits == header.credits()) {
            return this;
        }
        return new RpcRdmaMessage(header.withCredits(credits), role, content(), invalidatedTag);
    }

    /**
     * The same message, to be sent or received by Send with Invalidate. The reference of this message passes to the one
     * returned.
     *
     * @param steeringTag a steering tag of the receiver
     * @return the message to pass on
     */
    RpcRdmaMessage invalidating(int steeringTag) {
        return new RpcRdmaMessage(header, role, content(), steeringTag & 0xFFFF_FFFFL);
    }

    /** Whether the Send invalidates a steering tag of the receiver. */
    boolean isInvalidating() {
        return invalidatedTag >= 0;
    }

    /** The steering tag to invalidate, if {@link #isInvalidating()}. */
    int invalidatedTag() {
        return (int) invalidatedTag;
    }

    @Override
    public RpcRdmaMessage replace(ByteBuf content) {
        return new RpcRdmaMessage(header, role, content, invalidatedTag);
    }

    @Override
    public RpcRdmaMessage copy() {
        return replace(content().copy());
    }

    @Override
    public RpcRdmaMessage duplicate() {
        return replace(content().duplicate());
    }

    @Override
    public RpcRdmaMessage retainedDuplicate() {
        return replace(content().retainedDuplicate());
    }

    @Override
    public RpcRdmaMessage retain() {
        super.retain();
        return this;
    }

    @Override
    public RpcRdmaMessage retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RpcRdmaMessage touch() {
        super.touch();
        return this;
    }

    @Override
    public RpcRdmaMessage touch(Object hint) {
        super.touch(hint);
        return this;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RpcRdmaMessage message && super.equals(other) && header.equals(message.header)
                && role == message.role && invalidatedTag == message.invalidatedTag;
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), header, role, invalidatedTag);
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(this) + '(' + role + ", " + header + ", " + contentToString() + ')';
    }
}
