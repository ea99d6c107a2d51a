package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.rpcrdma.CallLayout;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.InlinePath;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReverseRequestSupport;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
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
final class RequestSender {

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final ChunkExposer exposer;
    private final RequestPlanner planner;
    private final BindingTable bindings;
    private final ChunkCounters statistics;
    private final NegotiatedConnection connection;
    private final boolean reverse;
    private final RequesterCallTable calls;
    private final OpenEndedRequests openEnded;
    /** {@code null} where calls go through the pipeline. */
    private InlinePath inlinePath;

    RequestSender(ChannelHandlerContext ctx, ConnectionParts parts, PeerPolicy policy, RequesterCallTable calls) {
        this.ctx = ctx;
        this.limits = parts.limits();
        this.bindings = parts.bindings();
        this.statistics = parts.statistics();
        this.connection = parts.connection();
        this.exposer = new ChunkExposer(ctx.channel(), statistics, policy);
        this.reverse = parts.reverse();
        this.planner = new RequestPlanner(limits, policy, connection::threshold,
                reverse ? connection::peerReverseSupport : () -> ReverseRequestSupport.GENERAL);
        this.calls = calls;
        this.openEnded = new OpenEndedRequests(ctx, limits, planner, calls, this, connection::threshold);
    }

    ChannelHandlerContext context() {
        return ctx;
    }

    /** Calls that go inline may take a short path. Before the first call. */
    void take(InlinePath path) {
        inlinePath = path;
    }

    /**
     * Writes a call.
     *
     * @param msg     {@code call}, or the {@link RpcMessage} that it is the content of
     * @param call    the whole call; its reference passes to this
     * @param promise tells whether it was written
     */
    void write(Object msg, ByteBuf call, ChannelPromise promise) {
        if (RpcMessageType.peek(call) != RpcMessageType.CALL && call.isReadable() && !calls.isClosed()) {
            RpcRdmaFailures.refusePayload(ctx, "call", call, promise);
            return;
        }
        try {
            requireSendable(call, promise);
            // What the call itself says about its items and its reply goes before what the binding says.
            CallLayout bound = msg instanceof RpcMessage message && message.replySpace() != null ? null
                    : bindings.layoutOfCall(call);
            List<DataItem> items = msg instanceof RpcMessage message ? message.dataItems() : bound.items();
            ReplySpace space = bound == null ? ((RpcMessage) msg).replySpace() : bound.replySpace();
            ItemReduction.requireWithin(items, call.readableBytes());
            RequestPlan plan = planner.plan(call.readableBytes(), items, space);
            RequesterCall begun = calls.newCall().begin(call, plan, items, space, promise, isKept());
            if (isOpenEnded(begun)) {
                openEnded.submit(begun);
            } else {
                submit(begun);
            }
        } catch (Exception | Error e) {
            call.release();
            promise.tryFailure(e);
        }
    }

    /** What refuses a call of version 1 does not say what it needs. */
    private boolean isKept() {
        return connection.terms().version() == RpcRdmaVersion.TWO;
    }

    /** Whether a call offers all that a reply may take, as nobody knows how large its reply can get. */
    private boolean isOpenEnded(RequesterCall call) {
        return call.replySpace() == null && planner.offersRoomForAnyReply();
    }

    /**
     * Sends a call, now or when there is memory for it.
     *
     * @throws IOException if it can never be sent
     */
    void submit(RequesterCall call) throws IOException {
        long bytes = memoryOf(call);
        if (bytes == 0 || calls.tryAdmit(bytes)) {
            sendAdmitted(call, bytes);
        } else {
            calls.admit(new WaitingRequest(this, call, bytes));
        }
    }

    /**
     * Sends a call that has its memory.
     *
     * @throws IOException if that cannot be exposed; then the call has none of it
     */
    void sendAdmitted(RequesterCall call, long bytes) throws IOException {
        try {
            send(call, bytes);
        } catch (Exception | Error e) {
            calls.release(bytes);
            throw e;
        }
    }

    /** How much memory a call takes. */
    long memoryOf(RequesterCall call) {
        return memoryOf(call.unsent(), call.plan(), call.isKept());
    }

    private long memoryOf(ByteBuf call, RequestPlan plan, boolean keep) {
        if (!plan.hasChunks()) {
            return 0;
        }
        long bytes = plan.exposedBytes(call.readableBytes());
        boolean copied = keep && plan.maxSegments() > 0 && !exposer.isInPlace(plan, call);
        return copied ? bytes + call.readableBytes() : bytes;
    }

    /**
     * Plans a call anew that was refused.
     *
     * @param call what it exposed is closed to the peer
     * @return how to {@linkplain #sendAgain send it again}, or {@code null} if that is not to be done
     */
    RequestPlan planAgain(RequesterCall call, RpcRdmaError error) {
        ByteBuf message = call.message();
        if (message == null || call.isAbandoned() || calls.isClosed()) {
            return null;
        }
        RequestPlan plan = planner.planAgain(call.plan(), message.readableBytes(),
                new CallLayout(call.items(), call.replySpace()), error);
        return plan != null && calls.isPossible(memoryOf(message, plan, false)) ? plan : null;
    }

    /**
     * Sends a call again, for the last time: it is not kept any more.
     *
     * @param call has no memory any more
     */
    void sendAgain(RequesterCall call, RequestPlan plan) {
        statistics.increment(Counter.CALLS_SENT_AGAIN);
        ByteBuf message = call.takeMessage();
        ChannelPromise promise = calls.sendingAgain(call.xid());
        try {
            submit(calls.newCall().begin(message, plan, call.items(), call.replySpace(), promise, false));
            ctx.flush();
        } catch (Exception | Error e) {
            message.release();
            promise.tryFailure(e);
        }
    }

    private void requireSendable(ByteBuf call, ChannelPromise promise) throws IOException {
        requireConnected();
        if (call.readableBytes() < 2 * Integer.BYTES || call.readableBytes() > limits.maxMessageBytes()) {
            throw RpcRdmaFailures.tooLarge("call of %d bytes (expected: 8..%d, RpcRdmaLimits.maxMessageBytes)",
                    call.readableBytes(), limits.maxMessageBytes());
        }
        requireNewXid(call, promise);
    }

    private void requireConnected() throws IOException {
        if (calls.isClosed() || !ctx.channel().isOpen()) { // handlers may hear of the end later
            throw new ClosedChannelException();
        }
        if (!ctx.channel().isActive()) {
            throw new NotYetConnectedException();
        }
    }

    private void requireNewXid(ByteBuf call, ChannelPromise promise) {
        if (calls.isXidInUse(RpcOffsets.word(call, 0), promise)) {
            throw new IllegalStateException(String.format("a call with XID %08x is outstanding", RpcOffsets.word(call, 0)));
        }
    }

    /** The caller of a call that waits for memory has cancelled it. */
    void cancelled(WaitingRequest call, Throwable cause) {
        if (calls.withdraw(call)) {
            call.fail(cause);
        }
    }

    /** There is memory for a call; its write fails as it would have failed without waiting. */
    void admitted(WaitingRequest waited) {
        calls.release(waited.reserve());
        RequesterCall call = waited.call();
        ByteBuf message = call.unsent();
        try {
            requireConnected();
            requireNewXid(message, call.caller());
            send(call, waited.exposedBytes());
        } catch (Exception | Error e) {
            message.release();
            call.caller().tryFailure(e);
            calls.release(waited.exposedBytes());
        }
    }

    private void send(RequesterCall call, long bytes) throws IOException {
        ByteBuf message = call.unsent();
        RequestPlan plan = call.plan();
        ExposedChunks exposure = plan.hasChunks()
                ? exposer.open(plan, message, InvalidationPolicy.ofRequester(connection.terms())) : null;
        ByteBuf body;
        try {
            call.sending(exposure, bytes);
            if (isOpenEnded(call)) {
                call.noteReply(openEnded.historyOf(message));
            }
            calls.add(call); // before the write, which may fail at once
            body = plan.inlineBody(ctx.alloc(), message);
        } catch (RuntimeException | Error e) { // no memory, for instance
            calls.forget(call);
            if (exposure != null) {
                exposure.withdraw(exposure::releaseSinks);
            }
            throw e;
        }
        RpcRdmaMessage request;
        try {
            count(plan, call.chunks());
            if (reverse) {
                statistics.increment(Counter.REVERSE_CALLS);
            }
            if (exposure == null && inlinePath != null && inlinePath.writeCall(call.xid(), body, call)) {
                return;
            }
            request = connection.terms().version().message(Role.REQUEST, call.xid(), limits.credits(), call.chunks(), body,
                    plan.isLong());
        } catch (RuntimeException | Error e) { // as a write that has failed, since the reference of the message has passed on
            body.release();
            call.tryFailure(e);
            return;
        }
        ctx.write(request, call);
    }

    private void count(RequestPlan plan, ChunkLists chunks) {
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
