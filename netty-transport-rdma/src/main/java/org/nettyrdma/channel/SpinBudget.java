package org.nettyrdma.channel;

/**
 * Decides whether polling a little longer before sleeping pays, from how often it did. Polling that finds work saves the
 * cost of waking a thread; polling that finds none only burns the time.
 */
final class SpinBudget {

    /** About what it takes to put a thread to sleep and wake it. */
    static final long SPIN_NANOS = 50_000;

    private static final int MAX_SCORE = 32;
    private static final int SUCCESS_SCORE = 2;
    private static final int PROBE_INTERVAL = 64;

    private int score = MAX_SCORE / 2;
    private int sleepsSinceProbe;

    /** How long to poll before going to sleep this time, in nanoseconds; mostly all or nothing. */
    long nextNanos() {
        if (score > 0) {
            return SPIN_NANOS;
        }
        if (++sleepsSinceProbe < PROBE_INTERVAL) {
            return 0;
        }
        sleepsSinceProbe = 0; // the load may have changed, and only trying can tell
        return SPIN_NANOS;
    }

    /** Tells whether the polling found work in its time. */
    void record(boolean foundWork) {
        score = foundWork ? Math.min(MAX_SCORE, score + SUCCESS_SCORE) : Math.max(0, score - 1);
    }
}
