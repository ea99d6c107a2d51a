package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CreditWindowTest {

    @Test
    void shouldStartWithOneCredit() {
        CreditWindow window = new CreditWindow(128);
        assertEquals(1, window.limit());
        assertTrue(window.tryAcquire());
        assertFalse(window.tryAcquire());
        assertEquals(1, window.inUse());
    }

    @Test
    void shouldGiveAsManyAsTheLimitForEveryLimit() {
        for (int limit = 1; limit <= 1024; limit++) {
            CreditWindow window = new CreditWindow(1024);
            window.setLimit(limit);
            for (int i = 0; i < limit; i++) {
                assertTrue(window.isAvailable());
                assertTrue(window.tryAcquire());
            }
            assertFalse(window.isAvailable());
            assertFalse(window.tryAcquire());
            assertEquals(limit, window.inUse());
            window.release();
            assertTrue(window.tryAcquire());
            assertFalse(window.tryAcquire());
        }
    }

    @Test
    void shouldBringEveryNumberIntoRange() {
        for (int max : new int[] {1, 2, 128, 1024, Integer.MAX_VALUE}) {
            CreditWindow window = new CreditWindow(max);
            assertEquals(1, window.clamp(Long.MIN_VALUE));
            assertEquals(1, window.clamp(-1));
            assertEquals(1, window.clamp(0));
            assertEquals(1, window.clamp(1));
            assertEquals(max, window.clamp(max));
            assertEquals(max - (max > 1 ? 1 : 0), window.clamp(max - 1L));
            assertEquals(max, window.clamp(max + 1L));
            assertEquals(max, window.clamp(0xffffffffL));
            assertEquals(max, window.clamp(Long.MAX_VALUE));
        }
    }

    @Test
    void shouldGiveNothingUntilEnoughIsBackAfterTheLimitFellBelowWhatIsInUse() {
        CreditWindow window = new CreditWindow(16);
        window.setLimit(10);
        for (int i = 0; i < 10; i++) {
            window.tryAcquire();
        }
        window.setLimit(3);
        for (int inUse = 10; inUse >= 3; inUse--) {
            assertEquals(inUse, window.inUse());
            assertFalse(window.tryAcquire());
            window.release();
        }
        assertTrue(window.tryAcquire());
        assertFalse(window.tryAcquire());
    }

    @Test
    void shouldRefuseToTakeBackWhatNobodyHas() {
        CreditWindow window = new CreditWindow(4);
        assertThrows(IllegalStateException.class, window::release);
        window.tryAcquire();
        window.release();
        assertThrows(IllegalStateException.class, window::release);
        assertEquals(0, window.inUse());
    }

    @Test
    void shouldNeedAMaximum() {
        assertThrows(IllegalArgumentException.class, () -> new CreditWindow(0));
        assertThrows(IllegalArgumentException.class, () -> new CreditWindow(-1));
    }
}
