package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * Sends the calls of one requester: decides how each travels, opens the memory that call and reply need to the peer, and
 * writes an {@link RpcRdmaMessage}. A call that needs memory waits until it is there; calls that need none may overtake it.
 *
 * <p>In version 2 a call that was refused because of what it offers is sent again, once, with the same XID, where the error says
 * what it needs (version-two-08, section 5.3.3). So calls of version 2 are kept until their reply is here. That takes no memory
 * of its own where the call is exposed as it is; where it is a copy that is exposed, the call counts as well. Calls without
 * Read chunks are no longer than a Send, and those in progress no more than the credits. A responder that has carried the
 * call out before it refused the reply does so again, unless it recognizes the XID, as with every retransmission.
 *
 * <p>Event loop only.
 */
final class CallSender {

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final CallExposer exposer;
    private final CallPlanner planner;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final RpcRdmaConnection connection;
    private final boolean reverse;
    private final RequesterCalls calls;

    /**
     * @param reverse whether the calls go from server to client
     */
    CallSender(ChannelHandlerContext ctx, RpcRdmaLimits limits, PeerPolicy policy, UpperLayerBindings bindings,
               ChunkStatistics statistics, RpcRdmaConnection connection, boolean reverse, RequesterCalls calls) {
        this.ctx = ctx;
        this.limits = limits;
        this.exposer = new CallExposer(ctx.channel(), statistics, policy);
        this.planner = new CallPlanner(limits, policy, () -> connection.terms().threshold(),
                reverse ? connection::peerReverseSupport : () -> ReverseRequestSupport.GENERAL);
        this.bindings = bindings;
        this.statistics = statistics;
        this.connection = connection;
        this.reverse = reverse;
        this.calls = calls;
    }

    /**
     * Writes a call.
     *
     * @param msg     {@code call}, or the {@link RpcMessage} that it is the content of
     * @param call    the whole call; its reference passes to this
     * @param promise tells whether it was written
     */
    void write(Object msg, ByteBuf call, ChannelPromise promise) {
        try {
            requireSendable(call);
            // What the call itself says about its items and its reply goes before what the binding says.
            CallLayout bound = msg instanceof RpcMessage message && message.replySpace() != null ? null : bindings.layoutOfCall(call);
            List<DataItem> items = msg instanceof RpcMessage message ? message.dataItems() : bound.items();
            ReplySpace space = bound == null ? ((RpcMessage) msg).replySpace() : bound.replySpace();
            DataItems.requireWithin(items, call.readableBytes());
            submit(call, planner.plan(call.readableBytes(), items, space), items, space, promise, isKept());
        } catch (Exception | Error e) {
            call.release();
            promise.tryFailure(e);
        }
    }

    /** What refuses a call of version 1 does not say what it needs. */
    private boolean isKept() {
        return connection.terms().version() == RpcRdmaVersion.TWO;
    }

    private void submit(ByteBuf call, CallPlan plan, List<DataItem> items, ReplySpace space, ChannelPromise promise, boolean keep)
            throws IOException {
        long bytes = plan.hasChunks() ? memoryOf(call, plan, keep) : 0;
        if (bytes > 0 && !calls.tryAdmit(bytes)) {
            calls.admit(new WaitingCall(this, call, plan, new CallLayout(items, space), bytes, promise, keep));
            return;
        }
        try {
            send(call, plan, items, space, bytes, promise, keep);
        } catch (Exception | Error e) {
            calls.release(bytes);
            throw e;
        }
    }

    private long memoryOf(ByteBuf call, CallPlan plan, boolean keep) {
        long bytes = plan.exposedBytes(call.readableBytes());
        boolean copied = keep && plan.maxSegments() > 0
                && !exposer.isInPlace(plan, call);
        return copied ? bytes + call.readableBytes() : bytes;
    }

    /**
     * Plans a call anew that was refused.
     *
     * @param call what it exposed is closed to the peer
     * @return how to {@linkplain #sendAgain send it again}, or {@code null} if that is not to be done
     */
    CallPlan planAgain(RequesterCall call, RpcRdmaError error) {
        ByteBuf message = call.message();
        if (message == null || call.isAbandoned() || calls.isClosed()) {
            return null;
        }
        CallPlan plan = planner.planAgain(call.plan(), message.readableBytes(), new CallLayout(call.items(), call.replySpace()),
                error);
        return plan != null && calls.isPossible(memoryOf(message, plan, false)) ? plan : null;
    }

    /**
     * Sends a call again, for the last time: it is not kept any more.
     *
     * @param call has no memory any more
     */
    void sendAgain(RequesterCall call, CallPlan plan) {
        statistics.increment(Counter.CALLS_SENT_AGAIN);
        ByteBuf message = call.takeMessage();
        ChannelPromise promise = calls.sendingAgain(call.xid());
        try {
            submit(message, plan, call.items(), call.replySpace(), promise, false);
            ctx.flush();
        } catch (Exception | Error e) {
            message.release();
            promise.tryFailure(e);
        }
    }

    private void requireSendable(ByteBuf call) throws IOException {
        requireConnected();
        if (call.readableBytes() < 2 * Integer.BYTES || call.readableBytes() > limits.maxMessageBytes()) {
            throw RpcRdmaException.tooLarge("call of %d bytes (expected: 8..%d)", call.readableBytes(),
                    limits.maxMessageBytes());
        }
        requireNewXid(call);
    }

    private void requireConnected() throws IOException {
        if (calls.isClosed()) {
            throw new ClosedChannelException();
        }
        if (!ctx.channel().isActive()) {
            throw new NotYetConnectedException();
        }
    }

    private void requireNewXid(ByteBuf call) {
        if (calls.isOutstanding(RpcOffsets.word(call, 0))) {
            throw new IllegalStateException(String.format("a call with XID %08x is outstanding", RpcOffsets.word(call, 0)));
        }
    }

    /** The caller of a call that waits for memory has cancelled it. */
    void cancelled(WaitingCall call) {
        if (calls.withdraw(call)) {
            call.message().release();
        }
    }

    /** There is memory for a call; its write fails as it would have failed without waiting. */
    void admitted(WaitingCall waited) {
        try {
            requireConnected();
            requireNewXid(waited.message());
            send(waited.message(), waited.plan(), waited.layout().items(), waited.layout().replySpace(), waited.bytes(),
                    waited.promise(), waited.isKept());
        } catch (Exception | Error e) {
            waited.message().release();
            waited.promise().tryFailure(e);
            calls.release(waited.bytes());
        }
    }

    private void send(ByteBuf message, CallPlan plan, List<DataItem> items, ReplySpace space, long bytes, ChannelPromise promise,
                      boolean keep) throws IOException {
        CallExposure exposure = plan.hasChunks()
                ? exposer.open(plan, message, InvalidationPolicy.ofRequester(connection.terms())) : null;
        RequesterCall call = calls.newCall().begin(message, exposure, bytes, plan, items, space);
        if (keep) {
            call.keep(message);
        }
        RpcRdmaVersion version = connection.terms().version();
        ByteBuf body = message;
        if (plan.isLong()) {
            body = Unpooled.EMPTY_BUFFER;
            message.release();
        } else if (!plan.readItems().isEmpty()) {
            body = DataItems.takeOut(ctx.alloc(), message, plan.readItems());
        }
        count(plan, call.chunks());
        if (reverse) {
            statistics.increment(Counter.REVERSE_CALLS);
        }
        calls.add(call); // before the write, which may fail at once
        ChannelPromise written = promise.unvoid();
        ctx.write(version.message(Role.REQUEST, call.xid(), limits.credits(), call.chunks(), body, plan.isLong()), written);
        written.addListener(call);
    }

    private void count(CallPlan plan, ChunkLists chunks) {
        statistics.increment(switch (plan.route()) {
            case INLINE -> Counter.CALLS_INLINE;
            case READ_CHUNK -> Counter.CALLS_WITH_READ_CHUNK;
            case LONG -> Counter.LONG_CALLS;
        });
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            statistics.add(Counter.READ_CHUNK_BYTES, chunks.readChunks().get(i).lengthBytes());
        }
    }
}
