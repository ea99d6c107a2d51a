package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.util.concurrent.CancellationException;
import java.util.concurrent.RejectedExecutionException;
import org.nettyrdma.codec.oncrpc.transport.WritePromise;

/**
 * The write of a call, which tells the client where it fails. Its state belongs to the event loop, so that a write that nobody
 * else waits for takes no atomic instruction; a {@link DefaultChannelPromise} takes four. Only the event loop can cancel it.
 *
 * <p>Where the client has an executor of its own, which it may over TCP, the codec below it works on the channel's event loop:
 * that thread begins the write by {@link #setUncancellable} and hands its end over as a task. So begin and cancellation exclude
 * each other on any two threads; all other questions are answered rightly on the executor of the client only.
 */
final class PendingCallWrite extends WritePromise {

    private final PendingCall call;
    private boolean begun;
    private boolean cancelled;
    private boolean ended;
    private Throwable failure;
    /** For who listens or waits; {@code null} if nobody does. */
    private ChannelPromise followed;
    // If somebody measures the call:
    private int callBytes;
    /** -1 before the transport has taken the call. In microseconds, so that no call takes more memory for it. */
    private int queuedMicros = -1;

    PendingCallWrite(ChannelHandlerContext ctx, PendingCall call) {
        super(ctx);
        this.call = call;
    }

    /** The call is measured. */
    void measure(int bytes) {
        callBytes = bytes;
    }

    int callBytes() {
        return callBytes;
    }

    void queued(long nanos) {
        queuedMicros = (int) Math.min((nanos + 500) / 1000, Integer.MAX_VALUE);
    }

    /** Negative before the transport has taken the call. */
    long queuedNanos() {
        return 1000L * queuedMicros;
    }

    /** Whether any of the call can have left: what can still be cancelled, no peer has seen. */
    boolean hasBegun() {
        return begun || isSuccess();
    }

    @Override
    protected void written(Throwable cause) {
        if (cause != null) {
            call.client().writeFailed(call, cause);
        }
    }

    @Override
    protected boolean tryEnd(Throwable cause) {
        if (ended) {
            return false;
        }
        ended = true;
        failure = cause;
        if (followed != null) {
            end(followed, cause);
        }
        if (cause == null) {
            call.client().writeTaken(call);
        }
        tellWritten(cause);
        return true;
    }

    @Override
    protected void endedTooLate(Throwable cause) {
        // The event loop has shut down, and with it the table of calls; or the end of the connection ends the call.
    }

    @Override
    protected ChannelPromise awaited() {
        if (!context().executor().inEventLoop()) {
            return awaitedElsewhere();
        }
        if (followed == null) {
            followed = new DefaultChannelPromise(channel(), context().executor());
            if (ended) {
                end(followed, failure);
            }
        }
        return followed;
    }

    /** For another thread, which must not see the state, a promise of its own. */
    private ChannelPromise awaitedElsewhere() {
        ChannelPromise promise = new DefaultChannelPromise(channel(), context().executor());
        try {
            context().executor().execute(() -> awaited().addListener(write -> end(promise, write.cause())));
        } catch (RejectedExecutionException e) {
            promise.tryFailure(e);
        }
        return promise;
    }

    @Override
    public boolean setUncancellable() {
        return context().executor().inEventLoop() ? begin() : beginElsewhere();
    }

    private boolean begin() {
        begun |= !isCancelled();
        return !isCancelled();
    }

    private synchronized boolean beginElsewhere() {
        return begin();
    }

    @Override
    public boolean isCancellable() {
        return !ended && !begun;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        return context().executor().inEventLoop() && mayCancel() && tryEnd(new CancellationException());
    }

    private synchronized boolean mayCancel() {
        if (!isCancellable()) {
            return false;
        }
        cancelled = true;
        return true;
    }

    @Override
    public boolean isVoid() {
        return false;
    }

    @Override
    public ChannelPromise unvoid() {
        return this;
    }

    @Override
    public boolean isCancelled() {
        return cancelled || failure instanceof CancellationException;
    }

    @Override
    public boolean isDone() {
        return ended;
    }

    @Override
    public boolean isSuccess() {
        return ended && failure == null;
    }

    @Override
    public Throwable cause() {
        return failure;
    }

    @Override
    public ChannelPromise removeListener(GenericFutureListener<? extends Future<? super Void>> listener) {
        awaited().removeListener(listener);
        return this;
    }
}
