package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.WorkCompletionStatus;

class DeliveryRingTest {

    private final DeliveryRing deliveries = new DeliveryRing();
    private final List<Long> delivered = new ArrayList<>();

    private int deliver(int max) {
        return deliveries.deliver((id, status, byteLength, invalidated, tag, vendorError) -> delivered.add(id), max);
    }

    @Test
    void shouldKeepTheOrderWhileItGrows() {
        long next = 0;
        for (int round = 0; round < 100; round++) {
            for (int i = 0; i < 100; i++) {
                deliveries.complete(next++, WorkCompletionStatus.SUCCESS, 0, 0);
            }
            deliver(30);
        }
        deliver(Integer.MAX_VALUE);
        for (int i = 0; i < next; i++) {
            assertEquals(i, delivered.get(i));
        }
        assertTrue(deliveries.isEmpty());
    }

    @Test
    void shouldNotKeepTheRoomOfABurst() {
        int before = deliveries.capacity();
        for (int burst = 0; burst < 2; burst++) {
            for (int i = 0; i < 100_000; i++) {
                deliveries.complete(i, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
            }
            assertTrue(deliveries.capacity() >= 100_000);
            assertEquals(100_000, deliver(200_000));
            assertEquals(before, deliveries.capacity());
        }
        assertEquals(200_000, delivered.size());
    }
}
