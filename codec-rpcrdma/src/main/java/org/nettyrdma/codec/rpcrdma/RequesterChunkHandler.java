package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.RpcCallAbandoned;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCallFailure;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Control;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;
import org.nettyrdma.handler.credit.CreditGate;
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
 * the peer cannot know, and may still be using it (rfc5666bis-01, section 5.4.1). A connection on which too much of it has
 * come together is closed. A call that needs memory waits until it is there ({@link ResourceLimits}); calls that need none
 * may overtake it. While one waits, the channel is not writable. All methods run on the event loop.
 */
final class RequesterChunkHandler extends ChannelDuplexHandler implements LegacyReplyFetch.Owner {

    /** Most calls that wait for memory; as many as may wait for credits. */
    private static final int MAX_WAITING = CreditGate.DEFAULT_MAX_WAITING;
    /** Of the user-defined writability flags of a channel, the one that is false while a call waits for memory. */
    private static final int WRITABILITY_INDEX = CreditGate.WRITABILITY_INDEX - 1;

    private final RpcRdmaLimits limits;
    private final ResourceLimits resources;
    private final MemoryBudget memory;
    private final PeerPolicy policy;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final CallObserver observer;
    private final RpcRdmaConnection connection;
    /** Whether the calls go from server to client. */
    private final boolean reverse;
    private final IntObjectMap<RequesterCall> calls = new IntObjectHashMap<>();
    private CallAdmission admission;
    /** Memory of calls in {@link #calls} that nobody waits for. */
    private long abandonedBytes;
    private ChannelHandlerContext ctx;
    private LegacyReplyFetch replyFetch; // made for the first reply that needs it
    private boolean closed;

    /**
     * @param memory  what all connections share
     * @param reverse whether the calls go from server to client. Then what is written of replies, and all of
     *                version 1, passes this handler
     */
    RequesterChunkHandler(RpcRdmaLimits limits, ResourceLimits resources, MemoryBudget memory, PeerPolicy policy,
                          UpperLayerBindings bindings, ChunkStatistics statistics, CallObserver observer,
                          RpcRdmaConnection connection, boolean reverse) {
        this.limits = limits;
        this.resources = resources;
        this.memory = memory;
        this.policy = policy;
        this.bindings = bindings;
        this.statistics = statistics;
        this.observer = observer;
        this.connection = connection;
        this.reverse = reverse;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        admission = new CallAdmission(memory, resources.maxConnectionBytes(), context.executor(), this::admittedLate);
    }

    private ConnectionTerms terms() {
        return connection.terms();
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        ByteBuf call = msg instanceof RpcMessage message ? message.content() : msg instanceof ByteBuf plain ? plain : null;
        if (call == null || isForOthers(call)) {
            context.write(msg, promise);
            return;
        }
        try {
            CallLayout layout = layoutOf(msg, call);
            DataItems.requireWithin(layout.items(), call.readableBytes());
            CallPlan plan = planOf(call, layout);
            if (plan.hasChunks()) {
                admit(new WaitingCall(this, call, plan, layout.replySpace(), promise));
            } else {
                send(call, plan, layout.replySpace(), promise);
            }
        } catch (Exception | Error e) {
            call.release();
            promise.tryFailure(e);
        }
    }

    private boolean isForOthers(ByteBuf message) {
        return reverse && (connection.version() == RpcRdmaVersion.ONE || RpcMessageType.peek(message) != RpcMessageType.CALL);
    }

    private CallPlan planOf(ByteBuf call, CallLayout layout) throws RpcRdmaException {
        ReverseRequestSupport support = reverse ? connection.peerReverseSupport() : ReverseRequestSupport.GENERAL;
        return switch (support) {
            case NONE -> throw RpcRdmaException.unsupported("reverse call to a client whose Reverse Request Support is NONE");
            case INLINE -> CallPlan.withoutChunks(call.readableBytes(), terms().threshold());
            case GENERAL -> CallPlan.of(call.readableBytes(), layout.items(), layout.replySpace(), terms().threshold(), policy,
                    limits);
        };
    }

    /** What the call itself says about its items and its reply goes before what the binding says. */
    private CallLayout layoutOf(Object msg, ByteBuf call) throws IOException {
        requireConnected();
        if (call.readableBytes() < 2 * Integer.BYTES || call.readableBytes() > limits.maxMessageBytes()) {
            throw RpcRdmaException.tooLarge("call of %d bytes (expected: 8..%d)", call.readableBytes(),
                    limits.maxMessageBytes());
        }
        requireNewXid(call);
        if (!(msg instanceof RpcMessage message)) {
            return bindings.layoutOfCall(call);
        }
        return new CallLayout(message.dataItems(),
                message.replySpace() != null ? message.replySpace() : bindings.layoutOfCall(call).replySpace());
    }

    private void requireConnected() throws IOException {
        if (closed) {
            throw new ClosedChannelException();
        }
        if (!ctx.channel().isActive()) {
            throw new NotYetConnectedException();
        }
    }

    private void requireNewXid(ByteBuf call) {
        if (calls.containsKey(RpcOffsets.word(call, 0))) {
            throw new IllegalStateException(String.format("a call with XID %08x is outstanding", RpcOffsets.word(call, 0)));
        }
    }

    private void admit(WaitingCall call) throws RpcRdmaException {
        if (!admission.isPossible(call.bytes())) {
            throw RpcRdmaException.tooLarge("call that takes %d bytes of memory (limit: %d)", call.bytes(), memory.maxBytes());
        }
        if (admission.waiting() >= MAX_WAITING) {
            throw RpcRdmaException.overloaded("%d calls wait for memory, which is the limit", MAX_WAITING);
        }
        if (!admission.admit(call)) {
            statistics.increment(Counter.CALLS_HELD_BACK);
            updateWritability();
            call.watchForCancellation();
        }
    }

    private void admittedLate() {
        updateWritability();
        ctx.flush();
    }

    private void updateWritability() {
        ChannelOutboundBuffer outbound = ctx.channel().unsafe().outboundBuffer();
        if (outbound != null) { // null once the channel is closed
            outbound.setUserDefinedWritability(WRITABILITY_INDEX, admission.waiting() == 0);
        }
    }

    /** The caller of a call that waits for memory has cancelled it. */
    void cancelled(WaitingCall call) {
        if (admission.remove(call)) {
            call.message().release();
            updateWritability();
        }
    }

    /** There is memory for a call; its write fails as it would have failed without waiting. */
    void admitted(WaitingCall waited) {
        try {
            requireConnected();
            requireNewXid(waited.message());
            send(waited.message(), waited.plan(), waited.replySpace(), waited.promise());
        } catch (Exception | Error e) {
            waited.message().release();
            waited.promise().tryFailure(e);
            admission.release(waited.bytes());
        }
    }

    private void send(ByteBuf message, CallPlan plan, ReplySpace replySpace, ChannelPromise promise) throws IOException {
        CallExposure exposure = plan.hasChunks()
                ? CallExposure.open((RdmaChannel) ctx.channel(), statistics, policy, plan, message) : null;
        RequesterCall call = new RequesterCall(this, message, exposure, plan.exposedBytes(message.readableBytes()), plan.route(),
                replySpace);
        RpcRdmaHeader header;
        ByteBuf body = message;
        if (plan.isLong()) {
            header = terms().version().noMsg(call.xid(), call.chunks());
            body = Unpooled.EMPTY_BUFFER;
            message.release();
        } else {
            header = terms().version().msg(call.xid(), call.chunks());
            if (!plan.readItems().isEmpty()) {
                body = DataItems.takeOut(ctx.alloc(), message, plan.readItems());
            }
        }
        count(plan, call.chunks());
        if (reverse) {
            statistics.increment(Counter.REVERSE_CALLS);
        }
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
        // A request is a call of the other direction.
        boolean answer = message.role() == Role.RESPONSE && !(message.header() instanceof Control);
        RequesterCall call = answer ? calls.remove(message.xid()) : null;
        if (!isEntitled(message, call)) {
            message.release();
            if (call != null) {
                discard(call);
            }
            context.fireExceptionCaught(RpcRdmaException.connection(
                    "a handle was invalidated that message %08x had no right to", message.xid()));
            context.close();
        } else if (!answer) {
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
        if (reply.isInvalidating()) {
            statistics.increment(Counter.REMOTE_INVALIDATIONS);
        }
        if (LegacyReplyFetch.isNeededFor(reply)) {
            if (replyFetch == null) {
                replyFetch = new LegacyReplyFetch(ctx, limits, resources, statistics, this);
            }
            replyFetch.fetch(call, reply);
        } else {
            replied(call, reply);
        }
    }

    @Override
    public void replied(RequesterCall call, RpcRdmaMessage reply) {
        CallExposure exposure = call.exposure();
        if (exposure == null) {
            deliver(call, reply);
            return;
        }
        boolean[] waiting = {false};
        exposure.withdraw(() -> {
            try {
                deliver(call, reply);
            } finally {
                releaseMemory(call);
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
                failure = RpcRdmaException.refusedVersion(error.lowestVersion(), error.highestVersion());
            } else if (header instanceof ChunkError) {
                statistics.increment(Counter.CHUNK_ERRORS);
                int inlineBytes = terms().threshold().receiveBytes() - terms().version().headerLength(call.chunks());
                failure = RpcRdmaException.refused("refused with ERR_CHUNK: the responder could not parse the call, or the "
                        + "reply did not fit into what it offered: %s", call.offer(inlineBytes));
            } else if (header instanceof TransportError error) {
                statistics.increment(Counter.CHUNK_ERRORS);
                failure = RpcRdmaException.refused(error.error());
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
        ReplyRoute route = call.isReplyFetched() ? ReplyRoute.READ_CHUNK
                : parts.isLong() ? ReplyRoute.REPLY_CHUNK
                : placedBytes > 0 ? ReplyRoute.WRITE_CHUNK : ReplyRoute.INLINE;
        statistics.increment(switch (route) {
            case INLINE -> Counter.REPLIES_INLINE;
            case WRITE_CHUNK -> Counter.REPLIES_WITH_WRITE_CHUNK;
            case REPLY_CHUNK -> Counter.LONG_REPLIES;
            case READ_CHUNK -> Counter.REPLIES_WITH_READ_CHUNK;
        });
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        call.replied(observer, route);
        if (placedBytes > 0 || parts.isLong()) {
            statistics.add(Counter.WRITE_CHUNK_BYTES, placedBytes);
            statistics.add(Counter.REPLY_CHUNK_BYTES, parts.replyChunkBytes());
        }
        return message;
    }

    private void discard(RequesterCall call) {
        CallExposure exposure = call.exposure();
        if (exposure != null) {
            exposure.withdraw(() -> releaseMemory(call));
        }
    }

    private void releaseMemory(RequesterCall call) {
        call.exposure().releaseSinks();
        if (call.isAbandoned()) {
            abandonedBytes -= call.exposedBytes();
        }
        admission.release(call.exposedBytes());
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ConnectionConfigured configured) {
            connection.configureSend(configured.sendBytes());
            return;
        }
        if (event instanceof RpcCallAbandoned abandoned) {
            abandon(calls.get(abandoned.xid()));
        }
        context.fireUserEventTriggered(event);
    }

    /** {@code call} is {@code null} if it was not sent, or its reply is here. */
    private void abandon(RequesterCall call) {
        if (call == null || call.exposure() == null || call.isAbandoned()) {
            return;
        }
        call.abandon();
        statistics.increment(Counter.CALLS_ABANDONED);
        abandonedBytes += call.exposedBytes();
        if (abandonedBytes > resources.maxAbandonedBytes()) {
            statistics.increment(Counter.ABANDONED_CONNECTIONS);
            ctx.fireExceptionCaught(RpcRdmaException.connection(
                    "calls that were given up keep %d bytes open to the peer (limit: maxAbandonedBytes, %d)", abandonedBytes,
                    resources.maxAbandonedBytes()));
            ctx.close();
        }
    }

    @Override
    public void lost(RequesterCall call) {
        discard(call);
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
        admission.close(); // first, so that the end of one call does not let another begin
        if (replyFetch != null) {
            replyFetch.close();
        }
        outstanding.forEach(this::discard);
    }
}
