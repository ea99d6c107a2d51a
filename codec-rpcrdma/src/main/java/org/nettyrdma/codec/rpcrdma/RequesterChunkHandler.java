package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.RpcCallFailure;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * The chunks of the calls that go out and of the replies that come in. Outbound it takes each call, a {@link ByteBuf} or
 * {@link RpcMessage}, opens the memory that call and reply need to the peer, and sends an {@link RpcRdmaMessage}. Inbound it
 * closes that memory again, and when that is done, and not before, passes the whole reply up as one {@link ByteBuf}.
 *
 * <p>A call that the peer refuses, or whose reply is malformed, is reported upward by the event {@link RpcCallFailure}. The
 * loss of the connection is not reported for each call: {@code channelInactive} says it all.
 *
 * <p>Memory of a call that nobody waits for any more stays open to the peer until the reply comes or the connection ends:
 * the peer cannot know, and may still be using it (rfc5666bis-01, section 5.4.1). All methods run on the event loop.
 */
final class RequesterChunkHandler extends ChannelDuplexHandler {

    private final RpcRdmaLimits limits;
    private final PeerPolicy policy;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final CallObserver observer;
    private final ConnectionTerms.Source termsOf;
    private final IntObjectMap<RequesterCall> calls = new IntObjectHashMap<>();
    private ChannelHandlerContext ctx;
    private ConnectionTerms terms;
    private boolean closed;

    RequesterChunkHandler(RpcRdmaLimits limits, PeerPolicy policy, UpperLayerBindings bindings, ChunkStatistics statistics,
                          CallObserver observer, ConnectionTerms.Source termsOf) {
        this.limits = limits;
        this.policy = policy;
        this.bindings = bindings;
        this.statistics = statistics;
        this.observer = observer;
        this.termsOf = termsOf;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    /** Looked up when first needed: a connect future completes, and calls may be written, before channelActive is fired. */
    private ConnectionTerms terms() {
        if (terms == null) {
            terms = termsOf.of(ctx.channel());
        }
        return terms;
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        ByteBuf call = msg instanceof RpcMessage message ? message.content() : msg instanceof ByteBuf plain ? plain : null;
        if (call == null) {
            context.write(msg, promise);
            return;
        }
        try {
            send(call, layoutOf(msg, call), promise);
        } catch (Exception | Error e) {
            call.release();
            promise.tryFailure(e);
        }
    }

    /** What the call itself says about its items and its reply goes before what the binding says. */
    private CallLayout layoutOf(Object msg, ByteBuf call) throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (!ctx.channel().isActive()) {
            throw new NotYetConnectedException();
        }
        if (call.readableBytes() < 2 * Integer.BYTES || call.readableBytes() > limits.maxMessageBytes()) {
            throw RpcRdmaException.tooLarge("call of %d bytes (expected: 8..%d)", call.readableBytes(),
                    limits.maxMessageBytes());
        }
        if (calls.containsKey(RpcOffsets.word(call, 0))) {
            throw new IllegalStateException(String.format("a call with XID %08x is outstanding", RpcOffsets.word(call, 0)));
        }
        if (!(msg instanceof RpcMessage message)) {
            return bindings.layoutOfCall(call);
        }
        return new CallLayout(message.dataItems(),
                message.replySpace() != null ? message.replySpace() : bindings.layoutOfCall(call).replySpace());
    }

    private void send(ByteBuf message, CallLayout layout, ChannelPromise promise) throws IOException {
        DataItems.requireWithin(layout.items(), message.readableBytes());
        CallPlan plan = CallPlan.of(message.readableBytes(), layout.items(), layout.replySpace(), terms().threshold(), policy,
                limits);
        CallExposure exposure = plan.hasChunks()
                ? CallExposure.open((RdmaChannel) ctx.channel(), statistics, policy, plan, message) : null;
        RequesterCall call = new RequesterCall(this, message, exposure, plan.route(), layout.replySpace());
        RpcRdmaHeader header;
        ByteBuf body = message;
        if (plan.isLong()) {
            header = new NoMsg(call.xid(), 0, call.chunks());
            body = Unpooled.EMPTY_BUFFER;
            message.release();
        } else {
            header = new Msg(call.xid(), 0, call.chunks());
            if (!plan.readItems().isEmpty()) {
                body = DataItems.takeOut(ctx.alloc(), message, plan.readItems());
            }
        }
        count(plan, call.chunks());
        calls.put(call.xid(), call); // before the write, which may fail at once
        ChannelPromise written = promise.unvoid();
        ctx.write(RpcRdmaMessage.call(header, body), written);
        written.addListener(call);
    }

    private void count(CallPlan plan, ChunkLists chunks) {
        statistics.increment(switch (plan.route()) {
            case INLINE -> Counter.CALLS_INLINE;
            case READ_CHUNK -> Counter.CALLS_WITH_READ_CHUNK;
            case LONG -> Counter.LONG_CALLS;
        });
        for (ReadChunk chunk : chunks.readChunks()) {
            statistics.add(Counter.READ_CHUNK_BYTES, chunk.lengthBytes());
        }
    }

    /** The write of a call has failed or was cancelled; its promise tells the caller. */
    void callNotWritten(RequesterCall call) {
        if (calls.get(call.xid()) == call) {
            calls.remove(call.xid());
            discard(call);
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            context.fireChannelRead(msg);
            return;
        }
        // A request is a call of the reverse direction, which has no chunks.
        RequesterCall call = message.role() == Role.RESPONSE ? calls.remove(message.xid()) : null;
        if (!isEntitled(message, call)) {
            message.release();
            if (call != null) {
                discard(call);
            }
            context.fireExceptionCaught(RpcRdmaException.connection(
                    "a handle was invalidated that message %08x had no right to", message.xid()));
            context.close();
        } else if (message.role() != Role.RESPONSE) {
            context.fireChannelRead(message);
        } else if (call == null) {
            statistics.increment(Counter.UNKNOWN_REPLIES_DROPPED);
            message.release();
        } else {
            receive(call, message);
        }
    }

    /**
     * Whether what the peer has invalidated is what it may: by a reply one handle of its call, by others nothing. A handle
     * that was withdrawn by a message that was dropped, or by one to another call, shows when the reply to its own call is
     * here, at the latest.
     */
    private boolean isEntitled(RpcRdmaMessage message, RequesterCall call) {
        if (message.isInvalidating() && !terms().mayBeInvalidated()) {
            return false;
        }
        return call == null || call.exposure() == null ? !message.isInvalidating() : call.exposure().isInvalidatedBy(message);
    }

    private void receive(RequesterCall call, RpcRdmaMessage reply) {
        CallExposure exposure = call.exposure();
        if (exposure == null) {
            deliver(call, reply);
            return;
        }
        statistics.add(Counter.REMOTE_INVALIDATIONS, reply.isInvalidating() ? 1 : 0);
        boolean[] waiting = {false};
        exposure.withdraw(() -> {
            try {
                deliver(call, reply);
            } finally {
                exposure.releaseSinks();
            }
            if (waiting[0]) {
                ctx.fireChannelReadComplete();
            }
        });
        waiting[0] = true;
    }

    /** Passes up the reply or the failure of a call whose memory the peer can no longer touch. */
    private void deliver(RequesterCall call, RpcRdmaMessage reply) {
        RpcRdmaHeader header = reply.header();
        ByteBuf message = null;
        RpcRdmaException failure = null;
        try {
            if (header instanceof Malformed malformed) {
                failure = malformed.cause();
            } else if (header instanceof VersionError error) {
                statistics.increment(Counter.VERSION_ERRORS);
                failure = RpcRdmaException.refused("refused with ERR_VERS, the responder speaks versions %d to %d",
                        error.lowestVersion(), error.highestVersion());
            } else if (header instanceof ChunkError) {
                statistics.increment(Counter.CHUNK_ERRORS);
                int inlineBytes = terms().threshold().receiveBytes() - RpcRdmaLayout.headerLength(call.chunks());
                failure = RpcRdmaException.refused("refused with ERR_CHUNK: the responder could not parse the call, or the "
                        + "reply did not fit into what it offered: %s", call.offer(inlineBytes));
            } else {
                message = assemble(call, reply);
            }
        } catch (RpcRdmaException e) {
            statistics.increment(Counter.MALFORMED_MESSAGES);
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

    private ByteBuf assemble(RequesterCall call, RpcRdmaMessage reply) throws RpcRdmaException {
        ReducedReply parts = ReducedReply.of(call, reply);
        ByteBuf message = parts.assemble(ctx.alloc(), bindings);
        long placedBytes = parts.writeChunkBytes();
        ReplyRoute route = parts.isLong() ? ReplyRoute.REPLY_CHUNK
                : placedBytes > 0 ? ReplyRoute.WRITE_CHUNK : ReplyRoute.INLINE;
        statistics.increment(switch (route) {
            case INLINE -> Counter.REPLIES_INLINE;
            case WRITE_CHUNK -> Counter.REPLIES_WITH_WRITE_CHUNK;
            case REPLY_CHUNK -> Counter.LONG_REPLIES;
        });
        call.replied(observer, route);
        if (placedBytes > 0 || parts.isLong()) {
            statistics.add(Counter.WRITE_CHUNK_BYTES, placedBytes);
            statistics.add(Counter.REPLY_CHUNK_BYTES, parts.replyChunkBytes());
        }
        return message;
    }

    private static void discard(RequesterCall call) {
        CallExposure exposure = call.exposure();
        if (exposure != null) {
            exposure.withdraw(exposure::releaseSinks);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.fireUserEventTriggered(terms());
        context.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }

    private void close() {
        closed = true;
        List<RequesterCall> outstanding = List.copyOf(calls.values());
        calls.clear();
        outstanding.forEach(RequesterChunkHandler::discard);
    }
}
