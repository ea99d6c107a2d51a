package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;

/**
 * The receives of one queue pair, in posting order:
 * <pre>{@code
 *   head                    head + arrived        posted              tail
 *    | arrived, not delivered | with the device     | not posted yet    |
 * }</pre>
 * Messages that arrive before the connection was reported wait here until it is, and so do failures.
 */
final class ReceiveRing {

    private static final int REQUEST_BYTES = NativeExtensions.RECEIVE_HEADER_BYTES + NativeExtensions.ELEMENT_BYTES;

    private final DeliveryRing deliveries;
    private final int depth;
    private final long[] ids;
    private final DisniMemoryRegion[] regions;
    private final int[] offsets;
    private final int[] lengths; // of the buffer, and once a message has arrived of that
    private final int[] invalidatedTags;
    private final boolean[] invalidated;
    private final WorkCompletionStatus[] statuses;
    private final int[] vendorErrors;
    private long head;
    private long arrived;
    private long posted;
    private long tail;

    ReceiveRing(int depth, DeliveryRing deliveries) {
        this.depth = depth;
        this.deliveries = deliveries;
        ids = new long[depth];
        regions = new DisniMemoryRegion[depth];
        offsets = new int[depth];
        lengths = new int[depth];
        invalidatedTags = new int[depth];
        invalidated = new boolean[depth];
        statuses = new WorkCompletionStatus[depth];
        vendorErrors = new int[depth];
    }

    /** Takes a buffer in; {@code false} if the queue is full. */
    boolean offer(long id, DisniMemoryRegion region, int offset, int length) {
        if (tail - head == depth) {
            return false;
        }
        int slot = slot(tail++);
        ids[slot] = id;
        regions[slot] = region;
        offsets[slot] = offset;
        lengths[slot] = length;
        return true;
    }

    /** Gives the device what it does not have yet. */
    void post(NativeVerbs verbs, Device device, long queuePair, int queuePairNumber, ByteBuffer memory) throws IOException {
        while (posted < tail) {
            int count = (int) Math.min(tail - posted, memory.capacity() / REQUEST_BYTES);
            for (int i = 0; i < count; i++) {
                int slot = slot(posted + i);
                int at = i * REQUEST_BYTES;
                memory.putLong(at + NativeExtensions.RECEIVE_ID, WorkRequestKey.receive(queuePairNumber, slot))
                        .putInt(at + NativeExtensions.RECEIVE_ELEMENTS, 1);
                verbs.putElement(memory, at + NativeExtensions.RECEIVE_HEADER_BYTES, regions[slot].registration(device),
                        offsets[slot], lengths[slot]);
            }
            posted += verbs.postReceive(queuePair, memory, 0, count);
        }
    }

    /** A message has arrived in the oldest buffer that the device has. */
    void arrived(int slot, int byteLength, boolean isInvalidated, int invalidatedTag) {
        requireNext(slot);
        statuses[slot] = WorkCompletionStatus.SUCCESS;
        lengths[slot] = byteLength;
        invalidated[slot] = isInvalidated;
        invalidatedTags[slot] = isInvalidated ? invalidatedTag : 0;
        arrived++;
    }

    /** The oldest buffer that the device has got no message. */
    void failed(int slot, WorkCompletionStatus status, int vendorError) {
        requireNext(slot);
        statuses[slot] = status;
        vendorErrors[slot] = vendorError;
        arrived++;
    }

    private void requireNext(int slot) {
        if (arrived == posted || slot != slot(arrived)) {
            throw new IllegalStateException("completion of receive " + slot + " out of order");
        }
    }

    /** Hands out what has arrived. */
    void deliver() {
        while (head < arrived) {
            int slot = slot(head);
            if (statuses[slot] == WorkCompletionStatus.SUCCESS) {
                deliveries.completeReceive(take(), lengths[slot], invalidated[slot], invalidatedTags[slot]);
            } else {
                deliveries.complete(take(), statuses[slot], 0, vendorErrors[slot]);
            }
        }
    }

    /** The device has none of these buffers any more. */
    void flush() {
        while (head < tail) {
            deliveries.complete(take(), WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
        }
        arrived = head;
        posted = head;
    }

    private long take() {
        int slot = slot(head++);
        regions[slot] = null;
        return ids[slot];
    }

    private int slot(long sequence) {
        return (int) (sequence % depth);
    }
}
