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

    private static final int MAX_REQUEST_BYTES = NativeExtensions.RECEIVE_HEADER_BYTES + NativeExtensions.ELEMENT_BYTES;

    private final DeliveryRing deliveries;
    private final int depth;
    private final long[] ids;
    private final DisniMemoryRegion[] regions;
    private final int[] offsets;
    private final int[] lengths; // of the buffer, and once a message has arrived of that
    private final int[] invalidatedTags; // or the immediate data
    private final boolean[] invalidated;
    private final WorkCompletionStatus[] statuses;
    private final int[] vendorErrors;
    private final boolean[] immediate; // used up by an RDMA Write with immediate data
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
        immediate = new boolean[depth];
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
            int count = (int) Math.min(tail - posted, memory.capacity() / MAX_REQUEST_BYTES);
            // To some InfiniBand devices an element of length 0 means 2 GiB. The library of siw wants one.
            int emptyElements = device.limits().iwarp() ? 1 : 0;
            int at = 0;
            for (int i = 0; i < count; i++) {
                int slot = slot(posted + i);
                int elements = lengths[slot] > 0 ? 1 : emptyElements;
                memory.putLong(at + NativeExtensions.RECEIVE_ID, WorkRequestKey.receive(queuePairNumber, slot))
                        .putInt(at + NativeExtensions.RECEIVE_ELEMENTS, elements);
                at += NativeExtensions.RECEIVE_HEADER_BYTES;
                if (elements > 0) {
                    verbs.putElement(memory, at, regions[slot].registration(device), offsets[slot], lengths[slot]);
                    at += NativeExtensions.ELEMENT_BYTES;
                }
            }
            posted += verbs.postReceive(queuePair, memory, count);
        }
    }

    /** A message has arrived in the oldest buffer that the device has. */
    void arrived(int slot, int byteLength, boolean isInvalidated, int invalidatedTag) {
        requireNext(slot);
        statuses[slot] = WorkCompletionStatus.SUCCESS;
        lengths[slot] = byteLength;
        invalidated[slot] = isInvalidated;
        invalidatedTags[slot] = isInvalidated ? invalidatedTag : 0;
        immediate[slot] = false;
        arrived++;
    }

    /** An RDMA Write with immediate data has used up the oldest buffer that the device has. */
    void immediateArrived(int slot, int byteLength, int immediateData) {
        requireNext(slot);
        statuses[slot] = WorkCompletionStatus.SUCCESS;
        lengths[slot] = byteLength;
        invalidatedTags[slot] = immediateData;
        immediate[slot] = true;
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
            if (statuses[slot] != WorkCompletionStatus.SUCCESS) {
                deliveries.complete(ids[slot], statuses[slot], 0, vendorErrors[slot]);
            } else if (immediate[slot]) {
                deliveries.completeImmediate(ids[slot], lengths[slot], invalidatedTags[slot]);
            } else {
                deliveries.completeReceive(ids[slot], lengths[slot], invalidated[slot], invalidatedTags[slot]);
            }
            removeOldest();
        }
    }

    /** The device has none of these buffers any more. */
    void flush() {
        while (head < tail) {
            deliveries.complete(ids[slot(head)], WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
            removeOldest();
        }
        arrived = head;
        posted = head;
    }

    /** Only once its completion is noted, for which there may be no memory. */
    private void removeOldest() {
        regions[slot(head++)] = null;
    }

    private int slot(long sequence) {
        return (int) (sequence % depth);
    }
}
