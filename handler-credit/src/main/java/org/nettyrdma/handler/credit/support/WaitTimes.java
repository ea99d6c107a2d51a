package org.nettyrdma.handler.credit.support;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * How often something was waited for, and how long in all. Long waits are in a flight recording, too. What need not wait costs
 * nothing. Any thread.
 */
public final class WaitTimes {

    private final String waitedFor;
    private final LongAdder waits = new LongAdder();
    private final LongAdder nanos = new LongAdder();

    /**
     * Creates times of no wait.
     *
     * @param waitedFor what, in one word
     */
    public WaitTimes(String waitedFor) {
        this.waitedFor = waitedFor;
    }

    /**
     * Something begins to wait.
     *
     * @return to be told of the end
     */
    public Wait begin() {
        return new Wait(this);
    }

    /**
     * How many waits have ended.
     *
     * @return their number
     */
    public long count() {
        return waits.sum();
    }

    /**
     * How long those took that have ended.
     *
     * @return nanoseconds
     */
    public long nanos() {
        return nanos.sum();
    }

    /** A wait that has begun. */
    public static final class Wait {

        private final WaitTimes times;
        private final long beginNanos = System.nanoTime();
        /** {@code null} where nobody records. */
        private final StallEvent event = StallEvent.begun();

        private Wait(WaitTimes times) {
            this.times = times;
        }

        /**
         * The wait has ended, one way or another. To be called once. Without memory it is not counted: what has waited goes on.
         *
         * @param peer of the connection, {@code null} where there is none; asked only for a recording
         */
        public void end(Supplier<?> peer) {
            try {
                times.waits.increment();
                times.nanos.add(System.nanoTime() - beginNanos);
                if (event != null) {
                    record(peer);
                }
            } catch (OutOfMemoryError e) {
                return;
            }
        }

        private void record(Supplier<?> peer) {
            event.end(); // before it is asked: until then it has lasted no time
            if (event.shouldCommit()) {
                event.waitedFor = times.waitedFor;
                event.peer = peer == null ? null : String.valueOf(peer.get());
                event.commit();
            }
        }
    }
}
