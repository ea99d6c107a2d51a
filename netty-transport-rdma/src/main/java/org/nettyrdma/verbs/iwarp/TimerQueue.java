package org.nettyrdma.verbs.iwarp;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * What a context does later, by a clock that tests can move.
 */
final class TimerQueue {

    /**
     * Something to be done later, unless cancelled.
     */
    static final class Timer implements Comparable<Timer> {

        private final long deadlineNanos;
        private Runnable task;

        private Timer(long deadlineNanos, Runnable task) {
            this.deadlineNanos = deadlineNanos;
            this.task = task;
        }

        /**
         * Forgets the task. Can be called again, and when the task has run.
         */
        void cancel() {
            task = null;
        }

        @Override
        public int compareTo(Timer other) {
            return Long.signum(deadlineNanos - other.deadlineNanos);
        }
    }

    private final LongSupplier nanoClock;
    private final PriorityQueue<Timer> timers = new PriorityQueue<>();

    TimerQueue(LongSupplier nanoClock) {
        this.nanoClock = nanoClock;
    }

    Timer schedule(long delayMillis, Runnable task) {
        Timer timer = new Timer(nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(delayMillis), task);
        timers.add(timer);
        return timer;
    }

    /**
     * Does what is due.
     *
     * @return how many tasks ran
     */
    int run() {
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
     * How long it is until something is due: 0 if something is, {@link Long#MAX_VALUE} if nothing ever will be.
     */
    long nanosToNext() {
        Timer first = timers.peek();
        return first == null ? Long.MAX_VALUE : Math.max(0, first.deadlineNanos - nanoClock.getAsLong());
    }
}
