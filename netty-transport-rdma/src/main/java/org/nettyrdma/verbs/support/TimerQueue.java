package org.nettyrdma.verbs.support;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** What a context does later, by a clock that tests can move. Used by one event loop only. */
public final class TimerQueue {

    /** Fewer cancelled timers are not worth a look. */
    private static final int MIN_CANCELLED = 64;

    /** Something to be done later, unless cancelled. */
    public static final class Timer implements Comparable<Timer> {

        private final TimerQueue queue;
        private final long deadlineNanos;
        private Runnable task;

        private Timer(TimerQueue queue, long deadlineNanos, Runnable task) {
            this.queue = queue;
            this.deadlineNanos = deadlineNanos;
            this.task = task;
        }

        /** Forgets the task. Can be called again, and when the task has run. */
        public void cancel() {
            if (task != null) {
                task = null;
                queue.cancelled();
            }
        }

        @Override
        public int compareTo(Timer other) {
            return Long.signum(deadlineNanos - other.deadlineNanos);
        }
    }

    private final LongSupplier nanoClock;
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();
    private int cancelled;

    /**
     * Creates an empty queue.
     *
     * @param nanoClock as {@link System#nanoTime}
     */
    public TimerQueue(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /**
     * The time by this queue's clock.
     *
     * @return nanoseconds, to be compared by subtraction only
     */
    public long nanoTime() {
        return nanoClock.getAsLong();
    }

    /**
     * Does something later, unless it is cancelled before.
     *
     * @param delayMillis how much later, in milliseconds
     * @param task        what to do, from {@link #run()}
     * @return cancels it
     */
    public Timer schedule(long delayMillis, Runnable task) {
        Timer timer = new Timer(this, nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis), task);
        timers.add(timer);
        return timer;
    }

    /**
     * Cancelled timers stay until they are due, or until they are the greater part: peers that come and go leave no heap of them.
     */
    private void cancelled() {
        if (++cancelled >= MIN_CANCELLED && cancelled > timers.size() / 2) {
            timers.removeIf(timer -> timer.task == null);
            cancelled = 0;
        }
    }

    /**
     * Does what is due.
     *
     * @return how many tasks ran
     */
    public int run() {
        int ran = 0;
        while (!timers.isEmpty() && nanosToNext() == 0) {
            Timer due = timers.remove();
            Runnable task = due.task;
            if (task == null) {
                cancelled--;
            } else {
                due.task = null; // so that it is not counted when it is cancelled from now on
                task.run();
                ran++;
            }
        }
        return ran;
    }

    /**
     * How long it is until something is due.
     *
     * @return nanoseconds: 0 if something is due, {@link Long#MAX_VALUE} if nothing ever will be
     */
    public long nanosToNext() {
        Timer first = timers.peek();
        return first == null ? Long.MAX_VALUE : Math.max(0, first.deadlineNanos - nanoTime());
    }

    /**
     * How long a context may sleep.
     *
     * @param timeoutNanos as it was told, negative for no limit
     * @return nanoseconds until then or until something is due, {@link Long#MAX_VALUE} for no limit
     */
    public long limitNanos(long timeoutNanos) {
        return Math.min(timeoutNanos < 0 ? Long.MAX_VALUE : timeoutNanos, nanosToNext());
    }

    /**
     * How many timers are kept, those included that were cancelled.
     *
     * @return their number
     */
    public int size() {
        return timers.size();
    }
}
