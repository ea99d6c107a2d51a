package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RemoteInvalidation;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.oncrpc.transport.HeadRoom;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * Turns each received {@link ByteBuf}, which is one whole message, into a {@link RpcRdmaMessage}, and the other way round.
 *
 * <h2>What does not come through</h2>
 * Messages too short to be attributed to a call, RDMA_DONE (but with {@link #obsoleteTypes}), and messages of a direction
 * that this side does not serve are released and counted; in version 1, such a call is refused with ERR_CHUNK. A message that can
 * be attributed but breaks a rule goes up as {@link Malformed}, because it used a receive and a credit like any other.
 *
 * <h2>Versions</h2>
 * Each received message is read in the format that its version word says, each header to be sent is written in the format of
 * its own version. A version that is not spoken makes the message {@link Malformed}.
 *
 * <h2>Direction</h2>
 * In version 2 a flag of the header tells calls from replies. In version 1, calls from server to client, and the replies to
 * them, are RDMA_MSG with three empty lists; only the RPC message's own direction word tells them from the others
 * (RFC 8167, sections 5.1 and 5.2). They get the role that this word says. What cannot be attributed to a direction is
 * taken for the forward one, except that an RDMA_ERROR is always an answer.
 *
 * <h2>Buffers</h2>
 * Inbound, the received buffer becomes the content of the message. Outbound, the header of a body with {@link HeadRoom} is
 * written there. Another short body is copied behind its header, because that costs less than one more piece to gather; a
 * longer one is sent from where it is.
 */
public final class RpcRdmaCodec extends ChannelDuplexHandler {

    private final FormatTable formats;
    private final boolean receivesReplies;
    private final RpcRdmaEncoder encoder;
    private final RpcRdmaDecoder decoder;
    private ChannelHandlerContext ctx;
    /** {@code null} where all messages go through the pipeline. */
    private InlineReceiver inlineReceiver;
    /** What the next message has invalidated, {@code null} if nothing. */
    private RemoteInvalidation invalidation;

    private RpcRdmaCodec(Role inboundRole, boolean reverse, FormatTable formats, ChunkCounters statistics) {
        this.formats = formats;
        receivesReplies = inboundRole == Role.RESPONSE;
        encoder = new RpcRdmaEncoder(formats);
        decoder = new RpcRdmaDecoder(inboundRole, reverse, formats, encoder, statistics);
    }

    /**
     * Creates the codec of a connection on which calls go out.
     *
     * @param statistics where dropped and malformed messages are counted
     * @param reverse    whether calls come in too
     * @return a handler for one channel
     */
    public static RpcRdmaCodec client(FormatTable formats, ChunkCounters statistics, boolean reverse) {
        return new RpcRdmaCodec(Role.RESPONSE, reverse, formats, statistics);
    }

    /**
     * Creates the codec of a connection on which calls come in.
     *
     * @param statistics where dropped and malformed messages are counted
     * @param reverse    whether calls go out too
     * @return a handler for one channel
     */
    public static RpcRdmaCodec server(FormatTable formats, ChunkCounters statistics, boolean reverse) {
        return new RpcRdmaCodec(Role.REQUEST, reverse, formats, statistics);
    }

    /**
     * Lets through what of version 1 is obsolete (RFC 8166, section 4.6): RDMA_DONE at a server, replies with a Read list at a
     * client. Before the codec is in a pipeline.
     *
     * @param padding takes the padding out of RDMA_MSGP
     */
    public RpcRdmaCodec obsoleteTypes(PaddingRemoval padding) {
        decoder.obsoleteTypes(padding);
        return this;
    }

    /**
     * Offers calls, or else replies, without chunks to somebody before they go up the pipeline. Before the codec is in a
     * pipeline.
     *
     * @param receiver takes what comes in the direction that this side of the connection mostly receives
     */
    public void inlineReceiver(InlineReceiver receiver) {
        inlineReceiver = receiver;
    }

    /** The pipeline that this stands in. */
    public ChannelPipeline pipeline() {
        return ctx.pipeline();
    }

    /** The format of a version that is spoken. */
    public HeaderFormat format(RpcRdmaVersion version) {
        return formats.of(version);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        encoder.begin(HeadRoom.ofThread());
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (inlineReceiver != null) {
            inlineReceiver.shut();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof RemoteInvalidation next) {
            invalidation = next; // the message itself will tell it
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (!(msg instanceof ByteBuf received)) {
            context.fireChannelRead(msg);
            return;
        }
        RemoteInvalidation withMessage = invalidation;
        invalidation = null;
        if (withMessage == null && inlineReceiver != null && isTakenInline(received)) {
            return;
        }
        RpcRdmaMessage message = null;
        try {
            message = decoder.decode(context, received);
            if (message != null && withMessage != null) {
                message = message.invalidating(withMessage.steeringTag());
            }
        } catch (RuntimeException | Error e) { // no memory, for instance: the sender would wait in vain, and has lost a credit
            ReferenceCountUtil.release(message);
            context.fireExceptionCaught(e);
            context.close();
            return;
        }
        if (message == null) {
            DemandedRead.restore(context);
        } else {
            context.fireChannelRead(message);
        }
    }

    private boolean isTakenInline(ByteBuf received) {
        HeaderFormat format = inlineReceiver.format();
        if (format == null || !format.isInline(received, receivesReplies)) {
            return false;
        }
        int start = received.readerIndex();
        received.readerIndex(start + format.version().chunkFreeLength());
        long credits = received.getUnsignedInt(start + HeaderLayout.CREDITS_OFFSET);
        if (inlineReceiver.receive(received.getInt(start), credits, received)) {
            return true;
        }
        received.readerIndex(start);
        return false;
    }

    /**
     * Writes a call or a reply without chunks, as {@link #write} does that gets a message.
     *
     * @param format  of {@link #format(RpcRdmaVersion)}
     * @param body    the RPC message; its reference passes to this
     * @param promise fails where there is no memory for the header
     */
    public void writeInline(HeaderFormat format, int xid, int credits, boolean response, ByteBuf body, ChannelPromise promise) {
        ByteBuf send;
        try {
            send = encoder.encodeInline(ctx.alloc(), format, xid, credits, response, body);
        } catch (RuntimeException | Error e) {
            body.release();
            promise.tryFailure(e);
            return;
        }
        ctx.write(send, promise);
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            context.write(msg, promise);
            return;
        }
        Object send = message;
        try {
            ByteBuf encoded = encoder.encode(context.alloc(), message);
            send = encoded;
            if (message.isInvalidating()) {
                send = new RdmaSend(encoded, message.invalidatedTag());
            }
        } catch (RuntimeException | Error e) {
            ReferenceCountUtil.release(send);
            promise.tryFailure(e);
            return;
        }
        context.write(send, promise);
    }
}
