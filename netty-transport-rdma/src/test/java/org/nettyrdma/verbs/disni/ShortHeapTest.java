package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.ShortHeap;

/** What the queues, and a connection that ends, do with what there is no memory to deliver. */
class ShortHeapTest {

    @Test
    void shouldTellEachEndOnce() throws Exception {
        ShortHeap.run(ShortHeapTest.class);
    }

    public static void main(String[] arguments) throws IOException {
        DeliveryRing deliveries = new DeliveryRing();
        ReceiveRing receives = new ReceiveRing(3, deliveries);
        StubVerbs verbs = new StubVerbs();
        for (long id = 0; id <= 2; id++) {
            receives.offer(id, null, 0, 0);
        }
        receives.post(verbs, StubConnection.device(verbs), 1, 1, NativeVerbs.newMemory(1024));
        receives.arrived(0, 0, false, 0);
        receives.failed(1, WorkCompletionStatus.LOCAL_LENGTH_ERROR, 0);
        receives.immediateArrived(2, 0, 0);
        assertEquals(List.of(0L, 1L, 2L), ShortHeap.completions(deliveries, receives::deliver));

        receives.offer(3, null, 0, 0);
        receives.offer(4, null, 0, 0);
        assertEquals(List.of(3L, 4L), ShortHeap.completions(deliveries, receives::flush));

        SendRing sends = new SendRing(2, 2, deliveries);
        List<Boolean> aftermaths = new ArrayList<>();
        sends.add(5, aftermaths::add);
        sends.add(6, null);
        assertEquals(List.of(5L, 6L), ShortHeap.completions(deliveries, sends::flush));
        assertEquals(List.of(false), aftermaths);
        endOfConnection();
    }

    private static void endOfConnection() throws IOException {
        StubVerbs verbs = new StubVerbs();
        DisniContext context = new DisniContext(StubConnection.device(verbs));
        StubConnection connection = new StubConnection(context);
        connection.send(7);
        verbs.destroyedIds.clear();
        assertEquals(List.of(7L), ShortHeap.completions(context.parts().deliveries(), connection.queuePair::moveToError));
        assertEquals(List.of("established", "disconnected"), connection.heard);

        StubConnection attempt = StubConnection.connecting(context);
        assertEquals(List.of(), ShortHeap.completions(context.parts().deliveries(), attempt.queuePair::close));
        context.close();
        assertEquals(2, Set.copyOf(verbs.destroyedIds).size());
        assertEquals(2, verbs.destroyedIds.size());
    }
}
