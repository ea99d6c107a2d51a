package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.NotYetConnectedException;
import java.util.function.Supplier;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/**
 * Sends the calls of one requester: decides how each travels, opens the memory that call and reply need to the peer, and
 * writes an {@link RpcRdmaMessage}. A call that needs memory waits until it is there; calls that need none may overtake it.
 * Event loop only.
 */
final class CallSender {

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final PeerPolicy policy;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final Supplier<ConnectionTerms> terms;
    private final RequesterCalls calls;

    /**
     * @param terms what holds for the connection; asked only while it stands
     */
    CallSender(ChannelHandlerContext ctx, RpcRdmaLimits limits, PeerPolicy policy, UpperLayerBindings bindings,
               ChunkStatistics statistics, Supplier<ConnectionTerms> terms, RequesterCalls calls) {
        this.ctx = ctx;
        this.limits = limits;
        this.policy = policy;
        this.bindings = bindings;
        this.statistics = statistics;
        this.terms = terms;
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
            CallLayout layout = layoutOf(msg, call);
            DataItems.requireWithin(layout.items(), call.readableBytes());
            CallPlan plan = CallPlan.of(call.readableBytes(), layout.items(), layout.replySpace(), terms.get().threshold(),
                    policy, limits);
            if (plan.hasChunks()) {
                calls.admit(new WaitingCall(this, call, plan, layout.replySpace(), promise));
            } else {
                send(call, plan, layout.replySpace(), promise);
            }
        } catch (Exception | Error e) {
            call.release();
            promise.tryFailure(e);
        }
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
            send(waited.message(), waited.plan(), waited.replySpace(), waited.promise());
        } catch (Exception | Error e) {
            waited.message().release();
            waited.promise().tryFailure(e);
            calls.release(waited.bytes());
        }
    }

    private void send(ByteBuf message, CallPlan plan, ReplySpace replySpace, ChannelPromise promise) throws IOException {
        CallExposure exposure = plan.hasChunks()
                ? CallExposure.open((RdmaChannel) ctx.channel(), statistics, policy, plan, message) : null;
        RequesterCall call = new RequesterCall(calls, message, exposure, plan.exposedBytes(message.readableBytes()),
                plan.route(), replySpace);
        RpcRdmaVersion version = terms.get().version();
        RpcRdmaHeader header;
        ByteBuf body = message;
        if (plan.isLong()) {
            header = version.noMsg(call.xid(), call.chunks());
            body = Unpooled.EMPTY_BUFFER;
            message.release();
        } else {
            header = version.msg(call.xid(), call.chunks());
            if (!plan.readItems().isEmpty()) {
                body = DataItems.takeOut(ctx.alloc(), message, plan.readItems());
            }
        }
        count(plan, call.chunks());
        calls.add(call); // before the write, which may fail at once
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
}
