package org.nettyrdma.channel;

import io.netty.channel.Channel;
import java.util.concurrent.RejectedExecutionException;

/** An event loop as its {@link RdmaIo} sees it, which calls this on the thread of the event loop. */
public interface RdmaIoHost {

    /**
     * Whether the event loop has nothing to do itself.
     *
     * @return {@code false} if there are tasks
     */
    boolean canBlock();

    /**
     * When the event loop has something to do itself, on a clock of its own.
     *
     * @return nanoseconds, or -1 for nothing
     */
    long deadlineNanos();

    /**
     * The time until the deadline; asked for only if there is one.
     *
     * @return nanoseconds, at least 0
     */
    long delayNanos();

    /**
     * A channel is registered with the event loop.
     *
     * @param channel the channel
     * @return what to do when it is not any more
     * @throws RejectedExecutionException if the event loop cannot take it
     */
    Runnable added(Channel channel);
}
