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
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.WithChunks;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * Turns each received {@link ByteBuf}, which is one whole message, into a {@link RpcRdmaMessage}, and the other way round.
 *
 * <h2>What does not come through</h2>
 * Messages too short to be attributed to a call, RDMA_DONE (but in the {@link LegacyProfile}), and messages of a direction
 * that this side does not serve are released and counted; in version 1, such a call is refused with ERR_CHUNK. A message that can be attributed but breaks a rule goes up as
 * {@link Malformed}, because it used a receive and a credit like any other.
 *
 * <h2>Versions</h2>
 * Each received message is read in the format that its version word says, each header to be sent is written in the format of
 * its own version. A version that is not spoken makes the message {@link Malformed}.
 *
 * <h2>Direction</h2>
 * In version 2 a flag of the header tells calls from replies. In version 1, calls from server to client, and the replies to
 * them, are RDMA_MSG with three empty lists; only the RPC message's own direction word tells them from the others
 * (rfc5666bis-01, sections 8.3.4 and 8.3.5). They get the role that this word says. What cannot be attributed to a direction is
 * taken for the forward one, except that an RDMA_ERROR is always an answer.
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

    /**
     * Where calls go both ways, nothing of a shorter message may be used in version 1, whose RPC message tells the direction
     * (rfc5666bis-01, section 8.3.3). In version 2 the flags do.
     */
    static final int LEAST_LENGTH_WITH_DIRECTION = RpcRdmaLayout.CHUNK_FREE_LENGTH + RPC_PREFIX_BYTES;

    private final Role inboundRole;
    private final boolean reverse;
    private final HeaderFormats formats;
    private final ChunkStatistics statistics;
    /** Takes the padding out of RDMA_MSGP; {@code null} outside the {@link LegacyProfile}. */
    private AlignmentPadding padding;
    /** What the next message has invalidated, {@code null} if nothing. */
    private RemoteInvalidation invalidation;

    private RpcRdmaCodec(Role inboundRole, boolean reverse, HeaderFormats formats, ChunkStatistics statistics) {
        this.inboundRole = inboundRole;
        this.reverse = reverse;
        this.formats = formats;
        this.statistics = statistics;
    }

    /**
     * Creates the codec of a version 1 connection on which calls go out.
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
        return client(HeaderFormats.versionOne(limits), statistics, reverse);
    }

    /**
     * Creates the codec of a connection on which calls go out, in version 1 or 2.
     *
     * @param limits     what is accepted in chunk lists
     * @param statistics where dropped and malformed messages are counted
     * @param extensions what is understood of version 2 beyond the base protocol
     * @return a handler for one channel
     */
    public static RpcRdmaCodec client(RpcRdmaLimits limits, ChunkStatistics statistics, RpcRdmaExtensions extensions) {
        return client(new HeaderFormats(SpokenVersions.BOTH, limits, extensions), statistics, false);
    }

    static RpcRdmaCodec client(HeaderFormats formats, ChunkStatistics statistics, boolean reverse) {
        return new RpcRdmaCodec(Role.RESPONSE, reverse, formats, statistics);
    }

    /**
     * Creates the codec of a version 1 connection on which calls come in.
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
        return server(HeaderFormats.versionOne(limits), statistics, reverse);
    }

    /**
     * Creates the codec of a connection on which calls come in, in version 1 or 2.
     *
     * @param limits     what is accepted in chunk lists
     * @param statistics where dropped and malformed messages are counted
     * @param extensions what is understood of version 2 beyond the base protocol
     * @return a handler for one channel
     */
    public static RpcRdmaCodec server(RpcRdmaLimits limits, ChunkStatistics statistics, RpcRdmaExtensions extensions) {
        return server(new HeaderFormats(SpokenVersions.BOTH, limits, extensions), statistics, false);
    }

    static RpcRdmaCodec server(HeaderFormats formats, ChunkStatistics statistics, boolean reverse) {
        return new RpcRdmaCodec(Role.REQUEST, reverse, formats, statistics);
    }

    /** Lets through what the {@link LegacyProfile} needs. Before the codec is in a pipeline. */
    RpcRdmaCodec legacy(AlignmentPadding newPadding) {
        padding = newPadding;
        return this;
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
        RpcRdmaMessage message = decode(ctx, received);
        if (message != null) {
            ctx.fireChannelRead(withMessage == null ? message : message.invalidating(withMessage.steeringTag()));
        }
    }

    /** Takes over the reference of {@code received}; returns {@code null} if the message is not for anybody. */
    private RpcRdmaMessage decode(ChannelHandlerContext ctx, ByteBuf received) {
        if (received.readableBytes() < RpcRdmaLayout.FIXED_LENGTH) {
            return drop(received, Counter.SHORT_MESSAGES_DROPPED);
        }
        HeaderFormat format = formats.ofReceived(received);
        int start = received.readerIndex();
        int length = received.readableBytes();
        int type = received.getInt(start + RpcRdmaLayout.TYPE_OFFSET);
        if (type == MessageType.RDMA_DONE.code() && format.version() == RpcRdmaVersion.ONE) {
            return padding != null && inboundRole == Role.REQUEST ? decodeDone(format, received)
                    : drop(received, Counter.DONE_MESSAGES_DROPPED);
        }
        Role role = format.roleOf(received, inboundRole);
        if (!isServed(role)) {
            return drop(received, Counter.STRAY_MESSAGES_DROPPED);
        }
        try {
            RpcRdmaHeader header = format.read(received);
            if (header instanceof Msg msg) {
                role = roleOf(msg, received, role);
                if (!isServed(role)) {
                    if (role == Role.REQUEST) {
                        refuseUnserved(ctx, header.xid());
                    }
                    return drop(received, Counter.STRAY_MESSAGES_DROPPED);
                }
                requireSound(msg, received, role);
            }
            requireReadListAllowed(header, role);
            if (formats.hasUnknownFlags(header)) {
                statistics.increment(Counter.UNKNOWN_FLAGS_IGNORED);
            }
            ByteBuf body = isPadded(type, header, role) ? padding.remove(ctx.alloc(), received, start) : received;
            return RpcRdmaMessage.of(role, header, body);
        } catch (RpcRdmaException e) {
            if (reverse && type != MessageType.RDMA_ERROR.code() && length < leastLengthWithDirection(format)) {
                return drop(received, Counter.SHORT_MESSAGES_DROPPED); // to answer a reply could fail a call of the peer
            }
            statistics.increment(Counter.MALFORMED_MESSAGES);
            int version = received.getInt(start + RpcRdmaLayout.VERSION_OFFSET);
            boolean granted = version != VersionTwoLayout.VERSION || type != MessageType.RDMA_ERROR.code();
            Malformed header = new Malformed(received.getInt(start), version,
                    received.getUnsignedInt(start + RpcRdmaLayout.CREDITS_OFFSET), granted, e);
            received.release();
            return RpcRdmaMessage.of(role, header, Unpooled.EMPTY_BUFFER);
        }
    }

    private static int leastLengthWithDirection(HeaderFormat format) {
        return format.version() == RpcRdmaVersion.ONE ? LEAST_LENGTH_WITH_DIRECTION : VersionTwoLayout.PREFIX_LENGTH;
    }

    /**
     * Answers a call of the reverse direction where that is not served, so that its caller need not wait for a time-out; it has
     * a receive for the answer. Below the credit gate, which has no part in it.
     */
    private void refuseUnserved(ChannelHandlerContext ctx, int xid) {
        ctx.writeAndFlush(encode(ctx.alloc(), RpcRdmaMessage.error(new ChunkError(xid, RpcRdmaLayout.VERSION, 1))));
    }

    /** It has no answer, so one that is wrong is dropped. */
    private RpcRdmaMessage decodeDone(HeaderFormat format, ByteBuf received) {
        try {
            Done header = (Done) format.read(received);
            received.release();
            return RpcRdmaMessage.done(header);
        } catch (RpcRdmaException e) {
            return drop(received, Counter.MALFORMED_MESSAGES);
        }
    }

    private boolean isPadded(int type, RpcRdmaHeader header, Role role) {
        return padding != null && type == MessageType.RDMA_MSGP.code() && role == Role.REQUEST
                && header instanceof Msg msg && msg.chunks().readChunks().isEmpty();
    }

    private void requireReadListAllowed(RpcRdmaHeader header, Role role) throws RpcRdmaException {
        boolean legacy = padding != null && header.version() == RpcRdmaLayout.VERSION;
        if (!legacy && role == Role.RESPONSE && header instanceof WithChunks message
                && !message.chunks().readChunks().isEmpty()) {
            throw RpcRdmaException.malformed("reply with a Read list, which only the legacy profile fetches");
        }
    }

    private boolean isServed(Role role) {
        return role == inboundRole || role == Role.NEITHER || role == Role.CONTROL || reverse;
    }

    /** What the RPC message says about its direction; in version 2 the header has said the same. */
    private Role roleOf(Msg header, ByteBuf body, Role role) throws RpcRdmaException {
        if (isMisnamedNoMsg(header, body)) {
            return inboundRole;
        }
        if (body.readableBytes() < RPC_PREFIX_BYTES) {
            throw RpcRdmaException.malformed("RPC message of %d bytes", body.readableBytes());
        }
        int rpcType = body.getInt(body.readerIndex() + Integer.BYTES);
        Role rpcRole = switch (rpcType) {
            case RPC_CALL -> Role.REQUEST;
            case RPC_REPLY -> Role.RESPONSE;
            default -> throw RpcRdmaException.malformed("RPC message type %s (expected: 0..1)",
                    Integer.toUnsignedString(rpcType));
        };
        if (header.version() == VersionTwoLayout.VERSION && rpcRole != role) {
            throw RpcRdmaException.malformed("RPC message type %d in a message that is a %s by its flags", rpcType,
                    role == Role.REQUEST ? "call" : "reply");
        }
        return rpcRole;
    }

    private void requireSound(Msg header, ByteBuf body, Role role) throws RpcRdmaException {
        if (isMisnamedNoMsg(header, body)) {
            return;
        }
        int rpcXid = body.getInt(body.readerIndex());
        if (rpcXid != header.xid()) {
            throw RpcRdmaException.malformed("XID %08x in the header, %08x in the RPC message", header.xid(), rpcXid);
        }
        if (role != inboundRole && !header.chunks().isEmpty() && header.version() == RpcRdmaLayout.VERSION) {
            throw RpcRdmaException.malformed("chunks in a message of the reverse direction");
        }
    }

    /** Whether this is an RDMA_NOMSG of version 1 under the name of RDMA_MSG, which Linux takes too. */
    private boolean isMisnamedNoMsg(Msg header, ByteBuf body) {
        return !body.isReadable() && inboundRole == Role.REQUEST && header.version() == RpcRdmaLayout.VERSION
                && header.chunks().hasPositionZeroChunk();
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

    private static boolean mayHaveBody(RpcRdmaHeader header) {
        return header instanceof Msg || header instanceof Extension<?> extension && extension.type().conveysMessage();
    }

    /** Takes over the reference of {@code message} if it succeeds. */
    private ByteBuf encode(ByteBufAllocator alloc, RpcRdmaMessage message) {
        RpcRdmaHeader header = message.header();
        ByteBuf body = message.content();
        if (body.isReadable() && !mayHaveBody(header)) {
            throw new IllegalArgumentException(header + " with " + body.readableBytes() + " bytes of body");
        }
        HeaderFormat format = formats.ofSent(header);
        int bodyBytes = body.readableBytes();
        boolean copy = bodyBytes <= COPIED_BODY_BYTES;
        ByteBuf send = alloc.directBuffer(format.lengthOf(header) + (copy ? bodyBytes : 0));
        try {
            format.write(header, message.role(), send);
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
