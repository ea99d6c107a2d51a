package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.PowerOfTwo;

/**
 * The receive queue: buffers for incoming Sends, filled and completed in posting order. A message is first
 * {@linkplain #fillOldest filled in}, and completed only when what was copied is known to be right.
 */
final class ReceiveQueue {

    private final int depth;
    private final long[] workRequestIds;
    private final MemoryRegion[] regions;
    private final int[] offsets;
    private final int[] lengths;
    private final boolean[] invalidated;
    private final int[] invalidatedTags;
    private final DeliveryRing deliveries;

    private long head;
    private long filled;
    private long tail;

    ReceiveQueue(int depth, DeliveryRing deliveries) {
        this.depth = depth;
        int capacity = PowerOfTwo.atLeast(depth);
        workRequestIds = new long[capacity];
        regions = new MemoryRegion[capacity];
        offsets = new int[capacity];
        lengths = new int[capacity];
        invalidated = new boolean[capacity];
        invalidatedTags = new int[capacity];
        this.deliveries = deliveries;
    }

    int depth() {
        return depth;
    }

    /** Takes a buffer in; {@code false} if the queue is full. */
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

    /** Whether no buffer is empty. */
    boolean isEmpty() {
        return filled == tail;
    }

    /** The memory of the oldest empty buffer. */
    ByteBuffer memory() {
        return regions[index(filled)].memory();
    }

    int offset() {
        return offsets[index(filled)];
    }

    int length() {
        return lengths[index(filled)];
    }

    /** The oldest empty buffer holds a message. */
    void fillOldest(int byteLength, boolean isInvalidated, int invalidatedTag) {
        int index = index(filled++);
        lengths[index] = byteLength;
        invalidated[index] = isInvalidated;
        invalidatedTags[index] = invalidatedTag;
    }

    /** Completes those that hold a message. */
    void completeFilled() {
        while (head != filled) {
            int index = index(head++);
            regions[index] = null;
            deliveries.completeReceive(workRequestIds[index], lengths[index], invalidated[index], invalidatedTags[index]);
        }
    }

    /** The oldest empty buffer cannot take its message; those before it are complete. */
    void failOldest(WorkCompletionStatus status, int vendorError) {
        completeFilled();
        takeOldest(status, vendorError);
    }

    /** Completes all, also those that hold a message which must not be believed. */
    void flush() {
        while (head != tail) {
            takeOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
        filled = head;
    }

    private void takeOldest(WorkCompletionStatus status, int vendorError) {
        int index = index(head++);
        regions[index] = null;
        filled = Math.max(filled, head);
        deliveries.complete(workRequestIds[index], status, 0, vendorError);
    }

    private int index(long sequence) {
        return (int) sequence & regions.length - 1;
    }
}
