package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.WorkCompletionStatus;

class DeliveryRingTest {

    private final DeliveryRing deliveries = new DeliveryRing();
    private final List<Long> delivered = new ArrayList<>();
    private final List<String> all = new ArrayList<>();

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
    void shouldTellImmediateDataInItsPlace() {
        List<String> told = new ArrayList<>();
        deliveries.complete(1, WorkCompletionStatus.SUCCESS, 0, 0);
        deliveries.completeImmediate(2, 100, 0x81020304);
        deliveries.event(() -> told.add("event"));
        deliveries.completeReceive(3, 7, true, 0x81020304);
        deliveries.deliver(new CompletionHandler() {
            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int tag,
                                     int vendorError) {
                told.add(id + " " + status + ' ' + byteLength + ' ' + invalidated);
            }

            @Override
            public void onImmediateData(long id, int byteLength, int immediateData) {
                told.add(id + " " + byteLength + ' ' + Integer.toHexString(immediateData));
            }
        }, 10);
        assertEquals(List.of("1 SUCCESS 0 false", "2 100 81020304", "event", "3 SUCCESS 7 true"), told);
    }

    /** Fills a ring with completions of every kind until it has grown, from some place on. */
    private List<String> addAllKinds(int before) {
        for (int i = 0; i < before; i++) { // so that the oldest entry lies anywhere
            deliveries.event(() -> { });
        }
        deliver(before);
        List<String> expected = new ArrayList<>();
        WorkCompletionStatus[] statuses = WorkCompletionStatus.values();
        for (int i = 0; expected.size() < 700; i++) {
            long id = i % 2 == 0 ? Long.MIN_VALUE + i : Long.MAX_VALUE - i;
            int signed = i % 3 == 0 ? Integer.MIN_VALUE + i : i;
            WorkCompletionStatus status = statuses[i % statuses.length];
            deliveries.complete(id, status, i, signed);
            expected.add(id + " " + status + ' ' + i + " false 0 " + signed);
            deliveries.completeReceive(id, i, i % 5 == 0, -i);
            expected.add(id + " SUCCESS " + i + ' ' + (i % 5 == 0) + ' ' + -i + " 0");
            deliveries.completeShared(signed, id, status, i, i % 5 == 0, -i, ~signed);
            expected.add(signed + ": " + id + ' ' + status + ' ' + i + ' ' + (i % 5 == 0) + ' ' + -i + ' ' + ~signed);
            deliveries.completeImmediate(id, i, signed);
            expected.add(id + " " + i + ' ' + signed);
            String event = "event " + i;
            deliveries.event(() -> all.add(event));
            expected.add(event);
        }
        return expected;
    }

    @Test
    void shouldTellEverythingAsItWasAddedWhereverTheRingGrows() {
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int tag,
                                     int vendorError) {
                all.add(id + " " + status + ' ' + byteLength + ' ' + invalidated + ' ' + tag + ' ' + vendorError);
            }

            @Override
            public void onImmediateData(long id, int byteLength, int immediateData) {
                all.add(id + " " + byteLength + ' ' + immediateData);
            }

            @Override
            public void onSharedReceive(int number, long id, WorkCompletionStatus status, int byteLength, boolean invalidated,
                                        int tag, int vendorError) {
                all.add(number + ": " + id + ' ' + status + ' ' + byteLength + ' ' + invalidated + ' ' + tag + ' ' + vendorError);
            }
        };
        for (int before : new int[] {0, 1, 100, 255}) {
            all.clear();
            List<String> expected = addAllKinds(before);
            assertEquals(expected.size(), deliveries.deliver(handler, Integer.MAX_VALUE));
            assertEquals(expected, all);
        }
    }

    @Test
    void shouldFailImmediateDataThatIsNotExpected() {
        List<WorkCompletionStatus> told = new ArrayList<>();
        deliveries.completeImmediate(2, 100, 5);
        deliveries.deliver((id, status, byteLength, invalidated, tag, vendorError) -> {
            assertEquals(2, id);
            assertEquals(0, byteLength);
            told.add(status);
        }, 10);
        assertEquals(List.of(WorkCompletionStatus.BAD_RESPONSE_ERROR), told);
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
