package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.GenericFutureListener;
import java.util.function.LongSupplier;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.codec.oncrpc.transport.RpcCallAbandoned;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.handler.credit.support.XidMap;

/**
 * Measures the calls of one connection, those that it makes and those that it serves, by what passes. It stands right in front
 * of {@link RpcServerHandler} and {@link RpcClient}, and leaves all messages as they are.
 */
final class RpcCallTimer extends ChannelDuplexHandler {

    /** Where the fields of a call and of an accepted reply are (RFC 5531, section 9). */
    private static final int PROGRAM = 12;
    private static final int VERSION = 16;
    private static final int PROCEDURE = 20;
    private static final int CALL_BYTES = 24;
    private static final int REPLY_STATUS = 8;
    private static final int VERIFIER_LENGTH = 16;
    private static final int VERIFIER = 20;

    /** {@code null} if only a flight recording wants to know. */
    private final RpcCallListener listener;
    private final LongSupplier nanoClock;
    /** A peer cannot make these more than the calls that are in progress, which credits or memory bound. */
    private final XidMap<Call> made = new XidMap<>();
    private final XidMap<Call> served = new XidMap<>();
    private Channel channel;

    RpcCallTimer(RpcCallListener listener, LongSupplier nanoClock) {
        this.listener = listener;
        this.nanoClock = nanoClock;
    }

    /** A call that has not ended; as a listener, it is told of its write. */
    private final class Call implements GenericFutureListener<ChannelFuture> {

        private final int xid;
        private final int program;
        private final int version;
        private final int procedure;
        private final int bytes;
        private final long beginNanos;
        private long queuedNanos = -1;
        /** {@code null} where nobody records. */
        private final RpcCallEvent event;

        private Call(ByteBuf message) {
            int start = message.readerIndex();
            xid = message.getInt(start);
            program = message.getInt(start + PROGRAM);
            version = message.getInt(start + VERSION);
            procedure = message.getInt(start + PROCEDURE);
            bytes = message.readableBytes();
            beginNanos = nanoClock.getAsLong();
            event = RpcCallEvent.begun();
        }

        @Override
        public void operationComplete(ChannelFuture written) {
            if (written.isSuccess()) {
                queuedNanos = listener == null ? 0 : nanoClock.getAsLong() - beginNanos;
            } else if (made.get(xid) == this) {
                made.remove(xid);
                end(this, Side.CLIENT, written.isCancelled() ? Outcome.ABANDONED : Outcome.FAILED, 0);
            }
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
        if (msg instanceof ByteBuf message) {
            writing(message, promise);
        } else if (msg instanceof RpcMessage message) {
            writing(message.content(), promise);
        }
        ctx.write(msg, promise);
    }

    private void writing(ByteBuf message, ChannelPromise promise) {
        switch (RpcMessageType.peek(message)) {
            case CALL -> {
                Call call = enter(made, Side.CLIENT, message);
                if (call != null && !promise.isVoid()) {
                    promise.addListener(call);
                }
            }
            case REPLY -> leave(served, Side.SERVER, message);
            case UNKNOWN -> { }
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
        if (msg instanceof ByteBuf message) {
            switch (RpcMessageType.peek(message)) {
                case CALL -> enter(served, Side.SERVER, message);
                case REPLY -> leave(made, Side.CLIENT, message);
                case UNKNOWN -> { }
            }
        }
        ctx.fireChannelRead(msg);
    }

    /** Returns {@code null} if the message is too short for a call. The server answers a call whose XID is in use already. */
    private Call enter(XidMap<Call> calls, Side side, ByteBuf message) {
        if (message.readableBytes() < CALL_BYTES) {
            return null;
        }
        Call call = new Call(message);
        if (calls.put(call.xid, call) == null && listener != null) {
            listener.begun(side);
        }
        return call;
    }

    private void leave(XidMap<Call> calls, Side side, ByteBuf reply) {
        Call call = calls.remove(reply.getInt(reply.readerIndex()));
        if (call != null) {
            end(call, side, hasResults(reply) ? Outcome.SUCCESS : Outcome.ERROR, reply.readableBytes());
        }
    }

    private static boolean hasResults(ByteBuf reply) {
        int start = reply.readerIndex();
        int length = reply.readableBytes();
        if (length < VERIFIER || reply.getInt(start + REPLY_STATUS) != 0) {
            return false;
        }
        int verifierBytes = reply.getInt(start + VERIFIER_LENGTH);
        if (verifierBytes < 0 || verifierBytes > OpaqueAuth.MAX_BODY_BYTES) {
            return false;
        }
        int status = VERIFIER + Xdr.paddedLength(verifierBytes);
        return length >= status + Integer.BYTES && reply.getInt(start + status) == AcceptStatus.SUCCESS.code();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof RpcCallAbandoned abandoned) {
            leave(abandoned.xid(), Outcome.ABANDONED);
        } else if (event instanceof RpcCallFailure failure) {
            leave(failure.xid(), Outcome.FAILED);
        }
        ctx.fireUserEventTriggered(event);
    }

    private void leave(int xid, Outcome outcome) {
        Call call = made.remove(xid);
        if (call != null) {
            end(call, Side.CLIENT, outcome, 0);
        }
    }

    private void end(Call call, Side side, Outcome outcome, int replyBytes) {
        if (listener != null) {
            long elapsedNanos = nanoClock.getAsLong() - call.beginNanos;
            // A reply may be here before the transport has told that it has taken the call.
            long queuedNanos = side == Side.SERVER ? 0 : call.queuedNanos >= 0 ? call.queuedNanos
                    : replyBytes > 0 ? 0 : elapsedNanos;
            listener.ended(side, call.program, call.version, call.procedure, outcome, elapsedNanos, queuedNanos, call.bytes,
                    replyBytes);
        }
        RpcCallEvent event = call.event;
        if (event != null && event.shouldCommit()) {
            event.side = side.name();
            event.peer = String.valueOf(channel.remoteAddress());
            event.xid = call.xid;
            event.program = call.program;
            event.version = call.version;
            event.procedure = call.procedure;
            event.outcome = outcome.name();
            event.commit();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        lose();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        lose();
    }

    private void lose() {
        lose(made, Side.CLIENT);
        lose(served, Side.SERVER);
    }

    private void lose(XidMap<Call> calls, Side side) {
        for (Call call : calls.values()) {
            calls.remove(call.xid);
            end(call, side, Outcome.LOST, 0);
        }
    }
}
