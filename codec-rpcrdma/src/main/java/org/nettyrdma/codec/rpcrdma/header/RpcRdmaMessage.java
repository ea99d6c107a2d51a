package org.nettyrdma.codec.rpcrdma.header;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.StringUtil;
import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Control;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.WithChunks;
import org.nettyrdma.handler.credit.CreditedMessage;

/**
 * One transport message: the header, and the bytes of the RPC message that travel in the same Send. The content is empty unless
 * the header is a {@link RpcRdmaHeader.Msg}, or an {@link RpcRdmaHeader.Extension} that conveys a message; its reader index
 * stands at the XID of the RPC message. The content of a received message is the receive buffer itself, without a copy; its
 * reader index was moved over the header.
 */
public abstract sealed class RpcRdmaMessage extends DefaultByteBufHolder implements CreditedMessage
        permits ConveyingMessage, OtherMessage {

    RpcRdmaMessage(ByteBuf body) {
        super(body);
    }

    /**
     * Creates a message that carries a call.
     *
     * @param header its header
     * @param body   the inline part of the RPC message; its reference passes to the new message
     * @return a message in the role of a request
     */
    public static RpcRdmaMessage call(RpcRdmaHeader header, ByteBuf body) {
        return of(Role.REQUEST, header, body);
    }

    /**
     * Creates a message that carries a reply.
     *
     * @param header its header
     * @param body   the inline part of the RPC message; its reference passes to the new message
     * @return a message in the role of a response
     */
    public static RpcRdmaMessage reply(RpcRdmaHeader header, ByteBuf body) {
        return of(Role.RESPONSE, header, body);
    }

    /**
     * Creates a message that refuses a call.
     *
     * @param header a {@link RpcRdmaHeader.VersionError}, {@link RpcRdmaHeader.ChunkError} or
     *               {@link RpcRdmaHeader.TransportError}
     * @return a message in the role of a response
     */
    public static RpcRdmaMessage error(RpcRdmaHeader header) {
        return of(Role.RESPONSE, header, Unpooled.EMPTY_BUFFER);
    }

    /**
     * Creates a message that ends a reply with Read chunks: a notice on the credit of its call.
     *
     * @param header its header
     * @return a message in the role of a notice
     */
    public static RpcRdmaMessage done(RpcRdmaHeader.Done header) {
        return of(Role.NOTICE, header, Unpooled.EMPTY_BUFFER);
    }

    /**
     * Creates a message that tells the peer transport properties.
     *
     * @param header its header
     * @return a message that takes no credit and gives none back
     */
    public static RpcRdmaMessage properties(RpcRdmaHeader.ConnectionProperties header) {
        return of(Role.NEITHER, header, Unpooled.EMPTY_BUFFER);
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

    /**
     * Creates a message in any role.
     *
     * @param role what it is to the credits
     * @param header its header
     * @param body the inline part; its reference passes to the new message
     * @return the message
     */
    public static RpcRdmaMessage of(Role role, RpcRdmaHeader header, ByteBuf body) {
        return header instanceof WithChunks conveying && ConveyingMessage.canHold(conveying, role)
                ? new ConveyingMessage(conveying, role, body) : new OtherMessage(header, role, body);
    }

    /**
     * The transport header.
     *
     * @return the header, equal to that of the last call unless the message was {@linkplain #withCredits stamped} meanwhile
     */
    public abstract RpcRdmaHeader header();

    // What the handlers ask of every message, so that they need not ask for its header.

    /**
     * The chunks of the call or reply, {@code null} if the header is not one of {@link RpcRdmaHeader.WithChunks}.
     *
     * @return the chunk lists, or {@code null}
     */
    public abstract ChunkLists chunks();

    /**
     * The version word of the header.
     *
     * @return 1 or 2, or what a peer sent instead
     */
    public abstract int version();

    /**
     * Whether the call or reply is in a chunk: RDMA_NOMSG.
     *
     * @return {@code true} if it is
     */
    public abstract boolean isNoMsg();

    /**
     * Whether the header is one of {@link RpcRdmaHeader.Control}.
     *
     * @return {@code true} if it is
     */
    public boolean isControl() {
        return chunks() == null && header() instanceof Control;
    }

    /** A reply with Read chunks comes through the codec only where it is going to be answered with RDMA_DONE. */
    @Override
    public boolean keepsCredit() {
        return role() == Role.RESPONSE && chunks() != null && !chunks().readChunks().isEmpty();
    }

    @Override
    public boolean isAnswer() {
        return role() == Role.CONTROL && HeaderFlag.RESPONSE.isSet(header());
    }

    /**
     * Whether this is no call and no reply, and takes no credit.
     *
     * @return {@code true} if it belongs to no call
     */
    public boolean isWithoutCall() {
        return role() == Role.NEITHER || role() == Role.CONTROL;
    }

    @Override
    public abstract RpcRdmaMessage withCredits(int credits);

    /**
     * The same message, to be sent or received by Send with Invalidate. The reference of this message passes to the one
     * returned.
     *
     * @param steeringTag a steering tag of the receiver
     * @return the message to pass on
     */
    public abstract RpcRdmaMessage invalidating(int steeringTag);

    /**
     * Whether the Send invalidates a steering tag of the receiver.
     *
     * @return {@code true} if it does
     */
    public abstract boolean isInvalidating();

    /**
     * The steering tag to invalidate, if {@link #isInvalidating()}; otherwise 0.
     *
     * @return a steering tag of the receiver, or 0
     */
    public abstract int invalidatedTag();

    @Override
    public RpcRdmaMessage replace(ByteBuf content) {
        return with(header(), content);
    }

    /** A message in the same role, by the same kind of Send. */
    RpcRdmaMessage with(RpcRdmaHeader header, ByteBuf content) {
        RpcRdmaMessage message = of(role(), header, content);
        return isInvalidating() ? message.invalidating(invalidatedTag()) : message;
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
        return other instanceof RpcRdmaMessage message && super.equals(other) && header().equals(message.header())
                && role() == message.role() && isInvalidating() == message.isInvalidating()
                && invalidatedTag() == message.invalidatedTag();
    }

    @Override
    public int hashCode() {
        return Objects.hash(super.hashCode(), header(), role(), isInvalidating(), invalidatedTag());
    }

    @Override
    public String toString() {
        return StringUtil.simpleClassName(RpcRdmaMessage.class) + '(' + role() + ", " + header() + ", " + contentToString() + ')';
    }
}
