package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SpinBudgetTest {

    private static final long TIME_SLICE_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

    private final SpinBudget budget = new SpinBudget();

    @Test
    void shouldSpinWhileItPays() {
        for (int i = 0; i < 1000; i++) {
            assertEquals(SpinBudget.SPIN_NANOS, budget.nextNanos());
            budget.record(i % 2 == 0, SpinBudget.SPIN_NANOS);
        }
    }

    @Test
    void shouldStopSpinningWhenItDoesNotPay() {
        assertTrue(spinsIn(1000, false, SpinBudget.SPIN_NANOS) < 100);
        assertTrue(spinsIn(1000, false, SpinBudget.SPIN_NANOS) <= 20, "only probes are left");
    }

    @Test
    void shouldSpinAgainWhenItPaysAgain() {
        spinsIn(1000, false, SpinBudget.SPIN_NANOS);
        spinsIn(1000, true, SpinBudget.SPIN_NANOS / 10);
        assertEquals(100, spinsIn(100, true, SpinBudget.SPIN_NANOS / 10));
    }

    @Test
    void shouldNotSpinWhereTheCpuIsWantedByOthers() {
        // Work is found each time, but after a time slice that went to somebody else.
        assertTrue(spinsIn(10_000, true, TIME_SLICE_NANOS) <= 4);
    }

    @Test
    void shouldForgiveARareInterruption() {
        spinsIn(1000, true, SpinBudget.SPIN_NANOS / 10);
        spinsIn(1, true, 10 * SpinBudget.SPIN_NANOS);
        assertEquals(100, spinsIn(100, true, SpinBudget.SPIN_NANOS / 10));
    }

    private int spinsIn(int waits, boolean finding, long elapsedNanos) {
        int spins = 0;
        for (int i = 0; i < waits; i++) {
            if (budget.nextNanos() > 0) {
                spins++;
                budget.record(finding, elapsedNanos);
            }
        }
        return spins;
    }
}
