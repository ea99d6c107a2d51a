package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class RingsTest {

    private static final long[] FIRST_NUMBERS = {0, 1, 3, 5, 7, Integer.MAX_VALUE - 1, Integer.MIN_VALUE, -3, 1L << 40 | 6};

    @Test
    void shouldKeepEachEntryUnderItsNumber() {
        for (long oldest : FIRST_NUMBERS) {
            String[] ring = new String[4];
            int[] numbers = new int[4];
            for (long n = oldest; n < oldest + 4; n++) {
                ring[(int) n & 3] = "entry " + n;
                numbers[(int) n & 3] = (int) n;
            }
            String[] doubled = Rings.doubled(ring, oldest);
            int[] doubledNumbers = Rings.doubled(numbers, oldest);
            assertEquals(8, doubled.length);
            assertEquals(8, doubledNumbers.length);
            for (long n = oldest; n < oldest + 4; n++) {
                assertEquals("entry " + n, doubled[(int) n & 7]);
                assertEquals((int) n, doubledNumbers[(int) n & 7]);
            }
            for (long n = oldest + 4; n < oldest + 8; n++) {
                assertEquals(null, doubled[(int) n & 7], "nothing is left where entries stood before");
            }
        }
    }

    @Test
    void shouldGrowFromASingleEntry() {
        assertArrayEquals(new String[] {null, "only"}, Rings.doubled(new String[] {"only"}, 5));
        assertArrayEquals(new String[] {"only", null}, Rings.doubled(new String[] {"only"}, 4));
    }
}
