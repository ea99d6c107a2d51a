package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SpinBudgetTest {

    private final SpinBudget budget = new SpinBudget();

    @Test
    void shouldSpinWhileItPays() {
        for (int i = 0; i < 1000; i++) {
            assertEquals(SpinBudget.SPIN_NANOS, budget.nextNanos());
            budget.record(i % 2 == 0);
        }
    }

    @Test
    void shouldStopSpinningWhenItDoesNotPay() {
        assertTrue(spinsIn(1000, false) < 100);
        assertTrue(spinsIn(1000, false) < 20, "only probes are left");
    }

    @Test
    void shouldSpinAgainWhenItPaysAgain() {
        spinsIn(1000, false);
        spinsIn(1000, true);
        assertEquals(100, spinsIn(100, true));
    }

    private int spinsIn(int waits, boolean finding) {
        int spins = 0;
        for (int i = 0; i < waits; i++) {
            if (budget.nextNanos() > 0) {
                spins++;
                budget.record(finding);
            }
        }
        return spins;
    }
}
