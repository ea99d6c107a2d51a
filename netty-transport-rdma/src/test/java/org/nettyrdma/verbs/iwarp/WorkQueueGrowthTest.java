package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SendSlot;

/** Queues that begin small: their order, and their bounds. */
class WorkQueueGrowthTest {

    private static final int MANY = 1000;

    private final DeliveryRing deliveries = new DeliveryRing();
    private final SendWorkRequest request = new SendWorkRequest(1);
    private final Pool<SendSlot> slots = new Pool<>(SendSlot::new, MANY);

    private List<Long> delivered() {
        List<Long> ids = new ArrayList<>();
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated,
                                     int invalidatedTag, int vendorError) {
                ids.add(workRequestId);
            }
        };
        while (!deliveries.isEmpty()) {
            deliveries.deliver(handler, MANY);
        }
        return ids;
    }

    private SendSlot slot(long id) {
        SendSlot slot = new SendSlot();
        slot.set(request.read(id, 7, 0));
        return slot;
    }

    @Test
    void shouldCompleteSendsInTheirOrderWhereverTheRingGrows() {
        for (int before = 0; before < 10; before++) {
            SendRing ring = new SendRing(100, deliveries, slots);
            long next = 0;
            List<Long> expected = new ArrayList<>();
            for (int i = 0; i < before; i++) { // so that the ring does not begin with its oldest entry
                expected.add(next);
                assertTrue(ring.offer(request.send(next++)));
                complete(ring);
            }
            for (int i = 0; i < 100; i++) {
                expected.add(next);
                assertTrue(ring.offer(request.send(next++)));
                if (i % 3 == 0) {
                    ring.takeWaiting(); // some are encoded when the ring grows, others wait
                }
            }
            assertFalse(ring.offer(request.send(next)), "100 are the depth");
            assertEquals(before + 34, ring.peekWaiting().workRequestId());
            for (int i = 34; i < 100; i++) {
                ring.takeWaiting();
            }
            assertNull(ring.peekWaiting());
            ring.flush();
            assertEquals(expected, delivered());
        }
    }

    private static void complete(SendRing ring) {
        ring.peekWaiting().setEndPosition(0);
        ring.takeWaiting();
        ring.complete(0);
    }

    @Test
    void shouldAnswerOwnReadsInTheirOrderWhereverTheQueueGrows() {
        for (int before = 0; before < 5; before++) {
            int[] lastTag = {0};
            OutboundReadQueue queue = new OutboundReadQueue(16, () -> ++lastTag[0]);
            for (int i = 0; i < before; i++) {
                queue.add(slot(i));
                queue.removeOldest();
            }
            List<SendSlot> asked = new ArrayList<>();
            while (!queue.isFull()) {
                asked.add(slot(asked.size()));
                assertEquals(before + asked.size(), queue.add(asked.get(asked.size() - 1)));
            }
            assertEquals(16, asked.size());
            for (int i = 0; i < asked.size(); i++) {
                assertEquals(before + i + 1, queue.oldestSinkTag());
                assertSame(asked.get(i), queue.find(before + i + 1));
                assertSame(asked.get(i), queue.removeOldest());
            }
            assertTrue(queue.isEmpty());
        }
    }

    @Test
    void shouldAnswerReadsOfThePeerInTheirOrderWhereverTheQueueGrows() {
        for (int before = 0; before < 5; before++) {
            InboundReadQueue queue = new InboundReadQueue(16, deliveries);
            InboundRead read = new InboundRead();
            for (int i = 0; i < before; i++) {
                queue.add(read);
                queue.peekWaiting().setEndPosition(0);
                queue.takeWaiting();
                queue.complete(0);
            }
            for (int i = 0; i < 16; i++) {
                assertFalse(queue.isFull());
                read.set(null, 0, 0, i, 0);
                queue.add(read);
            }
            assertTrue(queue.isFull(), "16 are the depth");
            assertEquals(16, queue.depth());
            for (int i = 0; i < 16; i++) {
                assertEquals(i, queue.peekWaiting().sinkTag());
                queue.takeWaiting();
            }
            assertNull(queue.peekWaiting());
        }
    }

    @Test
    void shouldTakeNoReadWithoutDepth() {
        assertTrue(new InboundReadQueue(0, deliveries).isFull());
        assertTrue(new OutboundReadQueue(0, () -> 1).isFull());
    }
}
