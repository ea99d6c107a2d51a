package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.ShortHeap;

/** What the receive queues do with completions for which there is no memory. */
class ShortHeapTest {

    @Test
    void shouldCompleteEachReceiveOnce() throws Exception {
        ShortHeap.run(ShortHeapTest.class);
    }

    public static void main(String[] arguments) throws IOException {
        DeliveryRing deliveries = new DeliveryRing();
        ReceiveQueue receives = new ReceiveQueue(2, deliveries);
        receives.offer(1, null, 0, 0);
        receives.offer(2, null, 0, 0);
        receives.fillTaken(0, false, 0);
        receives.fillTaken(0, false, 0);
        assertEquals(List.of(1L, 2L), ShortHeap.completions(deliveries, receives::completeFilled));
        receives.offer(3, null, 0, 0);
        receives.offer(4, null, 0, 0);
        assertEquals(List.of(3L, 4L), ShortHeap.completions(deliveries, receives::flush));

        SharedReceiveStack stack = new SharedReceiveStack(new LoopCore(System::nanoTime, () -> 1), 2);
        MemoryRegion region = new IwarpProvider().registerMemory(ByteBuffer.allocateDirect(100));
        stack.postReceive(5, region, 0, 0);
        stack.postReceive(6, region, 0, 0);
        SharedReceives shared = new SharedReceives(stack, new TakenReceives(), deliveries, 1, () -> { });
        assertTrue(shared.take());
        shared.fillTaken(0, false, 0);
        assertTrue(shared.take());
        assertEquals(List.of(6L), ShortHeap.completions(deliveries, shared::completeFilled));
        assertEquals(List.of(5L), ShortHeap.completions(deliveries, shared::flush));
        assertEquals(1, stack.neededReceives(2, 1)); // none is taken
    }
}
