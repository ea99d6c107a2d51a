package org.nettyrdma.channel;

/**
 * Decides whether an idle event loop polls a little longer before it sleeps, from how long it took in either case until
 * there was work again. Where a thread wakes up slowly, or the peer answers within microseconds, polling shortens that time;
 * where both ends share a processor, or work comes rarely, it only burns cycles. Which of the two holds is measured: most
 * rounds of waits are spent in the better way, and now and then some in the other, because the load may have changed.
 *
 * <p>While polling pays, a trial of sleeping costs each of its waits a wake-up. With one such wait in a hundred, the 99th
 * percentile of a call's latency would be a wake-up. So where polling is far better, trials are rare and short. As soon as it is
 * not far better any more, they are as frequent and long as where the case was never clear.
 *
 * <p>Both ends of a connection may decide this way, and while both sleep, each wait has the wake-ups of both in it. An end that
 * begins to poll saves only its own, and must find the answer of the other, which still sleeps, within its time: so that is
 * several wake-ups long.
 *
 * <p>Who polls must not take the processor from who has work, so it yields. Where another thread took it, what counts is for
 * how long. The other end of the connection gives it back within microseconds: schedulers wake it on the processor of whoever
 * has woken it, also where another one is idle, and only ends that poll are moved apart. Who has work of its own keeps the
 * processor for a time slice, and one of these is enough to go to sleep instead. A trial of polling ends with the first
 * time slice that it has cost.
 */
final class WaitPolicy {

    /**
     * How long to poll at most: the wake-up of a peer on a slow machine, which takes 40 to 100 µs, and what it then has to do.
     */
    static final long SPIN_NANOS = 200_000;

    /** A longer wait says only that there was no work, whichever way it was spent. */
    private static final double LONGEST_TELLING_WAIT_NANOS = 2.0 * SPIN_NANOS;
    /** What a contended wait can count as: a time slice, that the average of many others does not hide. */
    private static final double LONGEST_CONTENDED_WAIT_NANOS = 4_000_000;
    private static final int WAITS_PER_ROUND = 256;
    private static final int ROUNDS_BETWEEN_TRIALS = 15;
    /** Where polling is far better: about two waits in a thousand at each end, and a call waits at both. */
    private static final int WAITS_PER_SHORT_TRIAL = 16;
    private static final int ROUNDS_BETWEEN_SHORT_TRIALS = 31;
    private static final double WEIGHT_OF_NEWEST = 1.0 / 32;
    /** So polling begins where work comes within four wake-ups. */
    private static final double WORTHWHILE = 0.8;
    private static final double FAR_BETTER = 0.5;
    /** Where other threads take the processor in this part of the waits spent polling, the peer has none of its own. */
    private static final double SHARED = 0.5;

    /** Completions since the wait before, of which a wake-up is a small part. */
    private static final int MUCH_WORK = 32;
    /** Where this part of the waits begins with much work done and all processors at the work of other loops, none polls. */
    private static final double CROWDED = 0.125;

    private double averageSleepingNanos = LONGEST_TELLING_WAIT_NANOS;
    private double averageSpinningNanos = LONGEST_TELLING_WAIT_NANOS;
    private double contendedPart; // of the waits spent polling
    private double crowdedPart; // of all waits
    private boolean spinning;   // in this round, unless it is crowded
    private boolean trial;
    private int waitsLeft = WAITS_PER_ROUND;
    private int roundsSinceTrial = ROUNDS_BETWEEN_TRIALS - 1; // so that both ways have been tried before the first choice

    /**
     * Tells that a wait begins, before all other methods.
     *
     * @param processorsAtWork whether other event loops are at work on all processors
     * @param completions      what was done since the last wait
     */
    void waits(boolean processorsAtWork, int completions) {
        crowdedPart += ((processorsAtWork && completions >= MUCH_WORK ? 1 : 0) - crowdedPart) * WEIGHT_OF_NEWEST;
    }

    private boolean crowded() {
        return crowdedPart >= CROWDED;
    }

    /** How long to poll before going to sleep this time, in nanoseconds: all or nothing. */
    long spinNanos() {
        return spinning && !crowded() ? SPIN_NANOS : 0;
    }

    /** Whether polling is what was found to be better, and not only tried, and others mostly leave the processor to it. */
    boolean prefersSpinning() {
        return spinning != trial && contendedPart < SHARED && !crowded();
    }

    /**
     * Tells how long the wait was, from the moment when there was nothing left to do.
     *
     * @param contended whether another thread took this processor while the loop polled
     */
    void waited(long nanos, boolean contended) {
        double telling = Math.min(nanos, contended ? LONGEST_CONTENDED_WAIT_NANOS : LONGEST_TELLING_WAIT_NANOS);
        if (contended && trial && nanos > LONGEST_TELLING_WAIT_NANOS) {
            waitsLeft = 1;
        }
        if (spinNanos() > 0) {
            averageSpinningNanos += (telling - averageSpinningNanos) * WEIGHT_OF_NEWEST;
            contendedPart += ((contended ? 1 : 0) - contendedPart) * WEIGHT_OF_NEWEST;
        } else {
            averageSleepingNanos += (telling - averageSleepingNanos) * WEIGHT_OF_NEWEST;
        }
        if (--waitsLeft == 0) {
            beginRound();
        }
    }

    private void beginRound() {
        boolean spinningPays = averageSpinningNanos < averageSleepingNanos * WORTHWHILE;
        boolean farBetter = averageSpinningNanos < averageSleepingNanos * FAR_BETTER;
        roundsSinceTrial = trial ? 0 : roundsSinceTrial + 1;
        trial = roundsSinceTrial >= (farBetter ? ROUNDS_BETWEEN_SHORT_TRIALS : ROUNDS_BETWEEN_TRIALS);
        spinning = spinningPays != trial;
        waitsLeft = trial && farBetter ? WAITS_PER_SHORT_TRIAL : WAITS_PER_ROUND;
    }
}
