package org.nettyrdma.channel;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has memory that is free given back to the system, if it still is after a while. The thread that does so is none of an event
 * loop, since the memory of the last channel is given back after its loop has ended. It is there while there is something to do,
 * and keeps no JVM from its end.
 *
 * <p>Safe for use from any thread.
 */
final class TrimTimer implements Runnable {

    /** From when a channel ends until its memory is looked at, and again until it is given back. */
    private static final long PERIOD_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long IDLE_SECONDS = 1;

    private static final Logger LOGGER = LoggerFactory.getLogger(TrimTimer.class);
    private static final ScheduledThreadPoolExecutor EXECUTOR = newExecutor();

    private final BooleanSupplier trim;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private volatile boolean askedAgain;
    private Future<?> task; // while scheduled
    private volatile long periodNanos = PERIOD_NANOS;

    /**
     * @param trim gives back what was not used since the last call but one; {@code false} if another call would give back no more
     */
    TrimTimer(BooleanSupplier trim) {
        this.trim = trim;
    }

    private static ScheduledThreadPoolExecutor newExecutor() {
        DefaultThreadFactory daemons = new DefaultThreadFactory("rdma-memory", true);
        var executor = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = daemons.newThread(task);
            thread.setContextClassLoader(null); // it serves all who use this class, and must keep none of them
            return thread;
        });
        executor.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
        executor.allowCoreThreadTimeOut(true);
        return executor;
    }

    /** Visible for tests, which cannot wait for long. */
    void setPeriod(long period, TimeUnit unit) {
        periodNanos = unit.toNanos(period);
    }

    /** There is or will soon be free memory. */
    void trimLater() {
        askedAgain = true; // first: what is still in use when the trim looks is found by another one
        schedule();
    }

    private void schedule() {
        if (scheduled.get() || !scheduled.compareAndSet(false, true)) {
            return;
        }
        askedAgain = false;
        synchronized (this) { // which the first run needs, too
            try {
                task = EXECUTOR.scheduleWithFixedDelay(this, periodNanos, periodNanos, TimeUnit.NANOSECONDS);
            } catch (OutOfMemoryError e) { // there can be no thread; who closes a channel is not to suffer from that
                scheduled.set(false);
                LOGGER.debug("Unused memory is given back when another channel ends", e);
            }
        }
    }

    /** Whatever fails, it goes on or can be scheduled anew: to go on takes no memory. */
    @Override
    public void run() {
        if (!scheduled.get()) { // it was in the queue already when there could be no thread: nobody else would end it
            throw new CancellationException();
        }
        boolean again = false;
        try {
            again = trim.getAsBoolean();
        } catch (OutOfMemoryError e) { // perhaps no other channel ends
            again = true;
        } catch (RuntimeException | Error e) { // of a provider
            tell(e);
        }
        if (askedAgain) {
            askedAgain = false;
        } else if (!again) {
            end();
        }
    }

    private static void tell(Throwable failure) {
        try {
            LOGGER.error("Unused memory cannot be given back", failure);
        } catch (OutOfMemoryError e) {
            // One line less.
        }
    }

    private synchronized void end() {
        task.cancel(false);
        scheduled.set(false);
        if (askedAgain) { // meanwhile
            schedule();
        }
    }
}
