package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.ShortHeap;
import org.nettyrdma.verbs.support.SteeringTag;
import org.nettyrdma.verbs.support.SteeringTagTable;

/** What the receive queues, and a connection that ends, do with what there is no memory to deliver. */
class ShortHeapTest {

    @Test
    void shouldTellEachEndOnce(@TempDir Path directory) throws Exception {
        ShortHeap.run(ShortHeapTest.class, directory.resolve("shm").toString());
    }

    public static void main(String[] arguments) throws IOException {
        DeliveryRing deliveries = new DeliveryRing();
        ReceiveRing receives = new ReceiveRing(2, deliveries);
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
        SharedReceiveSource shared = new SharedReceiveSource(stack, new TakenReceives(), deliveries, 1, () -> { });
        assertTrue(shared.take());
        shared.fillTaken(0, false, 0);
        assertTrue(shared.take());
        assertEquals(List.of(6L), ShortHeap.completions(deliveries, shared::completeFilled));
        assertEquals(List.of(5L), ShortHeap.completions(deliveries, shared::flush));
        assertEquals(1, stack.neededReceives(2, 1)); // none is taken

        GrantQueue reads = new GrantQueue(2, deliveries);
        SteeringTagTable tags = new SteeringTagTable(() -> 1);
        SteeringTag source = tags.expose(region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
        reads.add(source, 0, 10);
        assertFalse(tags.invalidate(7, source.value()));
        assertEquals(List.of(7L), ShortHeap.completions(deliveries, reads::flush));
        endOfConnection(Path.of(arguments[0]));
    }

    private static void endOfConnection(Path directory) throws IOException {
        ShmProvider provider = new ShmProvider(new ShmSettings(directory, Set.of()));
        try (ShmSide server = new ShmSide(provider); ShmSide client = new ShmSide(provider)) {
            client.connect(server.listen(), 2);
            server.accept(0);
            client.awaitTrue(() -> client.established);
            client.queuePair.postSend(client.work.send(1000).addElement(client.region, 0, 10));
            int tag = client.queuePair.expose(client.region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
            boolean[] hasFailed = {false};
            assertEquals(List.of(1000L, 0L, 1L), ShortHeap.completions(((ShmContext) client.context).parts().deliveries(), () -> {
                if (hasFailed[0]) {
                    assertDoesNotThrow(() -> server.awaitTrue(() -> server.ended)); // its socket has ended all the same
                    assertThrows(IllegalArgumentException.class, () -> client.queuePair.remoteOffset(tag));
                    assertFalse(client.ended);
                }
                hasFailed[0] = true;
                client.queuePair.abort();
            }));
            assertEquals(1, client.ends);
        }
    }
}
