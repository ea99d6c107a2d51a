package org.nettyrdma.codec.oncrpc;

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

/**
 * A {@linkplain ChannelPromise#isVoid void promise} that tells whoever made it how each write has ended. Unlike Netty's it says
 * so, and unlike a promise and its listener it is not needed anew for each write: one may serve many writes, at the same time
 * too, as it knows nothing of them.
 *
 * <p>Like every void promise it is never done and takes no listener. A handler that wants to listen, or to wait, asks for
 * {@link #unvoid}.
 */
public abstract class CallbackPromise extends AbstractFuture<Void> implements ChannelPromise {

    private final ChannelHandlerContext ctx;

    /**
     * Creates a promise.
     *
     * @param ctx where the writes are made
     */
    protected CallbackPromise(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /**
     * A write has ended. Called once for each write, on the executor of the context.
     *
     * @param cause why it has failed, {@code null} if it has succeeded
     */
    protected abstract void written(Throwable cause);

    /**
     * Where the writes are made.
     *
     * @return the context that this was created with
     */
    protected final ChannelHandlerContext context() {
        return ctx;
    }

    private boolean end(Throwable cause) {
        EventExecutor executor = ctx.executor();
        if (executor.inEventLoop()) {
            written(cause);
            return true;
        }
        try {
            executor.execute(() -> written(cause));
        } catch (RejectedExecutionException e) {
            return false; // the executor has shut down, so that nobody waits any more
        }
        return true;
    }

    @Override
    public final boolean isVoid() {
        return true;
    }

    /** A promise of its own for one write, which tells this one how the write has ended. */
    @Override
    public final ChannelPromise unvoid() {
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
        end(null);
        return this;
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
        end(cause);
        return this;
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
    public final Void getNow() {
        return null;
    }

    private static IllegalStateException isVoidPromise() {
        return new IllegalStateException("void promise");
    }

    @Override
    public final ChannelPromise addListener(GenericFutureListener<? extends Future<? super Void>> listener) {
        throw isVoidPromise();
    }

    @Override
    @SafeVarargs
    public final ChannelPromise addListeners(GenericFutureListener<? extends Future<? super Void>>... listeners) {
        throw isVoidPromise();
    }

    @Override
    public final ChannelPromise removeListener(GenericFutureListener<? extends Future<? super Void>> listener) {
        return this;
    }

    @Override
    @SafeVarargs
    public final ChannelPromise removeListeners(GenericFutureListener<? extends Future<? super Void>>... listeners) {
        return this;
    }

    @Override
    public final ChannelPromise sync() {
        throw isVoidPromise();
    }

    @Override
    public final ChannelPromise syncUninterruptibly() {
        throw isVoidPromise();
    }

    @Override
    public final ChannelPromise await() {
        throw isVoidPromise();
    }

    @Override
    public final ChannelPromise awaitUninterruptibly() {
        throw isVoidPromise();
    }

    @Override
    public final boolean await(long timeout, TimeUnit unit) {
        throw isVoidPromise();
    }

    @Override
    public final boolean await(long timeoutMillis) {
        throw isVoidPromise();
    }

    @Override
    public final boolean awaitUninterruptibly(long timeout, TimeUnit unit) {
        throw isVoidPromise();
    }

    @Override
    public final boolean awaitUninterruptibly(long timeoutMillis) {
        throw isVoidPromise();
    }
}
