package org.nettyrdma.codec.oncrpc.transport;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;

/**
 * A {@linkplain ChannelPromise#isVoid void promise} that tells its creator how each write has ended: it calls {@link #written}
 * once for each write. The void promise of Netty does not tell. One such promise can serve many writes, also at the same time,
 * because it keeps nothing of them. So no promise and no listener is needed for each write.
 *
 * <p>Like every void promise it is never done and takes no listener. A handler that wants to listen, or to wait, asks for
 * {@link #unvoid}.
 */
public abstract class CallbackPromise extends WritePromise {

    /**
     * Creates a promise.
     *
     * @param ctx where the writes are made
     */
    protected CallbackPromise(ChannelHandlerContext ctx) {
        super(ctx);
    }

    @Override
    protected final boolean tryEnd(Throwable cause) {
        tellWritten(cause);
        return true;
    }

    @Override
    protected final void endedTooLate(Throwable cause) {
        // Nobody waits any more.
    }

    @Override
    protected final ChannelPromise awaited() {
        throw new IllegalStateException("void promise");
    }

    @Override
    public final boolean isVoid() {
        return true;
    }

    /** A new promise for one write, which tells this one how the write has ended. */
    @Override
    public final ChannelPromise unvoid() {
        return newListenable();
    }

    @Override
    public final boolean setUncancellable() {
        return true;
    }

    @Override
    public final boolean isCancellable() {
        return false;
    }

    @Override
    public final boolean cancel(boolean mayInterruptIfRunning) {
        return false;
    }

    @Override
    public final boolean isCancelled() {
        return false;
    }

    @Override
    public final boolean isDone() {
        return false;
    }

    @Override
    public final boolean isSuccess() {
        return false;
    }

    @Override
    public final Throwable cause() {
        return null;
    }

    @Override
    public final ChannelPromise removeListener(GenericFutureListener<? extends Future<? super Void>> listener) {
        return this;
    }
}
