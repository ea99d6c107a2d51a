package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RemoteInvalidation;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * Turns each received {@link ByteBuf}, which is one whole message, into a {@link RpcRdmaMessage}, and the other way round.
 *
 * <h2>What does not come through</h2>
 * Messages too short to be attributed to a call, RDMA_DONE, and messages of a direction that this side does not serve are
 * released and counted. A message that can be attributed but breaks a rule goes up as {@link Malformed}, because it used a
 * receive and a credit like any other.
 *
 * <h2>Direction</h2>
 * Calls from server to client, and the replies to them, are RDMA_MSG with three empty lists; only the RPC message's own
 * direction word tells them from the others (rfc5666bis-01, sections 8.3.4 and 8.3.5). They get the role that this word says.
 * What cannot be attributed to a direction is taken for the forward one, except that an RDMA_ERROR is always an answer.
 *
 * <h2>Buffers</h2>
 * Inbound, the received buffer becomes the content of the message. Outbound, a short body is copied behind its header,
 * because that costs less than one more piece to gather; a longer one is sent from where it is.
 */
public final class RpcRdmaCodec extends ChannelDuplexHandler {

    /** Bodies up to this length are copied behind their header. */
    private static final int COPIED_BODY_BYTES = 1024;

    private static final int RPC_CALL = 0;
    private static final int RPC_REPLY = 1;
    /** XID and message type: the least that an RPC message has. */
    private static final int RPC_PREFIX_BYTES = 8;
    /** Where calls go both ways, nothing of a shorter message may be used (rfc5666bis-01, section 8.3.3). */
    private static final int LEAST_LENGTH_WITH_DIRECTION = RpcRdmaLayout.CHUNK_FREE_LENGTH + RPC_PREFIX_BYTES;

    private final Role inboundRole;
    private final boolean reverse;
    private final RpcRdmaHeaderReader reader;
    private final ChunkStatistics statistics;
    /** What the next message has invalidated, {@code null} if nothing. */
    private RemoteInvalidation invalidation;

    private RpcRdmaCodec(Role inboundRole, boolean reverse, RpcRdmaLimits limits, ChunkStatistics statistics) {
        this.inboundRole = inboundRole;
        this.reverse = reverse;
        this.reader = new RpcRdmaHeaderReader(limits);
        this.statistics = statistics;
    }

    /**
     * Creates the codec of a connection on which calls go out.
     *
     * @param limits     what is accepted in chunk lists
     * @param statistics where dropped and malformed messages are counted
     * @return a handler for one channel
     */
    public static RpcRdmaCodec client(RpcRdmaLimits limits, ChunkStatistics statistics) {
        return client(limits, statistics, false);
    }

    /** Like {@link #client(RpcRdmaLimits, ChunkStatistics)}, where {@code reverse} says whether calls come in too. */
    static RpcRdmaCodec client(RpcRdmaLimits limits, ChunkStatistics statistics, boolean reverse) {
        return new RpcRdmaCodec(Role.RESPONSE, reverse, limits, statistics);
    }

    /**
     * Creates the codec of a connection on which calls come in.
     *
     * @param limits     what is accepted in chunk lists
     * @param statistics where dropped and malformed messages are counted
     * @return a handler for one channel
     */
    public static RpcRdmaCodec server(RpcRdmaLimits limits, ChunkStatistics statistics) {
        return server(limits, statistics, false);
    }

    /** Like {@link #server(RpcRdmaLimits, ChunkStatistics)}, where {@code reverse} says whether calls go out too. */
    static RpcRdmaCodec server(RpcRdmaLimits limits, ChunkStatistics statistics, boolean reverse) {
        return new RpcRdmaCodec(Role.REQUEST, reverse, limits, statistics);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof RemoteInvalidation next) {
            invalidation = next; // the message itself will tell it
        } else {
            ctx.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (!(msg instanceof ByteBuf received)) {
            ctx.fireChannelRead(msg);
            return;
        }
        RemoteInvalidation withMessage = invalidation;
        invalidation = null;
        RpcRdmaMessage message = decode(received);
        if (message != null) {
            ctx.fireChannelRead(withMessage == null ? message : message.invalidating(withMessage.steeringTag()));
        }
    }

    /** Takes over the reference of {@code received}; returns {@code null} if the message is not for anybody. */
    private RpcRdmaMessage decode(ByteBuf received) {
        if (received.readableBytes() < RpcRdmaLayout.FIXED_LENGTH) {
            return drop(received, Counter.SHORT_MESSAGES_DROPPED);
        }
        int start = received.readerIndex();
        int length = received.readableBytes();
        int type = received.getInt(start + RpcRdmaLayout.TYPE_OFFSET);
        if (type == MessageType.RDMA_DONE.code()) {
            return drop(received, Counter.DONE_MESSAGES_DROPPED);
        }
        // An error is an answer, whatever it says and however wrong it is; to answer it could go on for ever.
        Role role = type == MessageType.RDMA_ERROR.code() ? Role.RESPONSE : inboundRole;
        if (!isServed(role)) {
            return drop(received, Counter.STRAY_MESSAGES_DROPPED);
        }
        try {
            RpcRdmaHeader header = reader.read(received);
            if (header instanceof Msg msg) {
                role = roleOf(msg, received);
                if (!isServed(role)) {
                    return drop(received, Counter.STRAY_MESSAGES_DROPPED);
                }
                requireSound(msg, received, role);
            }
            return message(role, header, received);
        } catch (RpcRdmaException e) {
            if (reverse && type != MessageType.RDMA_ERROR.code() && length < LEAST_LENGTH_WITH_DIRECTION) {
                return drop(received, Counter.SHORT_MESSAGES_DROPPED); // to answer a reply could fail a call of the peer
            }
            statistics.increment(Counter.MALFORMED_MESSAGES);
            Malformed header = new Malformed(received.getInt(start), received.getInt(start + RpcRdmaLayout.VERSION_OFFSET),
                    received.getUnsignedInt(start + RpcRdmaLayout.CREDITS_OFFSET), e);
            received.release();
            return message(role, header, Unpooled.EMPTY_BUFFER);
        }
    }

    private boolean isServed(Role role) {
        return role == inboundRole || reverse;
    }

    /** What the RPC message says about its direction. */
    private Role roleOf(Msg header, ByteBuf body) throws RpcRdmaException {
        if (isMisnamedNoMsg(header, body)) {
            return inboundRole;
        }
        if (body.readableBytes() < RPC_PREFIX_BYTES) {
            throw RpcRdmaException.malformed("RPC message of %d bytes", body.readableBytes());
        }
        int rpcType = body.getInt(body.readerIndex() + Integer.BYTES);
        return switch (rpcType) {
            case RPC_CALL -> Role.REQUEST;
            case RPC_REPLY -> Role.RESPONSE;
            default -> throw RpcRdmaException.malformed("RPC message type %s (expected: 0..1)",
                    Integer.toUnsignedString(rpcType));
        };
    }

    private void requireSound(Msg header, ByteBuf body, Role role) throws RpcRdmaException {
        if (isMisnamedNoMsg(header, body)) {
            return;
        }
        int rpcXid = body.getInt(body.readerIndex());
        if (rpcXid != header.xid()) {
            throw RpcRdmaException.malformed("XID %08x in the header, %08x in the RPC message", header.xid(), rpcXid);
        }
        if (role != inboundRole && !header.chunks().isEmpty()) {
            throw RpcRdmaException.malformed("chunks in a message of the reverse direction");
        }
    }

    /** Whether this is an RDMA_NOMSG under the name of RDMA_MSG, which Linux takes too. */
    private boolean isMisnamedNoMsg(Msg header, ByteBuf body) {
        return !body.isReadable() && inboundRole == Role.REQUEST && header.chunks().hasPositionZeroChunk();
    }

    private static RpcRdmaMessage message(Role role, RpcRdmaHeader header, ByteBuf body) {
        return role == Role.REQUEST ? RpcRdmaMessage.call(header, body) : RpcRdmaMessage.reply(header, body);
    }

    private RpcRdmaMessage drop(ByteBuf received, Counter counter) {
        received.release();
        statistics.increment(counter);
        return null;
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            ctx.write(msg, promise);
            return;
        }
        ByteBuf send;
        try {
            send = encode(ctx.alloc(), message);
        } catch (RuntimeException | Error e) {
            ReferenceCountUtil.release(message);
            promise.tryFailure(e);
            return;
        }
        ctx.write(message.isInvalidating() ? new RdmaSend(send, message.invalidatedTag()) : send, promise);
    }

    /** Takes over the reference of {@code message} if it succeeds. */
    private static ByteBuf encode(ByteBufAllocator alloc, RpcRdmaMessage message) {
        RpcRdmaHeader header = message.header();
        ByteBuf body = message.content();
        if (header instanceof NoMsg && body.isReadable()) {
            throw new IllegalArgumentException("RDMA_NOMSG with " + body.readableBytes() + " bytes of body");
        }
        int bodyBytes = body.readableBytes();
        boolean copy = bodyBytes <= COPIED_BODY_BYTES;
        ByteBuf send = alloc.directBuffer(RpcRdmaHeaderWriter.lengthOf(header) + (copy ? bodyBytes : 0));
        try {
            RpcRdmaHeaderWriter.write(header, send);
            if (copy) {
                send.writeBytes(body, body.readerIndex(), bodyBytes);
            }
        } catch (RuntimeException | Error e) {
            send.release();
            throw e;
        }
        if (copy) {
            message.release();
            return send;
        }
        CompositeByteBuf gathered = alloc.compositeDirectBuffer(Integer.MAX_VALUE);
        return gathered.addComponent(true, send).addFlattenedComponents(true, body);
    }
}
