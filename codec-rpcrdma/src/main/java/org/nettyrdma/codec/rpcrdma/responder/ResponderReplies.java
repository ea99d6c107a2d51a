package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.util.List;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.oncrpc.transport.CallbackPromise;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.connection.Refusal;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;
import org.nettyrdma.codec.rpcrdma.shared.RelayPromise;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.peer.PeerLog;
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
    private final BindingTable bindings;
    private final ChunkCounters statistics;
    private final NegotiatedConnection connection;
    private final boolean reverse;
    /** {@code null} where they are refused. */
    private final UnplacedReplies unplaced;
    private final RequestArrivals arrivals;
    /** For all RDMA Writes. */
    private final ChannelPromise chunkPromise;
    private final Consumer<RdmaWrite> chunkWriter = this::writeToChunk;
    /** What has been written into chunks of the reply that is being sent. */
    private long chunkBytes;

    /**
     * @param unplaced sends replies that do not fit into what their calls offered, {@code null} if they are refused
     * @param arrivals where the memory of the calls came from, and goes back to
     */
    ResponderReplies(ChannelHandlerContext ctx, ConnectionParts parts, UnplacedReplies unplaced, RequestArrivals arrivals) {
        this.ctx = ctx;
        this.limits = parts.limits();
        this.bindings = parts.bindings();
        this.statistics = parts.statistics();
        this.connection = parts.connection();
        this.reverse = parts.reverse();
        this.unplaced = unplaced;
        this.arrivals = arrivals;
        this.chunkPromise = new CallbackPromise(ctx) {
            @Override
            protected void written(Throwable cause) {
                endIfFailed(cause); // also before it came to the device: the reply behind it says that it was done
            }
        };
    }

    /**
     * Answers a call whose chunks the reply may need.
     *
     * @param msg     {@code reply}, or the {@link RpcMessage} that it is the content of
     * @param reply   the whole reply; its reference passes to this
     * @param promise tells whether it was written
     */
    void write(ResponderCall call, Object msg, ByteBuf reply, ChannelPromise promise) {
        ChannelPromise written = releasing(call, promise);
        List<DataItem> items;
        try {
            items = call.chunks().writeChunks().isEmpty() ? List.of() : itemsOf(msg, reply, call);
        } catch (RuntimeException | Error e) { // of the binding
            replace(reply, e, written);
            return;
        }
        place(call, msg, reply, items, written);
    }

    private void count(Counter counter) {
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        statistics.increment(counter);
    }

    /** The call breaks a rule of its binding: the equivalent of bad XDR is the answer (RFC 8166, section 6.1). */
    void writeGarbageArguments(int xid, ResponderCall call) {
        ChannelPromise written = releasing(call, ownPromise());
        ByteBuf reply;
        try {
            reply = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES);
        } catch (RuntimeException | Error e) { // no memory
            fail(e, written);
            return;
        }
        new RpcReplyHeader.Accepted(xid, AcceptStatus.GARBAGE_ARGS).write(reply);
        place(call, reply, reply, List.of(), written);
        ctx.flush();
    }

    /** Of an answer that no program has given: where it cannot be written, nobody else ends the connection. */
    private ChannelPromise ownPromise() {
        return ctx.newPromise().addListener(written -> endIfFailed(written.cause()));
    }

    /** The memory of a call is free when its reply is written, which the device may be reading until then. */
    private ChannelPromise releasing(ResponderCall call, ChannelPromise promise) {
        long bytes = call.memoryBytes();
        return bytes == 0 ? promise : new ReleasingPromise(ctx, arrivals, bytes, promise);
    }

    private List<DataItem> itemsOf(Object msg, ByteBuf reply, ResponderCall call) {
        return msg instanceof RpcMessage message ? message.dataItems() : call.itemsOf(reply, bindings);
    }

    private void place(ResponderCall call, Object msg, ByteBuf reply, List<DataItem> items, ChannelPromise written) {
        ReplyPlacement placement;
        try {
            if (reply.readableBytes() > limits.maxMessageBytes()) {
                throw RpcRdmaFailures.tooLarge("reply of %d bytes (limit: %d, RpcRdmaLimits.maxMessageBytes)",
                        reply.readableBytes(), limits.maxMessageBytes());
            }
            placement = ReplyPlacement.of(reply, items, call.chunks(), connection.threshold());
        } catch (RpcRdmaException | RuntimeException | Error e) {
            answerWithoutPlacement(call, msg, reply, e, written);
            return;
        }
        send(call, placement, written);
    }

    private void send(ResponderCall call, ReplyPlacement placement, ChannelPromise promise) {
        int xid = placement.xid();
        long placedBytes = placement.placedBytes();
        // In order and without waiting: the requester cannot see the Send before what was written ahead of it is in its
        // memory (RFC 8166, section 2.3.2). A failed Write ends the connection, and thereby fails the Send.
        chunkBytes = 0;
        ByteBuf body;
        try {
            body = placement.body(ctx.alloc(), chunkWriter);
        } catch (RuntimeException | Error e) { // no memory, and a part of it may be on its way
            fail(e, promise);
            return;
        }
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

    private void endIfFailed(Throwable cause) {
        if (cause != null && ctx.channel().isActive()) {
            ctx.fireExceptionCaught(cause);
            ctx.close();
        }
    }

    /** A call can be given no answer at all: as its caller would wait in vain, the connection ends. */
    private void fail(Throwable cause, ChannelPromise written) {
        written.tryFailure(cause);
        endIfFailed(cause);
    }

    private RpcRdmaMessage invalidating(RpcRdmaMessage reply, ResponderCall call) {
        long handle = InvalidationPolicy.ofResponder(connection.terms()).handleToWithdraw(call.chunks());
        if (handle < 0) {
            statistics.increment(Counter.REPLIES_WITHOUT_INVALIDATION);
            return reply;
        }
        statistics.increment(Counter.REMOTE_INVALIDATIONS);
        return reply.invalidating((int) handle);
    }

    /** Refuses a reply that does not fit, or lets the requester fetch it if this side and its call allow that. */
    private void answerWithoutPlacement(ResponderCall call, Object msg, ByteBuf reply, Throwable cause,
                                        ChannelPromise promise) {
        Throwable refusal = cause;
        boolean fetchable = unplaced != null && connection.terms().version() == RpcRdmaVersion.ONE;
        if (fetchable && cause instanceof RpcRdmaException && call.chunks().writeChunks().isEmpty()) {
            try {
                ctx.write(unplaced.expose(reply, itemsOf(msg, reply, call), connection.threshold()), promise);
                return;
            } catch (IOException | RuntimeException | Error e) {
                refusal = e;
            }
        }
        replace(reply, refusal, promise);
    }

    /** Answers with an error, since the reply cannot be conveyed. */
    private void replace(ByteBuf reply, Throwable cause, ChannelPromise promise) {
        int xid = RpcOffsets.word(reply, 0);
        reply.release();
        refuse(xid, connection.terms().version().number(), cause, RpcReplyReplacedException.fail(promise, cause));
    }

    /**
     * Refuses a call that no program sees.
     *
     * @param version what the version word of the call said
     */
    void refuse(int xid, int version, Throwable cause) {
        refuse(xid, version, cause, ownPromise());
    }

    /** Answers with RDMA_ERROR, never by Send with Invalidate; the requester withdraws what the call exposed. */
    private void refuse(int xid, int version, Throwable cause, ChannelPromise promise) {
        PeerLog.warn(LOGGER, ctx.channel(), "refusing call {}: {}", Integer.toHexString(xid), cause);
        boolean isVersion = cause instanceof RpcRdmaException e && e.reason() == RpcRdmaException.Reason.VERSION;
        statistics.increment(isVersion ? Counter.VERSION_ERRORS : Counter.CHUNK_ERRORS);
        ctx.writeAndFlush(RpcRdmaMessage.error(Refusal.of(xid, version, cause)), promise);
    }

    /** The promise of a reply whose call has memory that is free then. */
    private static final class ReleasingPromise extends RelayPromise {

        private final RequestArrivals arrivals;
        private final long bytes;

        ReleasingPromise(ChannelHandlerContext ctx, RequestArrivals arrivals, long bytes, ChannelPromise reply) {
            super(ctx, reply);
            this.arrivals = arrivals;
            this.bytes = bytes;
        }

        @Override
        protected void written(Throwable cause) {
            arrivals.release(bytes);
        }
    }
}
