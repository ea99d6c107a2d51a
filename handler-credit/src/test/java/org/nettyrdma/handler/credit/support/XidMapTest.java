package org.nettyrdma.handler.credit.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class XidMapTest {

    private final XidMap<String> map = new XidMap<>();

    @Test
    void shouldFindWhatWasPut() {
        for (int xid : new int[] {0, 1, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, 0x1_0000, 0xFFFF}) {
            assertFalse(map.contains(xid));
            assertNull(map.put(xid, "first"));
            assertEquals("first", map.put(xid, "of " + xid));
        }
        assertEquals(7, map.size());
        assertEquals("of -1", map.get(-1));
        assertEquals("of 0", map.remove(0));
        assertNull(map.remove(0));
        assertNull(map.get(0));
        assertTrue(map.contains(Integer.MIN_VALUE));
        map.clear();
        assertTrue(map.isEmpty());
        assertFalse(map.contains(1));
    }

    @Test
    void shouldKeepConsecutiveNumbersApart() {
        for (int xid = -50_000; xid < 50_000; xid++) {
            map.put(xid, Integer.toString(xid));
        }
        assertEquals(100_000, map.size());
        Set<String> values = new HashSet<>(map.values());
        assertEquals(100_000, values.size());
        for (int xid = -50_000; xid < 50_000; xid++) {
            assertEquals(Integer.toString(xid), map.remove(xid));
        }
        assertTrue(map.isEmpty());
    }

    @Test
    void shouldDoWhatAnyMapDoes() {
        Map<Integer, String> expected = new HashMap<>();
        Random random = new Random(7);
        for (int i = 0; i < 100_000; i++) {
            int xid = random.nextInt(200) << random.nextInt(25);
            if (random.nextBoolean()) {
                assertEquals(expected.put(xid, "value " + i), map.put(xid, "value " + i));
            } else {
                assertEquals(expected.remove(xid), map.remove(xid));
            }
            assertEquals(expected.size(), map.size());
        }
        expected.forEach((xid, value) -> assertEquals(value, map.get(xid)));
    }

    @Test
    void shouldKeepNumbersThatMeetInOneSlot() {
        Map<Integer, String> expected = new HashMap<>();
        Random random = new Random(11);
        int next = Integer.MAX_VALUE - 20_000; // a client that counts, beyond the largest number
        for (int i = 0; i < 100_000; i++) {
            int xid = random.nextInt(4) == 0 ? 0x1000 * random.nextInt(5) + random.nextInt(3) : next - random.nextInt(40);
            switch (random.nextInt(4)) {
                case 0 -> assertEquals(expected.get(xid), map.get(xid));
                case 1 -> assertEquals(expected.remove(xid), map.remove(xid));
                default -> {
                    next++;
                    assertEquals(expected.put(xid, "value " + i), map.put(xid, "value " + i));
                }
            }
            assertEquals(expected.containsKey(xid), map.contains(xid));
            assertEquals(expected.size(), map.size());
            if (i % 1000 == 0) {
                assertEquals(new HashSet<>(expected.values()), new HashSet<>(map.values()));
                if (i % 10_000 == 0) {
                    expected.clear();
                    map.clear();
                    assertTrue(map.isEmpty());
                }
            }
        }
        expected.forEach((xid, value) -> assertEquals(value, map.remove(xid)));
        assertTrue(map.isEmpty());
        assertTrue(map.values().isEmpty());
    }
}
