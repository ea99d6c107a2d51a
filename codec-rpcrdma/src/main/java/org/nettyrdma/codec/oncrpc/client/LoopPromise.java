package org.nettyrdma.codec.oncrpc.client;

import io.netty.util.concurrent.BlockingOperationException;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;

/**
 * A promise whose listeners run on an event loop as long as that runs anything. The end of the loop itself completes such
 * promises too: then their listeners run on the thread that does so, or nobody would ever tell them.
 */
class LoopPromise<V> extends DefaultPromise<V> {

    LoopPromise(EventExecutor loop) {
        super(loop);
    }

    @Override
    protected final EventExecutor executor() {
        EventExecutor loop = super.executor();
        return loop.isShutdown() ? ImmediateEventExecutor.INSTANCE : loop;
    }

    /** Every thread is within an {@link ImmediateEventExecutor}, but none of them is what this waits for. */
    @Override
    protected final void checkDeadLock() {
        if (super.executor().inEventLoop()) {
            throw new BlockingOperationException(toString());
        }
    }
}
