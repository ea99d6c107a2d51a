package org.nettyrdma.verbs.iwarp;

import java.util.function.IntSupplier;
import org.nettyrdma.verbs.support.Rings;
import org.nettyrdma.verbs.support.SendSlot;

/**
 * This side's RDMA Reads that are asked for and not answered, oldest first. The sink tags are random and stand in no table
 * that an RDMA Write could reach, so the peer can fill a sink only by answering (RFC 5042, section 6.3).
 *
 * <p>All sinks begin at tagged offset 0.
 */
final class OutboundReadQueue {

    private SendSlot[] requests = new SendSlot[1]; // this and the next grow together
    private int[] sinkTags = new int[1];
    private final int depth;
    private final IntSupplier generator;
    private final MemoryCursor oldestCursor = new MemoryCursor();

    private int head;
    private int tail;
    private int oldestReceived;

    /**
     * @param depth the most that may be outstanding; 0 or more
     */
    OutboundReadQueue(int depth, IntSupplier generator) {
        this.depth = depth;
        this.generator = generator;
    }

    int depth() {
        return depth;
    }

    boolean isFull() {
        return tail - head == depth;
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** Takes in a Read that is being asked for. The queue must not be full. Returns the sink tag to ask with. */
    int add(SendSlot request) {
        assert !isFull();
        if (tail - head == requests.length) {
            grow();
        }
        int index = index(tail++);
        requests[index] = request;
        sinkTags[index] = generator.getAsInt();
        if (tail - head == 1) {
            startOldest();
        }
        return sinkTags[index];
    }

    private void grow() {
        SendSlot[] grown = Rings.doubled(requests, head);
        sinkTags = Rings.doubled(sinkTags, head);
        requests = grown;
    }

    int oldestSinkTag() {
        return sinkTags[index(head)];
    }

    /** The bytes of the oldest Read that have arrived, which is also the tagged offset at which its answer continues. */
    int oldestReceived() {
        return oldestReceived;
    }

    /** The bytes of the oldest Read that have not arrived. */
    int oldestMissing() {
        return requests[index(head)].totalBytes() - oldestReceived;
    }

    /** Where the next bytes of the oldest Read go. */
    MemoryCursor oldestCursor() {
        return oldestCursor;
    }

    /** More bytes of the oldest Read have arrived. */
    void received(int bytes) {
        oldestReceived += bytes;
    }

    /** The oldest Read has been answered in full. Returns its work request. */
    SendSlot removeOldest() {
        int index = index(head++);
        SendSlot request = requests[index];
        requests[index] = null;
        if (!isEmpty()) {
            startOldest();
        }
        return request;
    }

    /**
     * The Read that was asked for with a sink tag, or {@code null} if there is none.
     */
    SendSlot find(int sinkTag) {
        for (int i = head; i != tail; i++) {
            if (sinkTags[index(i)] == sinkTag) {
                return requests[index(i)];
            }
        }
        return null;
    }

    private void startOldest() {
        oldestReceived = 0;
        oldestCursor.start(requests[index(head)]);
    }

    private int index(int sequence) {
        return sequence & requests.length - 1;
    }
}
