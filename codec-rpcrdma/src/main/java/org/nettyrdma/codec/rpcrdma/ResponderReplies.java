package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.util.List;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the replies of one responder by the chunks that each call offered, and the errors of those that cannot be conveyed.
 * Event loop only.
 */
final class ResponderReplies {

    private static final Logger LOGGER = LoggerFactory.getLogger(ResponderReplies.class);

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final RpcRdmaConnection connection;
    private final boolean reverse;
    /** {@code null} outside the legacy profile. */
    private final LegacyReplies legacyReplies;
    private final CallArrivals arrivals;

    /**
     * @param reverse       whether the calls come from the server
     * @param legacyReplies serves replies with Read chunks, {@code null} outside the {@link LegacyProfile}
     * @param arrivals      where the memory of the calls came from, and goes back to
     */
    ResponderReplies(ChannelHandlerContext ctx, RpcRdmaLimits limits, UpperLayerBindings bindings, ChunkStatistics statistics,
                     RpcRdmaConnection connection, boolean reverse, LegacyReplies legacyReplies, CallArrivals arrivals) {
        this.ctx = ctx;
        this.limits = limits;
        this.bindings = bindings;
        this.statistics = statistics;
        this.connection = connection;
        this.reverse = reverse;
        this.legacyReplies = legacyReplies;
        this.arrivals = arrivals;
    }

    /**
     * Answers a call.
     *
     * @param msg     {@code reply}, or the {@link RpcMessage} that it is the content of
     * @param reply   the whole reply; its reference passes to this
     * @param promise tells whether it was written
     */
    void write(ResponderCall call, Object msg, ByteBuf reply, ChannelPromise promise) {
        ChannelPromise written = releasing(call.chunks(), promise);
        List<DataItem> items;
        try {
            items = call.chunks().writeChunks().isEmpty() ? List.of() : itemsOf(msg, reply, call);
        } catch (RuntimeException e) { // of the binding
            replace(call, reply, e, written);
            return;
        }
        place(call, msg, reply, items, written);
    }

    /** The call breaks a rule of its binding: the equivalent of bad XDR is the answer (rfc5666bis-01, section 6.3). */
    void writeGarbageArguments(ResponderCall call) {
        ByteBuf reply = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES);
        new RpcReplyHeader.Accepted(call.xid(), AcceptStatus.GARBAGE_ARGS).write(reply);
        place(call, reply, reply, List.of(), releasing(call.chunks(), ctx.newPromise()));
        ctx.flush();
    }

    /** The memory of a call is free when its reply is written, which the device may be reading until then. */
    private ChannelPromise releasing(ChunkLists chunks, ChannelPromise promise) {
        long bytes = arrivals.bytesOf(chunks);
        return bytes > 0 ? promise.unvoid().addListener(done -> arrivals.release(bytes)) : promise;
    }

    private List<DataItem> itemsOf(Object msg, ByteBuf reply, ResponderCall call) {
        return msg instanceof RpcMessage message ? message.dataItems() : call.itemsOf(reply, bindings);
    }

    private void place(ResponderCall call, Object msg, ByteBuf reply, List<DataItem> items, ChannelPromise written) {
        ReplyPlacement placement;
        try {
            if (reply.readableBytes() > limits.maxMessageBytes()) {
                throw RpcRdmaException.tooLarge("reply of %d bytes (limit: %d)", reply.readableBytes(),
                        limits.maxMessageBytes());
            }
            placement = ReplyPlacement.of(reply, items, call.chunks(), connection.terms().threshold());
        } catch (RpcRdmaException | RuntimeException e) {
            answerWithoutPlacement(call, msg, reply, e, written);
            return;
        }
        send(call, placement, written);
    }

    private void send(ResponderCall call, ReplyPlacement placement, ChannelPromise promise) {
        long placedBytes = placement.placedBytes();
        // In order and without waiting: the requester cannot see the Send before what was written ahead of it is in its
        // memory (rfc5666bis-01, section 3.2.2). A failed Write ends the connection, and thereby fails the Send.
        long[] writtenBytes = new long[1];
        ByteBuf body = placement.body(ctx.alloc(), write -> {
            writtenBytes[0] += write.content().readableBytes();
            ctx.write(write);
        });
        RpcRdmaMessage reply = RpcRdmaMessage.reply(placement.header(call.xid(), limits.credits()), body);
        if (!call.chunks().isEmpty()) {
            reply = invalidating(reply, call);
        }
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        statistics.increment(placement.isLong() ? Counter.LONG_REPLIES
                : placedBytes > 0 ? Counter.REPLIES_WITH_WRITE_CHUNK : Counter.REPLIES_INLINE);
        if (writtenBytes[0] > 0) {
            statistics.add(Counter.WRITE_CHUNK_BYTES, placedBytes);
            statistics.add(Counter.REPLY_CHUNK_BYTES, writtenBytes[0] - placedBytes);
        }
        ctx.write(reply, promise);
    }

    private RpcRdmaMessage invalidating(RpcRdmaMessage reply, ResponderCall call) {
        long handle = InvalidationPolicy.ofResponder(connection.terms()).handleToWithdraw(call);
        if (handle < 0) {
            statistics.increment(Counter.REPLIES_WITHOUT_INVALIDATION);
            return reply;
        }
        statistics.increment(Counter.REMOTE_INVALIDATIONS);
        return reply.invalidating((int) handle);
    }

    /** Refuses a reply that does not fit, or lets the requester fetch it if both the legacy profile and its call allow that. */
    private void answerWithoutPlacement(ResponderCall call, Object msg, ByteBuf reply, Exception cause,
                                        ChannelPromise promise) {
        Exception refusal = cause;
        boolean legacy = legacyReplies != null && connection.terms().version() == RpcRdmaVersion.ONE;
        if (legacy && cause instanceof RpcRdmaException && call.chunks().writeChunks().isEmpty()) {
            try {
                ctx.write(legacyReplies.expose(reply, itemsOf(msg, reply, call), connection.terms().threshold()), promise);
                return;
            } catch (IOException | RuntimeException e) {
                refusal = e;
            }
        }
        replace(call, reply, refusal, promise);
    }

    /** Answers with an error, since the reply cannot be conveyed. */
    private void replace(ResponderCall call, ByteBuf reply, Exception cause, ChannelPromise promise) {
        reply.release();
        refuse(connection.terms().version().msg(call.xid(), call.chunks()), cause, RpcReplyReplacedException.fail(promise, cause));
    }

    /**
     * Answers with RDMA_ERROR, never by Send with Invalidate; what the call exposed is the requester's to withdraw.
     *
     * @param call its header
     */
    void refuse(RpcRdmaHeader call, Throwable cause, ChannelPromise promise) {
        LOGGER.debug("{} refusing call {}", ctx.channel(), Integer.toHexString(call.xid()), cause);
        boolean version = cause instanceof RpcRdmaException e && e.reason() == RpcRdmaException.Reason.VERSION;
        statistics.increment(version ? Counter.VERSION_ERRORS : Counter.CHUNK_ERRORS);
        ctx.writeAndFlush(RpcRdmaMessage.error(Refusal.of(call.xid(), call.version(), cause)), promise);
    }
}
