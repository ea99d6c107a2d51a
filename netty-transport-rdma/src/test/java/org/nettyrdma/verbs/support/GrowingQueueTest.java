package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class GrowingQueueTest {

    private final GrowingQueue<Integer> queue = new GrowingQueue<>(16);

    @Test
    void shouldKeepTheOrderWhileItGrows() {
        Random random = new Random(1);
        ArrayDeque<Integer> expected = new ArrayDeque<>();
        for (int step = 0; step < 2000; step++) {
            if (expected.isEmpty() || random.nextInt(5) < 3) {
                queue.add(step);
                expected.add(step);
            } else {
                assertEquals(expected.remove(), queue.poll());
            }
            assertEquals(expected.size(), queue.size());
        }
    }

    @Test
    void shouldKeepWhoWaitsWhenRoomIsMadeForOthers() {
        queue.add(1);
        queue.add(2);
        for (int count = 1; count <= 100; count++) {
            queue.reserve(count);
        }
        assertEquals(1, queue.poll());
        assertEquals(2, queue.poll());
        assertEquals(0, queue.size());
    }

    @Test
    void shouldBeEmptyWhenAllAreTakenOut() {
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 7; i++) {
                queue.add(i);
            }
            List<Integer> seen = new ArrayList<>();
            queue.forEach(seen::add);
            assertEquals(List.of(0, 1, 2, 3, 4, 5, 6), seen);
            assertEquals(0, queue.peek());
            queue.poll();
            queue.clear();
            assertTrue(queue.isEmpty());
            assertNull(queue.peek());
            assertNull(queue.poll());
        }
    }
}
