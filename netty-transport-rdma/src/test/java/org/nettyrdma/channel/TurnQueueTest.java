package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TurnQueueTest {

    private final TurnQueue<Integer> turns = new TurnQueue<>();

    @Test
    void shouldKeepTheOrderWhileItGrows() {
        Random random = new Random(1);
        ArrayDeque<Integer> expected = new ArrayDeque<>();
        for (int step = 0; step < 2000; step++) {
            if (expected.isEmpty() || random.nextInt(5) < 3) {
                turns.add(step);
                expected.add(step);
            } else {
                assertEquals(expected.remove(), turns.remove());
            }
            assertEquals(expected.size(), turns.size());
        }
    }

    @Test
    void shouldKeepWhoWaitsWhenRoomIsMadeForOthers() {
        turns.add(1);
        turns.add(2);
        for (int count = 1; count <= 100; count++) {
            turns.reserve(count);
        }
        assertEquals(1, turns.remove());
        assertEquals(2, turns.remove());
        assertEquals(0, turns.size());
    }
}
