package org.nettyrdma.codec.oncrpc.client;

import io.netty.channel.Channel;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The event loop that the state of a client belongs to, as other threads bring it what has become of connections and calls. What
 * it does not take at once, for want of memory in its queue for instance, is brought again; at the latest it is found with the
 * next call of the client, or when the loop has ended.
 */
final class HomeLoop {

    private static final Logger LOGGER = LoggerFactory.getLogger(HomeLoop.class);

    private static final long RETRY_MILLIS = 10;

    private final EventExecutor executor;
    private final Queue<Runnable> left = new ConcurrentLinkedQueue<>();

    HomeLoop(EventExecutor executor) {
        this.executor = executor;
    }

    EventExecutor executor() {
        return executor;
    }

    /**
     * Runs a task there, now if this is the loop. Any thread.
     *
     * @param channel whose event loop tries again
     * @return {@code false} if the loop has ended
     */
    boolean run(Channel channel, Runnable task) {
        if (executor.inEventLoop()) {
            task.run();
            return true;
        }
        try {
            executor.execute(task);
        } catch (RuntimeException | Error e) {
            if (e instanceof RejectedExecutionException && executor.isShutdown()) {
                return false;
            }
            leave(task);
            PeerLog.fault(LOGGER, channel, "the event loop of the client is told later, as it has not taken this", e);
            channel.eventLoop().schedule(() -> bringLeft(channel), RETRY_MILLIS, TimeUnit.MILLISECONDS);
        }
        return true;
    }

    private void bringLeft(Channel channel) {
        if (!run(channel, this::takeLeft)) {
            executor.terminationFuture().addListener(ended -> takeLeft()); // results are among it, which somebody has to release
        }
    }

    /** Leaves a task to the next call of the client. Any thread. */
    void leave(Runnable task) {
        left.add(task);
    }

    /** Cancels a timer of this loop, where it has not run. On the loop, or once it has ended. */
    static void cancel(ScheduledFuture<?> timer) {
        try {
            timer.cancel(false);
        } catch (RejectedExecutionException e) {
            LOGGER.debug("the event loop has ended, and its last tasks have left it a timer", e);
        }
    }

    /** Runs what was left. On this loop, or behind the close of the client once the loop has ended. */
    void takeLeft() {
        for (Runnable task = left.poll(); task != null; task = left.poll()) {
            task.run();
        }
    }
}
