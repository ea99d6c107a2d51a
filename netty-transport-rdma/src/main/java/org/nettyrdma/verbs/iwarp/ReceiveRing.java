package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;

/**
 * The receive queue: buffers for incoming Sends, used and completed in posting order.
 */
final class ReceiveRing {

    private final int depth;
    private final long[] workRequestIds;
    private final MemoryRegion[] regions;
    private final int[] offsets;
    private final int[] lengths;
    private final DeliveryRing deliveries;

    private int head;
    private int tail;

    ReceiveRing(int depth, DeliveryRing deliveries) {
        this.depth = depth;
        int capacity = PowerOfTwo.atLeast(depth);
        workRequestIds = new long[capacity];
        regions = new MemoryRegion[capacity];
        offsets = new int[capacity];
        lengths = new int[capacity];
        this.deliveries = deliveries;
    }

    /**
     * Takes a buffer in.
     *
     * @return {@code false} if the queue is full
     */
    boolean offer(long workRequestId, MemoryRegion region, int offset, int length) {
        if (tail - head == depth) {
            return false;
        }
        int index = index(tail++);
        workRequestIds[index] = workRequestId;
        regions[index] = region;
        offsets[index] = offset;
        lengths[index] = length;
        return true;
    }

    int depth() {
        return depth;
    }

    boolean isEmpty() {
        return head == tail;
    }

    /**
     * The size of the oldest buffer in bytes. The queue must not be empty.
     */
    int oldestLength() {
        return lengths[index(head)];
    }

    /**
     * Points {@code cursor} at the oldest buffer. The queue must not be empty.
     */
    void startOldest(MemoryCursor cursor) {
        int index = index(head);
        cursor.start(regions[index], offsets[index], lengths[index]);
    }

    /**
     * A whole message is in the oldest buffer.
     */
    void completeOldest(int byteLength, boolean invalidated, int invalidatedTag) {
        deliveries.completeReceive(takeOldest(), byteLength, invalidated, invalidatedTag);
    }

    /**
     * The oldest buffer could not take its message.
     */
    void failOldest(WorkCompletionStatus status, int vendorError) {
        deliveries.complete(takeOldest(), status, 0, vendorError);
    }

    void flush() {
        while (!isEmpty()) {
            failOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
    }

    private long takeOldest() {
        int index = index(head++);
        regions[index] = null;
        return workRequestIds[index];
    }

    private int index(int sequence) {
        return sequence & regions.length - 1;
    }
}
