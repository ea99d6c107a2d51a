package org.nettyrdma.channel;

import io.netty.channel.Channel;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.util.function.BooleanSupplier;

/** Succeeds when nothing of a channel is left, also of one that has never had an event loop, as one that was rejected. */
final class ReleasePromise extends DefaultChannelPromise {

    private final BooleanSupplier hasLoop;

    ReleasePromise(Channel channel, BooleanSupplier hasLoop) {
        super(channel);
        this.hasLoop = hasLoop;
        setUncancellable();
    }

    @Override
    protected EventExecutor executor() {
        return hasLoop.getAsBoolean() ? super.executor() : ImmediateEventExecutor.INSTANCE;
    }
}
