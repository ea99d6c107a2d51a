package org.nettyrdma.codec.oncrpc.transport;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.TransferLimits;

/**
 * Watches whether a peer keeps its transfers moving, in both directions, as {@link TransferLimits} demand: the transfers that had
 * begun a time-out ago have ended since, or enough bytes have moved. Single completions now and then are not enough. There is a
 * timer only while transfers are under way. Event loop only.
 */
public final class ProgressWatch {

    /** What is watched. The numbers never fall. */
    public interface Source {

        /**
         * Transfers that have begun; they end in this order.
         *
         * @return their number so far
         */
        long begun();

        /**
         * Transfers that have ended.
         *
         * @return their number so far, at most {@link #begun()}
         */
        long ended();

        /**
         * What has moved.
         *
         * @return bytes so far
         */
        long bytes();

        /**
         * Whether this side holds the transfers up. Such time does not count.
         *
         * @return by default {@code false}
         */
        default boolean isHeldUp() {
            return false;
        }
    }

    private final EventExecutor executor;
    private final TransferLimits limits;
    private final ProgressSamples samples;
    private final Runnable stalled;
    private ScheduledFuture<?> timer;

    /**
     * Creates a watch that does nothing yet.
     *
     * @param executor the event loop
     * @param limits   what is demanded
     * @param source   what is watched
     * @param stalled  runs when the peer makes too little progress; then the watch has stopped
     */
    public ProgressWatch(EventExecutor executor, TransferLimits limits, Source source, Runnable stalled) {
        this.executor = executor;
        this.limits = limits;
        this.samples = new ProgressSamples(source, limits);
        this.stalled = stalled;
    }

    /** Starts to watch, until all transfers have ended. Does nothing if none is under way or the watch runs already. */
    public void begin() {
        if (timer == null && samples.isUnderWay()) {
            samples.restart();
            look();
        }
    }

    private void armTimer() {
        timer = executor.schedule(this::check,
                TimeUnit.MILLISECONDS.toNanos(limits.timeoutMillis()) / ProgressSamples.PER_TIMEOUT, TimeUnit.NANOSECONDS);
    }

    private void check() {
        timer = null;
        if (samples.isUnderWay()) { // else the next one arms the timer again
            look();
        }
    }

    private void look() {
        if (samples.look()) {
            stalled.run();
        } else {
            armTimer();
        }
    }

    /** Stops watching. */
    public void stop() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
