package org.nettyrdma.benchmarks;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** How long it takes on this machine until a thread that sleeps runs, once another one has asked for it. */
final class WakeUp {

    private static final int ROUNDS = 10_000;
    private static final int ROUNDS_TO_WARM_UP = 2_000;

    private WakeUp() {
    }

    /** Half of the time from one thread to another that sleeps, and back: the median of many. */
    static double medianMicros() {
        Thread here = Thread.currentThread();
        AtomicInteger turn = new AtomicInteger();
        AtomicBoolean done = new AtomicBoolean();
        Thread other = new Thread(() -> {
            for (int round = 1; !done.get(); round += 2) {
                awaitTurn(turn, round, done);
                turn.set(round + 1);
                LockSupport.unpark(here);
            }
        }, "wake-up");
        other.start();
        double[] micros = new double[ROUNDS - ROUNDS_TO_WARM_UP];
        for (int i = 0; i < ROUNDS; i++) {
            long startNanos = System.nanoTime();
            turn.set(2 * i + 1);
            LockSupport.unpark(other);
            awaitTurn(turn, 2 * i + 2, done);
            if (i >= ROUNDS_TO_WARM_UP) {
                micros[i - ROUNDS_TO_WARM_UP] = (System.nanoTime() - startNanos) / 2e3;
            }
        }
        done.set(true);
        LockSupport.unpark(other);
        return Statistics.quantile(0.5, micros);
    }

    private static void awaitTurn(AtomicInteger turn, int wanted, AtomicBoolean done) {
        while (turn.get() != wanted && !done.get()) {
            LockSupport.park();
        }
    }
}
