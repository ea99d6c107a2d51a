package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.codec.rpcrdma.CallObserver;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.ReplyRoute;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the calls of one requester: closes the memory of each to the peer, and when that is done, and not before, passes up the
 * whole reply as one {@link ByteBuf}, or the event {@link RpcCallFailure}. That event, too, where the device has kept the peer's
 * access until the connection ended. A call that was refused is sent again instead, where the responder says what it needs.
 * Event loop only.
 */
final class ReplyDelivery {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReplyDelivery.class);

    private final ChannelHandlerContext ctx;
    private final BindingTable bindings;
    private final ChunkCounters statistics;
    private final CallObserver observer;
    private final NegotiatedConnection connection;
    private final boolean reverse;
    private final RequesterCallTable calls;
    private final RequestSender sender;

    ReplyDelivery(ChannelHandlerContext ctx, ConnectionParts parts, CallObserver observer, RequesterCallTable calls,
                  RequestSender sender) {
        this.ctx = ctx;
        this.bindings = parts.bindings();
        this.statistics = parts.statistics();
        this.observer = observer;
        this.connection = parts.connection();
        this.reverse = parts.reverse();
        this.calls = calls;
        this.sender = sender;
    }

    /**
     * The reply to a call is here, or what tells that there will be none.
     *
     * @param reply its reference passes to this
     */
    void replied(RequesterCall call, RpcRdmaMessage reply) {
        ExposedChunks exposure = call.exposure();
        if (exposure == null || exposure.isWithdrawn()) { // as most are that have one chunk
            end(call, reply);
            return;
        }
        boolean[] waiting = {false};
        boolean[] ended = {false};
        try {
            calls.ending(call);
            exposure.withdraw(() -> {
                ended[0] = true;
                calls.ended(call);
                end(call, reply);
                if (waiting[0]) {
                    ctx.fireChannelReadComplete();
                }
            });
        } catch (RuntimeException | Error e) {
            if (!ended[0]) { // no memory between two pieces, for instance: nobody would tell that the last one is closed
                reply.release();
                calls.endWithConnection(call);
                ctx.close();
            }
            throw e;
        }
        waiting[0] = true;
    }

    /**
     * The reply to a call is here whose memory was withdrawn because nobody waits for it. Of a good one there is nothing to
     * deliver; a failure may still say something about the connection, for instance which versions the peer speaks.
     *
     * @param reply its reference passes to this
     */
    void repliedTooLate(RequesterCall call, RpcRdmaMessage reply) {
        RpcRdmaException failure = failureOf(call, reply);
        reply.release();
        if (failure != null) {
            ctx.fireUserEventTriggered(new RpcCallFailure(call.xid(), failure));
        }
    }

    /**
     * The reply to a call is here, inline, and the call has exposed nothing.
     *
     * @param message the whole reply; its reference passes to this
     */
    void repliedInline(RequesterCall call, ByteBuf message) {
        try {
            count(call, message, ReplyRoute.INLINE);
        } finally {
            call.releaseMessage();
            calls.delivered(call); // before the caller makes the next call, which can be this one again
        }
        ctx.fireChannelRead(message);
    }

    /** The peer can no longer touch the memory of the call, unless the device has kept its access. */
    private void end(RequesterCall call, RpcRdmaMessage reply) {
        RequestPlan again = planAgain(call, reply);
        if (again == null) {
            try {
                deliver(call, reply);
            } finally {
                call.releaseMessage();
                releaseMemory(call);
                calls.delivered(call);
            }
        } else {
            statistics.increment(Counter.CHUNK_ERRORS);
            reply.release();
            releaseMemory(call); // first, as it may be needed for the call itself
            sender.sendAgain(call, again);
            DemandedRead.restore(ctx);
        }
    }

    /** How a call that was refused is sent again, {@code null} if it is not. */
    private RequestPlan planAgain(RequesterCall call, RpcRdmaMessage reply) {
        if (reply.chunks() != null || !(reply.header() instanceof TransportError error)) {
            return null;
        }
        try {
            return sender.planAgain(call, error.error());
        } catch (RuntimeException | Error e) { // no memory, for instance: then the refusal is the outcome
            LOGGER.debug("{} call {} is not sent again", ctx.channel(), Integer.toHexString(call.xid()), e);
            return null;
        }
    }

    private void releaseMemory(RequesterCall call) {
        if (call.exposure() != null) {
            calls.releaseMemory(call);
        }
    }

    /** Passes up the reply or the failure of a call. */
    private void deliver(RequesterCall call, RpcRdmaMessage reply) {
        if (isInline(call, reply)) {
            count(call, reply.content(), ReplyRoute.INLINE);
            ctx.fireChannelRead(reply.content()); // with the reference of the message
            return;
        }
        ByteBuf message = null;
        Throwable failure = null;
        try {
            failure = failureOf(call, reply);
            if (failure == null && call.exposure() != null && !call.exposure().isWithdrawn()) {
                failure = RpcRdmaFailures.connection("the reply came, but the peer may still write to its memory: the connection "
                        + "has ended, and the device has not taken the access away"); // it may change while somebody looks at it
            }
            if (failure == null) {
                message = assemble(call, reply);
            }
        } catch (RpcRdmaException e) {
            statistics.increment(Counter.MALFORMED_MESSAGES);
            failure = e;
        } catch (RuntimeException | Error e) { // no memory, for instance: the caller would wait for the time-out
            failure = e;
        } finally {
            reply.release();
        }
        if (failure == null) {
            ctx.fireChannelRead(message);
        } else {
            ctx.fireUserEventTriggered(new RpcCallFailure(call.xid(), failure));
        }
    }

    /** Whether the message is the whole reply, as most are: then there is nothing to put together, and nothing to check. */
    private static boolean isInline(RequesterCall call, RpcRdmaMessage reply) {
        return reply.chunks() == ChunkLists.EMPTY && !reply.isNoMsg() && call.exposure() == null && !call.isReplyFetched();
    }

    /** Why the call has failed, or {@code null} if the header says that it was answered. */
    private RpcRdmaException failureOf(RequesterCall call, RpcRdmaMessage reply) {
        if (reply.chunks() != null) {
            return null;
        }
        RpcRdmaHeader header = reply.header();
        if (header instanceof Malformed malformed) {
            return malformed.cause();
        }
        if (header instanceof VersionError error) {
            statistics.increment(Counter.VERSION_ERRORS);
            return RpcRdmaFailures.refusedVersion(error.lowestVersion(), error.highestVersion());
        }
        if (header instanceof ChunkError) {
            statistics.increment(Counter.CHUNK_ERRORS);
            call.refused();
            InlineThreshold threshold = connection.threshold();
            int inlineBytes = threshold.receiveBytes() - threshold.version().headerLength(call.chunks());
            return RpcRdmaFailures.refused("refused with ERR_CHUNK: the responder could not parse the call, or the "
                    + "reply did not fit into what it offered: %s", call.offer(inlineBytes));
        }
        if (header instanceof TransportError error) {
            statistics.increment(Counter.CHUNK_ERRORS);
            if (error.error() instanceof RpcRdmaError.ReplyResource) {
                call.refused();
            }
            return RpcRdmaFailures.refused(error.error());
        }
        return null;
    }

    private ByteBuf assemble(RequesterCall call, RpcRdmaMessage reply) throws RpcRdmaException {
        ReducedReply parts = ReducedReply.of(call, reply);
        ByteBuf message = parts.assemble(ctx.alloc(), bindings);
        long placedBytes = parts.writeChunkBytes();
        ReplyRoute route = call.isReplyFetched() ? ReplyRoute.READ_CHUNK
                : parts.isLong() ? ReplyRoute.REPLY_CHUNK
                : placedBytes > 0 ? ReplyRoute.WRITE_CHUNK : ReplyRoute.INLINE;
        count(call, message, route);
        if (placedBytes > 0 || parts.isLong()) {
            statistics.add(Counter.WRITE_CHUNK_BYTES, placedBytes);
            statistics.add(Counter.REPLY_CHUNK_BYTES, parts.replyChunkBytes());
        }
        return message;
    }

    private void count(RequesterCall call, ByteBuf message, ReplyRoute route) {
        statistics.increment(switch (route) {
            case INLINE -> Counter.REPLIES_INLINE;
            case WRITE_CHUNK -> Counter.REPLIES_WITH_WRITE_CHUNK;
            case REPLY_CHUNK -> Counter.LONG_REPLIES;
            case READ_CHUNK -> Counter.REPLIES_WITH_READ_CHUNK;
        });
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        try {
            call.replied(observer, route);
        } catch (RuntimeException | Error e) {
            PeerLog.fault(LOGGER, ctx.channel(), "the observer of its calls has failed", e);
        }
        call.replied(message.readableBytes());
    }
}
