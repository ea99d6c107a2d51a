package org.nettyrdma.channel;

/**
 * Decides whether an idle event loop polls a little longer before it sleeps, from how long it took in either case until
 * there was work again. Where a thread wakes up slowly, or the peer answers within microseconds, polling shortens that time;
 * where both ends share a processor, or work comes rarely, it only burns cycles. Which of the two holds is measured: most
 * rounds of waits are spent in the better way, and now and then one in the other, because the load may have changed.
 */
final class WaitPolicy {

    /** How long to poll at most: about what it takes to put a thread to sleep and wake it on a slow machine. */
    static final long SPIN_NANOS = 50_000;

    /** A longer wait says only that there was no work, whichever way it was spent. */
    private static final double LONGEST_TELLING_WAIT_NANOS = 2.0 * SPIN_NANOS;
    private static final int WAITS_PER_ROUND = 256;
    private static final int ROUNDS_PER_TRIAL = 16;
    private static final int TRIAL_ROUND = 1; // early, so that both ways have been tried before the first choice
    private static final double WEIGHT_OF_NEWEST = 1.0 / 32;
    private static final double WORTHWHILE = 0.9;

    private double averageSleepingNanos = LONGEST_TELLING_WAIT_NANOS;
    private double averageSpinningNanos = LONGEST_TELLING_WAIT_NANOS;
    private boolean spinning;
    private int waits;
    private int rounds;

    /** How long to poll before going to sleep this time, in nanoseconds: all or nothing. */
    long spinNanos() {
        return spinning ? SPIN_NANOS : 0;
    }

    /** Tells how long the wait was, from the moment when there was nothing left to do. */
    void waited(long nanos) {
        double telling = Math.min(nanos, LONGEST_TELLING_WAIT_NANOS);
        if (spinning) {
            averageSpinningNanos += (telling - averageSpinningNanos) * WEIGHT_OF_NEWEST;
        } else {
            averageSleepingNanos += (telling - averageSleepingNanos) * WEIGHT_OF_NEWEST;
        }
        if (++waits == WAITS_PER_ROUND) {
            waits = 0;
            rounds = (rounds + 1) % ROUNDS_PER_TRIAL;
            boolean spinningPays = averageSpinningNanos < averageSleepingNanos * WORTHWHILE;
            spinning = spinningPays != (rounds == TRIAL_ROUND);
        }
    }
}
