package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.ShortHeap;
import org.nettyrdma.verbs.support.SteeringTag;

/** RDMA Reads of a peer for which there is no memory end its connection, and the end is complete. */
class ShortHeapReadsTest {

    @Test
    void shouldEndThoughThereWasNoMemoryForOneMore() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        public static void main(String[] arguments) {
            InboundReadQueue queue = new InboundReadQueue(4, new DeliveryRing());
            SteeringTag tag = new SteeringTag(1, new IwarpMemoryRegion(ByteBuffer.allocateDirect(8)), 0, 8,
                    QueuePair.ACCESS_REMOTE_READ);
            InboundRead read = new InboundRead();
            read.set(tag, 0, 8, 2, 0);
            queue.add(read);
            queue.add(read);
            queue.add(read); // of four that there is room for now
            int[] failures = new int[1];
            ShortHeap.whileFull(() -> {
                try {
                    queue.add(read);
                } catch (OutOfMemoryError e) {
                    failures[0]++; // as the connection would tell
                }
            });
            assertEquals(1, failures[0]);
            queue.flush();
            assertFalse(tag.isBeingRead());
            assertNull(queue.peekWaiting());
        }
    }
}
