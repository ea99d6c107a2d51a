package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WaitPolicyTest {

    private static final int MANY = 100_000;
    private static final int ROUND = 256;

    private final WaitPolicy policy = new WaitPolicy();

    @Test
    void shouldSpinWhereThatFindsWorkSooner() {
        wait(MANY, 5_000, 9_000);
        assertTrue(shareOfSpins(5_000, 9_000) > 0.9);
    }

    @Test
    void shouldSleepWhereSpinningIsSlower() {
        wait(MANY, 9_000, 5_000);
        assertTrue(shareOfSpins(9_000, 5_000) < 0.1);
    }

    @Test
    void shouldSleepWhereSpinningSavesNothing() {
        wait(MANY, 5_000, 5_100);
        assertTrue(shareOfSpins(5_000, 5_100) < 0.1);
    }

    @Test
    void shouldSleepWhereWorkComesRarely() {
        wait(MANY, 1_000_000, 1_050_000);
        assertTrue(shareOfSpins(1_000_000, 1_050_000) < 0.1);
    }

    @Test
    void shouldChangeItsMindWhenTheLoadChanges() {
        wait(MANY, 1_000_000, 1_050_000);
        wait(MANY, 5_000, 20_000);
        assertTrue(shareOfSpins(5_000, 20_000) > 0.9);
        wait(MANY, 1_000_000, 1_050_000);
        assertTrue(shareOfSpins(1_000_000, 1_050_000) < 0.1);
    }

    @Test
    void shouldHardlyEverSleepWhereSpinningIsFarBetter() {
        wait(MANY, 5_000, 45_000);
        assertTrue(shareOfSpins(5_000, 45_000) > 0.9975);
    }

    @Test
    void shouldTrySleepingSoonWhenSpinningIsNotFarBetterAnyMore() {
        wait(MANY, 5_000, 45_000);
        wait(16 * ROUND, 40_000, 30_000);
        assertTrue(shareOfSpins(40_000, 30_000) < 0.1);
    }

    @Test
    void shouldSpinWhereThatSavesOneOfTwoWakeups() {
        wait(MANY, 115_000, 200_000); // the peer sleeps, too
        assertTrue(shareOfSpins(115_000, 200_000) > 0.9);
    }

    @Test
    void shouldNotMindIdleTimesBetweenBurstsOfWork() {
        int spins = 0;
        for (int i = 0; i < MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            spins += spinning ? 1 : 0;
            policy.waited(i % 20 == 0 ? 3_000_000 : spinning ? 10_000 : 60_000, false);
        }
        assertTrue(spins > MANY * 0.9, spins + " spins");
    }

    @Test
    void shouldStartBySleeping() {
        assertEquals(0, policy.spinNanos());
    }

    @Test
    void shouldSleepWhereOthersKeepTheProcessorForATimeSlice() {
        int spins = 0;
        for (int i = 0; i < MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            spins += spinning ? 1 : 0;
            policy.waited(spinning ? 3_000_000 : 50_000, spinning);
        }
        assertTrue(spins < MANY / 1000, spins + " spins");
    }

    @Test
    void shouldSpinWhereThePeerSharesTheProcessorAndGivesItBackSoon() {
        int spins = 0;
        for (int i = 0; i < MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            spins += spinning ? 1 : 0;
            policy.waited(spinning ? 10_000 : 35_000, spinning);
        }
        assertTrue(spins > MANY * 0.9, spins + " spins");
    }

    @Test
    void shouldSpinThoughThePeerSharesTheProcessorNowAndThen() {
        int spins = 0;
        for (int i = 0; i < MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            spins += spinning ? 1 : 0;
            policy.waited(spinning ? i % 500 == 0 ? 40_000 : 5_000 : 45_000, spinning && i % 500 == 0);
        }
        assertTrue(spins > MANY * 0.9, spins + " spins");
    }

    @Test
    void shouldSleepForLongAfterATimeSliceWasLost() {
        wait(MANY, 5_000, 35_000);
        int lost = 0;
        for (int i = 0; i < MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            boolean loses = spinning && i % 100 == 0;
            lost += loses ? 1 : 0;
            policy.waited(loses ? 3_000_000 : spinning ? 5_000 : 35_000, loses);
        }
        assertTrue(lost < MANY / 1000, lost + " time slices of " + MANY / 100); // one call in a thousand
    }

    @Test
    void shouldPreferOnlyWhatItHasFoundToBeBetter() {
        boolean spun = false;
        for (int i = 0; i < MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            spun |= spinning;
            assertFalse(policy.prefersSpinning());
            policy.waited(spinning ? 9_000 : 5_000, false);
        }
        assertTrue(spun);
    }

    @Test
    void shouldNotPreferToSpinWhereThePeerSharesTheProcessor() {
        assertTrue(shareOfPreferredWaits(3) == 0);
    }

    @Test
    void shouldPreferToSpinWhereAnotherThreadTakesTheProcessorNowAndThen() {
        assertTrue(shareOfPreferredWaits(1) > 0.9);
    }

    @Test
    void shouldNotPollWhereOtherLoopsAreAtWorkOnAllProcessorsAndEachWakeUpBringsMuchWork() {
        assertTrue(shareOfSpins(true, 32) < 0.01);
        assertFalse(policy.prefersSpinning());
    }

    @Test
    void shouldPollWhereAWakeUpBringsLittleWork() {
        assertTrue(shareOfSpins(true, 31) > 0.9);
        assertTrue(policy.prefersSpinning());
    }

    @Test
    void shouldPollWhereAProcessorIsFree() {
        assertTrue(shareOfSpins(false, 1000) > 0.9);
        assertTrue(policy.prefersSpinning());
    }

    @Test
    void shouldPollAgainWhenAProcessorBecomesFree() {
        shareOfSpins(true, 32);
        assertTrue(shareOfSpins(false, 32) > 0.9);
    }

    @Test
    void shouldTakeWaitsThatWereNotPolledForSleep() {
        wait(MANY, 5_000, 20_000);
        for (int i = 0; i < MANY; i++) {
            policy.waits(true, 32);
            policy.waited(350_000, false);
        }
        for (int i = 0; policy.spinNanos() == 0; i++) {
            assertTrue(i < ROUND, "waits that were no polls have counted as polls");
            policy.waits(false, 32);
            policy.waited(20_000, false);
        }
        assertTrue(policy.prefersSpinning());
    }

    /** Of waits for which polling is far better if one looks only at their length. */
    private double shareOfSpins(boolean processorsAtWork, int completions) {
        int spins = 0;
        for (int i = 0; i < MANY; i++) {
            policy.waits(processorsAtWork, completions);
            boolean spinning = policy.spinNanos() > 0;
            spins += spinning ? 1 : 0;
            policy.waited(spinning ? 5_000 : 45_000, false);
        }
        return (double) spins / MANY;
    }

    /** Where so many in four of the waits spent polling are contended. */
    private double shareOfPreferredWaits(int contendedInFour) {
        wait(ROUND, 5_000, 45_000);
        int preferred = 0;
        for (int i = 0; i < 2 * MANY; i++) {
            boolean spinning = policy.spinNanos() > 0;
            preferred += i >= MANY && policy.prefersSpinning() ? 1 : 0;
            policy.waited(spinning ? 5_000 : 45_000, spinning && i % 4 < contendedInFour);
        }
        return (double) preferred / MANY;
    }

    private double shareOfSpins(long spinningNanos, long sleepingNanos) {
        return (double) wait(MANY, spinningNanos, sleepingNanos) / MANY;
    }

    private int wait(int waits, long spinningNanos, long sleepingNanos) {
        int spins = 0;
        for (int i = 0; i < waits; i++) {
            boolean spinning = policy.spinNanos() > 0;
            spins += spinning ? 1 : 0;
            policy.waited(spinning ? spinningNanos : sleepingNanos, false);
        }
        return spins;
    }
}
