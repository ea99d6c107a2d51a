package org.nettyrdma.codec.oncrpc.transport;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.AbstractFuture;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GenericFutureListener;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A promise of writes. On the executor of its handler it is told how each write has ended, whichever thread ends the write.
 * Another promise, if there is one, serves callers that listen or wait.
 */
public abstract class WritePromise extends AbstractFuture<Void> implements ChannelPromise {

    private static final Logger LOGGER = LoggerFactory.getLogger(WritePromise.class);

    private final ChannelHandlerContext ctx;

    /**
     * Creates a promise.
     *
     * @param ctx where the writes are made
     */
    protected WritePromise(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /**
     * Where the writes are made.
     *
     * @return the context that this was created with
     */
    protected final ChannelHandlerContext context() {
        return ctx;
    }

    /**
     * A write has ended. On the executor of the context. An exception of this method is logged and not passed on, as with a
     * listener.
     *
     * @param cause why it has failed, or was cancelled; {@code null} if it has succeeded
     */
    protected abstract void written(Throwable cause);

    /**
     * Takes up that a write has ended, by {@link #tellWritten}. On the executor of the context.
     *
     * @param cause why it has failed, {@code null} if it has succeeded
     * @return whether it had not ended before
     */
    protected abstract boolean tryEnd(Throwable cause);

    /**
     * A write has ended, and {@link #written} cannot be called: the executor of the context was shut down, or does not take the
     * task, for want of memory for instance, and the channel is closed after this. Any thread.
     *
     * @param cause why it has failed, {@code null} if it has succeeded
     */
    protected abstract void endedTooLate(Throwable cause);

    /**
     * The promise to listen to and to wait for.
     *
     * @return another promise
     * @throws IllegalStateException if nobody may listen or wait
     */
    protected abstract ChannelPromise awaited();

    /**
     * Calls {@link #written}.
     *
     * @param cause passed on
     */
    protected final void tellWritten(Throwable cause) {
        try {
            written(cause);
        } catch (Throwable t) {
            PeerLog.fault(LOGGER, ctx.channel(), "the end of a write was not taken up", t);
        }
    }

    /**
     * Ends a write. Any thread.
     *
     * @param cause why it has failed, {@code null} if it has succeeded
     * @return {@code false} if it is known to have ended before
     */
    protected final boolean end(Throwable cause) {
        EventExecutor executor = ctx.executor();
        if (executor.inEventLoop()) {
            return tryEnd(cause);
        }
        try {
            executor.execute(() -> tryEnd(cause));
        } catch (RuntimeException | Error e) {
            lost(cause, e);
        }
        return true;
    }

    /**
     * Ends another promise as the write has ended.
     *
     * @param other may have ended before
     * @param cause why the write has failed, {@code null} if it has succeeded
     */
    protected static void end(ChannelPromise other, Throwable cause) {
        if (cause == null) {
            other.trySuccess();
        } else {
            other.tryFailure(cause);
        }
    }

    /** What {@link #written} would have done is left to the end of the connection. */
    private void lost(Throwable cause, Throwable refusal) {
        endedTooLate(cause);
        if (refusal instanceof RejectedExecutionException && ctx.executor().isShutdown()) {
            return;
        }
        PeerLog.fault(LOGGER, ctx.channel(), "closing, the executor has not taken the end of a write", refusal);
        ctx.channel().close();
    }

    /**
     * Makes a new promise for one write, which tells this one how the write has ended.
     *
     * @return a new promise, which is not void
     */
    protected final ChannelPromise newListenable() {
        return new DefaultChannelPromise(ctx.channel(), ctx.executor()).addListener(write -> end(write.cause()));
    }

    @Override
    public final Channel channel() {
        return ctx.channel();
    }

    @Override
    public final boolean trySuccess() {
        return end(null);
    }

    @Override
    public final boolean trySuccess(Void result) {
        return end(null);
    }

    @Override
    public final ChannelPromise setSuccess() {
        return requireFirst(end(null));
    }

    @Override
    public final ChannelPromise setSuccess(Void result) {
        return setSuccess();
    }

    @Override
    public final boolean tryFailure(Throwable cause) {
        return end(cause);
    }

    @Override
    public final ChannelPromise setFailure(Throwable cause) {
        return requireFirst(end(cause));
    }

    private ChannelPromise requireFirst(boolean first) {
        if (!first) {
            throw new IllegalStateException("the write has ended before");
        }
        return this;
    }

    @Override
    public final Void getNow() {
        return null;
    }

    @Override
    public final ChannelPromise addListener(GenericFutureListener<? extends Future<? super Void>> listener) {
        awaited().addListener(listener);
        return this;
    }

    @Override
    @SafeVarargs
    public final ChannelPromise addListeners(GenericFutureListener<? extends Future<? super Void>>... listeners) {
        for (GenericFutureListener<? extends Future<? super Void>> listener : listeners) {
            addListener(listener);
        }
        return this;
    }

    @Override
    @SafeVarargs
    public final ChannelPromise removeListeners(GenericFutureListener<? extends Future<? super Void>>... listeners) {
        for (GenericFutureListener<? extends Future<? super Void>> listener : listeners) {
            removeListener(listener);
        }
        return this;
    }

    @Override
    public final ChannelPromise sync() throws InterruptedException {
        awaited().sync();
        return this;
    }

    @Override
    public final ChannelPromise syncUninterruptibly() {
        awaited().syncUninterruptibly();
        return this;
    }

    @Override
    public final ChannelPromise await() throws InterruptedException {
        awaited().await();
        return this;
    }

    @Override
    public final ChannelPromise awaitUninterruptibly() {
        awaited().awaitUninterruptibly();
        return this;
    }

    @Override
    public final boolean await(long timeout, TimeUnit unit) throws InterruptedException {
        return awaited().await(timeout, unit);
    }

    @Override
    public final boolean await(long timeoutMillis) throws InterruptedException {
        return awaited().await(timeoutMillis);
    }

    @Override
    public final boolean awaitUninterruptibly(long timeout, TimeUnit unit) {
        return awaited().awaitUninterruptibly(timeout, unit);
    }

    @Override
    public final boolean awaitUninterruptibly(long timeoutMillis) {
        return awaited().awaitUninterruptibly(timeoutMillis);
    }
}
