package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.Deque;
import java.util.LinkedList;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.transport.RpcCallAbandoned;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.requester.RequesterCallTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.RelayPromise;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.support.WaitingWrite;

/**
 * Holds calls back until the version of the connection is settled (version-two-08, section 7). A client's first call goes out,
 * and finds it out; if it is refused with ERR_VERS and version 1 will do, it is sent again in version 1 with the same XID, and
 * its caller does not notice. A server's calls of the reverse direction all wait for the client's first message. Stands above the
 * handlers of the chunks, so that calls are planned for the version that they are sent in, and leaves the pipeline when its work
 * is done.
 *
 * <p>At most {@value CreditGate#DEFAULT_MAX_WAITING} calls wait; while one does, the channel is not writable. Where the
 * server speaks no version that this side does, all calls fail. All methods run on the event loop.
 */
public final class VersionNegotiationHandler extends ChannelDuplexHandler {

    private static final int MAX_WAITING = CreditGate.DEFAULT_MAX_WAITING;
    /** Of the user-defined writability flags of a channel, the one that is false while a call waits for the version. */
    private static final int WRITABILITY_INDEX = CreditGate.WRITABILITY_INDEX - 2;

    private final NegotiatedConnection connection;
    private final ChunkCounters statistics;
    /** Not an array: where one cannot grow for want of memory, it loses what is in it. */
    private final Deque<HeldCall> held = new LinkedList<>();
    private ChannelHandlerContext ctx;
    /** The first call, kept to be sent again; {@code null} if none is out. */
    private Object first;
    private int firstXid;
    private boolean sendingNext;
    /** Nobody waits for the first call any more, but for what its answer says about the version. */
    private boolean firstAbandoned;
    /** Of the first call, if it is sent again in version 1. */
    private ChannelPromise firstAgain;
    /** Why no call can be made, {@code null} as long as some may. */
    private RpcRdmaException refusal;

    public VersionNegotiationHandler(NegotiatedConnection connection, ChunkCounters statistics) {
        this.connection = connection;
        this.statistics = statistics;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        ByteBuf message = RpcOffsets.message(msg);
        if (message == null || RpcMessageType.peek(message) != RpcMessageType.CALL || connection.isAgreed()) {
            context.write(msg, promise);
        } else if (refusal != null) {
            fail(msg, promise, refusal);
        } else if (!context.channel().isActive()) {
            context.write(msg, promise); // which says why it cannot be
        } else if (!connection.isServer() && first == null && held.isEmpty()) {
            sendFirst(msg, promise);
        } else if (held.size() < MAX_WAITING) {
            hold(msg, promise);
        } else {
            fail(msg, promise, RpcRdmaFailures.overloaded(
                    "%d calls wait for the version of the connection, which is the limit", MAX_WAITING));
        }
    }

    private static void fail(Object msg, ChannelPromise promise, Throwable cause) {
        ReferenceCountUtil.release(msg);
        promise.tryFailure(cause);
    }

    private void sendFirst(Object call, ChannelPromise promise) {
        ChannelPromise write;
        try {
            first = call instanceof RpcMessage rpc ? rpc.retainedDuplicate() : ((ByteBuf) call).retainedDuplicate();
            write = firstWrite(first, promise);
        } catch (RuntimeException | Error e) { // no memory, for instance: the next call has to find the version out
            releaseFirst();
            fail(call, promise, e);
            return;
        }
        firstXid = RpcOffsets.word(RpcOffsets.message(call), 0);
        firstAbandoned = false;
        ctx.write(call, write);
    }

    private ChannelPromise firstWrite(Object copy, ChannelPromise promise) {
        return new RelayPromise(ctx, promise) {
            @Override
            protected void written(Throwable cause) {
                if (cause != null && first == copy) {
                    firstLost(cause);
                }
            }
        };
    }

    private void hold(Object call, ChannelPromise promise) {
        HeldCall waiting = null;
        try {
            waiting = new HeldCall(call, promise);
            held.add(waiting);
            waiting.watchForCancellation();
        } catch (RuntimeException | Error e) { // no memory, for instance
            held.remove(waiting);
            fail(call, promise, e);
        }
        updateWritability();
    }

    private void updateWritability() {
        WaitingWrite.tellWritability(ctx.channel(), WRITABILITY_INDEX, !held.isEmpty());
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ConnectionTerms terms) {
            context.fireUserEventTriggered(event);
            if (terms.agreed()) {
                end();
            }
        } else if (first != null && event instanceof RpcCallFailure failure && failure.xid() == firstXid) {
            firstFailed(failure);
        } else {
            if (event instanceof RpcCallAbandoned abandoned && abandoned.xid() == firstXid) {
                firstAbandoned();
            }
            context.fireUserEventTriggered(event);
        }
    }

    private void firstAbandoned() {
        firstAbandoned |= first != null;
        if (firstAgain != null) {
            firstAgain.cancel(false); // what can still be cancelled, no peer has seen
        }
    }

    private void firstFailed(RpcCallFailure failure) {
        if (!(failure.cause() instanceof RpcRdmaException cause && cause.reason() == RpcRdmaException.Reason.REFUSED
                && cause.error() instanceof RpcRdmaError.Versions range)) {
            ctx.fireUserEventTriggered(failure); // it says nothing about the version, so the next call has to find it out
            sendNext();
        } else if (connection.isFallbackPossible() && range.lowest() <= 1 && range.highest() >= 1) {
            fallBack();
        } else {
            refusal = cause;
            ctx.fireUserEventTriggered(failure);
            releaseFirst();
            failHeld(cause);
        }
    }

    private void fallBack() {
        statistics.increment(Counter.VERSION_FALLBACKS);
        if (!firstAbandoned) {
            sendFirstAgain();
        }
        connection.agree(RpcRdmaVersion.ONE); // ends this handler by the event that it fires
    }

    /** In front of those that wait; its promise is that of the first attempt, which has completed. */
    private void sendFirstAgain() {
        int xid = firstXid;
        firstAgain = ctx.newPromise().addListener(write -> {
            if (!write.isSuccess() && !write.isCancelled()) {
                RequesterCallTable.notSentAgain(ctx, xid, write.cause());
            }
        });
        held.addFirst(new HeldCall(first, firstAgain));
        first = null; // not before it waits, where there is no memory for that
    }

    /** The first call could not be written. */
    private void firstLost(Throwable cause) {
        if (ctx.channel().isActive()) {
            sendNext();
        } else {
            releaseFirst();
            failHeld(cause);
        }
    }

    /** Not by recursion, as each of those that wait may fail at once. */
    private void sendNext() {
        releaseFirst();
        if (sendingNext) {
            return;
        }
        sendingNext = true;
        try {
            for (HeldCall next = held.poll(); next != null; next = first == null ? held.poll() : null) {
                updateWritability();
                sendFirst(next.call, next.promise()); // whatever waits behind it
            }
        } finally {
            sendingNext = false;
        }
        if (first != null) {
            ctx.flush();
        }
    }

    private void releaseFirst() {
        ReferenceCountUtil.release(first);
        first = null;
    }

    /** The version is settled. */
    private void end() {
        releaseFirst();
        boolean flush = !held.isEmpty();
        for (HeldCall next = held.poll(); next != null; next = held.poll()) {
            if (next.promise().isDone()) { // its owner has ended it by itself, so that a write would throw
                ReferenceCountUtil.release(next.call);
            } else {
                ctx.write(next.call, next.promise());
            }
        }
        if (flush) {
            updateWritability();
            ctx.flush();
        }
        if (firstAgain == null) {
            leave();
        } else {
            firstAgain.addListener(written -> leave()); // until then it may be given up
        }
    }

    private void leave() {
        if (!ctx.isRemoved()) {
            ctx.pipeline().remove(this);
        }
    }

    private void failHeld(Throwable cause) {
        boolean none = held.isEmpty();
        for (HeldCall next = held.poll(); next != null; next = held.poll()) {
            fail(next.call, next.promise(), cause);
        }
        if (!none) {
            updateWritability();
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        releaseFirst();
        failHeld(new ClosedChannelException());
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        releaseFirst();
        failHeld(new ClosedChannelException());
    }

    /** A call that waits. */
    private final class HeldCall extends WaitingWrite {

        private final Object call;

        private HeldCall(Object call, ChannelPromise promise) {
            super(ctx, promise);
            this.call = call;
        }

        @Override
        protected void cancelled(Throwable cause) {
            if (held.remove(this)) {
                fail(call, promise(), cause);
                updateWritability();
            }
        }
    }
}
