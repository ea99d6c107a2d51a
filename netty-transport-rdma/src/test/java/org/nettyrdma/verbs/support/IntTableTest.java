package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IntTableTest {

    private final IntTable<Integer> table = new IntTable<>();

    /** Few numbers, so that all meet; multiples, which meet in one slot; and any. */
    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1 << 10, 0x9E37_79B9})
    void shouldFindWhatAMapFinds(int step) {
        Random random = new Random(step);
        Map<Integer, Integer> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            int key = (random.nextInt(200) - 100) * step;
            if (random.nextInt(3) > 0) {
                table.put(key, i);
                expected.put(key, i);
            } else {
                assertEquals(expected.remove(key), table.remove(key));
            }
            int other = (random.nextInt(200) - 100) * step;
            assertEquals(expected.get(other), table.get(other));
            assertEquals(expected.size(), table.size());
        }
        Set<Integer> seen = new HashSet<>();
        table.forEach(seen::add);
        assertEquals(new HashSet<>(expected.values()), seen);
        assertEquals(seen, new HashSet<>(table.values()));
    }

    /** Ids of channels and connections are consecutive, tags of devices may differ in their high bits only. */
    @ParameterizedTest
    @ValueSource(ints = {1, 1 << 12})
    @Timeout(20)
    void shouldNotLookAtAllWhereNumbersAreRegular(int step) {
        int count = 1 << 18;
        for (int i = 0; i < count; i++) {
            table.put(i * step, i);
        }
        for (int i = 0; i < count; i++) { // the oldest first
            assertEquals(i, table.remove(i * step));
        }
        assertEquals(0, table.size());
    }

    @Test
    void shouldBeEmptyAfterClear() {
        table.put(3, 4);
        table.clear();
        assertEquals(0, table.size());
        assertNull(table.get(3));
        assertNull(table.remove(3));
    }
}
