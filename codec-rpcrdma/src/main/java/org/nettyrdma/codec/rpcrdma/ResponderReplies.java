package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.CallbackPromise;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
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
    /** For all RDMA Writes. */
    private final ChannelPromise chunkPromise;
    private final Consumer<RdmaWrite> chunkWriter = this::writeToChunk;
    /** What has been written into chunks of the reply that is being sent. */
    private long chunkBytes;

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
        this.chunkPromise = new CallbackPromise(ctx) {
            @Override
            protected void written(Throwable cause) {
                chunkWritten(cause);
            }
        };
    }

    /**
     * Answers a call.
     *
     * @param msg     {@code reply}, or the {@link RpcMessage} that it is the content of
     * @param reply   the whole reply; its reference passes to this
     * @param promise tells whether it was written
     */
    void write(ResponderCall call, Object msg, ByteBuf reply, ChannelPromise promise) {
        if (call.chunks() == ChunkLists.EMPTY && isSentInline(reply, connection.terms().threshold())) { // what most replies are
            count(Counter.REPLIES_INLINE);
            RpcRdmaVersion version = connection.terms().version();
            ctx.write(version.message(Role.RESPONSE, RpcOffsets.word(reply, 0), limits.credits(), ChunkLists.EMPTY, reply, false),
                    promise);
            return;
        }
        ChannelPromise written = releasing(call.chunks(), promise);
        List<DataItem> items;
        try {
            items = call.chunks().writeChunks().isEmpty() ? List.of() : itemsOf(msg, reply, call);
        } catch (RuntimeException e) { // of the binding
            replace(reply, e, written);
            return;
        }
        place(call, msg, reply, items, written);
    }

    private boolean isSentInline(ByteBuf reply, InlineThreshold threshold) {
        return reply.readableBytes() <= limits.maxMessageBytes() && threshold.fitsSend(ChunkLists.EMPTY, reply.readableBytes());
    }

    private void count(Counter counter) {
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        statistics.increment(counter);
    }

    /** The call breaks a rule of its binding: the equivalent of bad XDR is the answer (rfc5666bis-01, section 6.3). */
    void writeGarbageArguments(int xid, ResponderCall call) {
        ByteBuf reply = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES);
        new RpcReplyHeader.Accepted(xid, AcceptStatus.GARBAGE_ARGS).write(reply);
        place(call, reply, reply, List.of(), releasing(call.chunks(), ctx.newPromise()));
        ctx.flush();
    }

    /** The memory of a call is free when its reply is written, which the device may be reading until then. */
    private ChannelPromise releasing(ChunkLists chunks, ChannelPromise promise) {
        long bytes = arrivals.bytesOf(chunks);
        if (bytes == 0) {
            return promise;
        }
        return promise.isVoid() ? new ReleasingPromise(ctx, arrivals, bytes, promise)
                : promise.addListener(done -> arrivals.release(bytes));
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
        int xid = placement.xid();
        long placedBytes = placement.placedBytes();
        // In order and without waiting: the requester cannot see the Send before what was written ahead of it is in its
        // memory (rfc5666bis-01, section 3.2.2). A failed Write ends the connection, and thereby fails the Send.
        chunkBytes = 0;
        ByteBuf body = placement.body(ctx.alloc(), chunkWriter);
        RpcRdmaMessage reply = placement.message(xid, limits.credits(), body);
        if (!call.chunks().isEmpty()) {
            reply = invalidating(reply, call);
        }
        count(placement.isLong() ? Counter.LONG_REPLIES
                : placedBytes > 0 ? Counter.REPLIES_WITH_WRITE_CHUNK : Counter.REPLIES_INLINE);
        if (chunkBytes > 0) {
            statistics.add(Counter.WRITE_CHUNK_BYTES, placedBytes);
            statistics.add(Counter.REPLY_CHUNK_BYTES, chunkBytes - placedBytes);
        }
        ctx.write(reply, promise);
    }

    private void writeToChunk(RdmaWrite write) {
        chunkBytes += write.content().readableBytes();
        ctx.write(write, chunkPromise);
    }

    /** Also one that failed before it came to the device, for want of memory: the reply behind it says that it was done. */
    private void chunkWritten(Throwable cause) {
        if (cause != null && ctx.channel().isActive()) {
            ctx.fireExceptionCaught(cause);
            ctx.close();
        }
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
        replace(reply, refusal, promise);
    }

    /** Answers with an error, since the reply cannot be conveyed. */
    private void replace(ByteBuf reply, Exception cause, ChannelPromise promise) {
        int xid = RpcOffsets.word(reply, 0);
        reply.release();
        refuse(xid, connection.terms().version().number(), cause, RpcReplyReplacedException.fail(promise, cause));
    }

    /**
     * Answers with RDMA_ERROR, never by Send with Invalidate; what the call exposed is the requester's to withdraw.
     *
     * @param version what the version word of the call said
     */
    void refuse(int xid, int version, Throwable cause, ChannelPromise promise) {
        LOGGER.debug("{} refusing call {}", ctx.channel(), Integer.toHexString(xid), cause);
        boolean isVersion = cause instanceof RpcRdmaException e && e.reason() == RpcRdmaException.Reason.VERSION;
        statistics.increment(isVersion ? Counter.VERSION_ERRORS : Counter.CHUNK_ERRORS);
        ctx.writeAndFlush(RpcRdmaMessage.error(Refusal.of(xid, version, cause)), promise);
    }

    /** The promise of a reply whose call has memory that is free then. */
    private static final class ReleasingPromise extends CallbackPromise {

        private final CallArrivals arrivals;
        private final long bytes;
        private final ChannelPromise reply;

        ReleasingPromise(ChannelHandlerContext ctx, CallArrivals arrivals, long bytes, ChannelPromise reply) {
            super(ctx);
            this.arrivals = arrivals;
            this.bytes = bytes;
            this.reply = reply;
        }

        @Override
        protected void written(Throwable cause) {
            arrivals.release(bytes);
            if (cause == null) {
                reply.trySuccess();
            } else {
                reply.tryFailure(cause);
            }
        }
    }
}
