package org.nettyrdma.verbs.support;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What a context does later, by a clock that tests can move. Used by one event loop only.
 */
public final class TimerQueue {

    /**
     * Something to be done later, unless cancelled.
     */
    public static final class Timer implements Comparable<Timer> {

        private final long deadlineNanos;
        private Runnable task;

        private Timer(long deadlineNanos, Runnable task) {
            this.deadlineNanos = deadlineNanos;
            this.task = task;
        }

        /**
         * Forgets the task. Can be called again, and when the task has run.
         */
        public void cancel() {
            task = null;
        }

        @Override
        public int compareTo(Timer other) {
            return Long.signum(deadlineNanos - other.deadlineNanos);
        }
    }

    private final LongSupplier nanoClock;
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();

    /**
     * Creates an empty queue.
     *
     * @param nanoClock as {@link System#nanoTime}
     */
    public TimerQueue(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    /**
     * Does something later, unless it is cancelled before.
     *
     * @param delayMillis how much later, in milliseconds
     * @param task        what to do, from {@link #run()}
     * @return cancels it
     */
    public Timer schedule(long delayMillis, Runnable task) {
        Timer timer = new Timer(nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(delayMillis), task);
        timers.add(timer);
        return timer;
    }

    /**
     * Does what is due.
     *
     * @return how many tasks ran
     */
    public int run() {
        int ran = 0;
        while (!timers.isEmpty() && nanosToNext() == 0) {
            Runnable task = timers.remove().task;
            if (task != null) {
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
        return first == null ? Long.MAX_VALUE : Math.max(0, first.deadlineNanos - nanoClock.getAsLong());
    }
}
