package org.nettyrdma.channel;

/**
 * Decides whether polling a little longer before sleeping pays. It keeps an account in nanoseconds: polling that found work
 * earns what waking a thread would have cost, all polling pays for the time it took. While there is credit the loop polls;
 * while there is debt it sleeps at once, and every sleep pays a little of the debt off, so that the loop tries again some
 * time: the load may have changed.
 *
 * <p>Time is what has passed, not what was meant to pass. Where other threads want the CPU, a thread that polls is made to
 * wait for whole time slices, which a thread that sleeps is not; one such wait puts the account deep into debt.
 */
final class SpinBudget {

    /** How long to poll: about what it takes to put a thread to sleep and wake it. */
    static final long SPIN_NANOS = 50_000;

    /** What finding work earns. More than the wake-up that it saves, because the work waits for that as well. */
    private static final long FOUND_NANOS = 2 * SPIN_NANOS;

    private static final long MAX_CREDIT_NANOS = 32 * SPIN_NANOS;
    private static final long MAX_DEBT_NANOS = 400 * SPIN_NANOS;
    private static final long REPAID_PER_SLEEP_NANOS = SPIN_NANOS / 50;

    private long balanceNanos = MAX_CREDIT_NANOS / 2;

    /** How long to poll before going to sleep this time, in nanoseconds: all or nothing. */
    long nextNanos() {
        if (balanceNanos > 0) {
            return SPIN_NANOS;
        }
        balanceNanos += REPAID_PER_SLEEP_NANOS;
        return 0;
    }

    /**
     * Tells how the polling went.
     *
     * @param foundWork    whether it found work
     * @param elapsedNanos how long it took, which can be much longer than it should have
     */
    void record(boolean foundWork, long elapsedNanos) {
        long result = (foundWork ? FOUND_NANOS : 0) - elapsedNanos;
        balanceNanos = Math.max(-MAX_DEBT_NANOS, Math.min(MAX_CREDIT_NANOS, balanceNanos + result));
    }
}
