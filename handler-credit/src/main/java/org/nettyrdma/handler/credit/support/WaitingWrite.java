package org.nettyrdma.handler.credit.support;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.EventExecutor;

/** A write that a handler holds back, and that whoever has asked for it may cancel meanwhile. */
public abstract class WaitingWrite implements ChannelFutureListener {

    private final ChannelHandlerContext ctx;
    private final ChannelPromise promise;

    /**
     * @param ctx     of the handler
     * @param promise of the write; it may be that of another handler, and only stand for the one that is cancelled
     */
    protected WaitingWrite(ChannelHandlerContext ctx, ChannelPromise promise) {
        this.ctx = ctx;
        this.promise = promise;
    }

    /**
     * Makes a channel unwritable while writes wait, and writable for this reason afterwards. Nothing happens once it is closed.
     *
     * @param channel on whose event loop this runs
     * @param index   of the user-defined writability flag, another one for each handler that lets writes wait
     * @param waiting whether some do
     */
    public static void tellWritability(Channel channel, int index, boolean waiting) {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer();
        if (outbound != null) { // null once the channel is closed
            outbound.setUserDefinedWritability(index, !waiting);
        }
    }

    /**
     * The handler that holds the write back.
     *
     * @return its context
     */
    protected final ChannelHandlerContext context() {
        return ctx;
    }

    /**
     * The promise of the write.
     *
     * @return that of the constructor
     */
    public final ChannelPromise promise() {
        return promise;
    }

    /** To be called when it waits. */
    public final void watchForCancellation() {
        if (!promise.isVoid()) { // a void promise cannot be cancelled, and takes no listener
            promise.addListener(this);
        }
    }

    /** Listeners run on the executor of the promise, whichever that is. */
    @Override
    public final void operationComplete(ChannelFuture write) {
        if (!write.isCancelled()) {
            return;
        }
        EventExecutor executor = ctx.executor();
        if (executor.inEventLoop()) {
            cancelled(write.cause());
        } else {
            executor.execute(() -> cancelled(write.cause()));
        }
    }

    /**
     * The write was cancelled, perhaps after it has ceased to wait. On the executor of the handler.
     *
     * @param cause why
     */
    protected abstract void cancelled(Throwable cause);
}
