package org.nettyrdma.channel;

import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;

/** Succeeds when nothing of a channel is left, also of one that has never had an event loop, as one that was rejected. */
final class ReleasePromise extends DefaultChannelPromise {

    private final QueuePairConnection connection;

    ReleasePromise(QueuePairChannel channel) {
        super(channel);
        connection = channel.connection;
        setUncancellable();
    }

    @Override
    protected EventExecutor executor() {
        return connection.isOpened() ? super.executor() : ImmediateEventExecutor.INSTANCE;
    }
}
