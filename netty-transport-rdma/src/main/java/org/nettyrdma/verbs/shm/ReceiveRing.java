package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.PowerOfTwo;

/** The receive queue of one connection: buffers for incoming Sends, filled and completed in posting order. */
final class ReceiveRing implements ReceiveSource {

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

    ReceiveRing(int depth, DeliveryRing deliveries) {
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

    /** The next message gets the oldest empty buffer. */
    @Override
    public boolean take() {
        return mayTake();
    }

    @Override
    public boolean mayTake() {
        return filled != tail;
    }

    @Override
    public ByteBuffer memory() {
        return regions[index(filled)].memory();
    }

    @Override
    public int offset() {
        return offsets[index(filled)];
    }

    @Override
    public int length() {
        return lengths[index(filled)];
    }

    @Override
    public void fillTaken(int byteLength, boolean isInvalidated, int invalidatedTag) {
        int index = index(filled++);
        lengths[index] = byteLength;
        invalidated[index] = isInvalidated;
        invalidatedTags[index] = invalidatedTag;
    }

    @Override
    public void completeFilled() {
        while (head != filled) {
            int index = index(head);
            deliveries.completeReceive(workRequestIds[index], lengths[index], invalidated[index], invalidatedTags[index]);
            removeOldest();
        }
    }

    @Override
    public void failTaken(WorkCompletionStatus status, int vendorError) {
        completeFilled();
        failOldest(status, vendorError);
    }

    @Override
    public void flush() {
        while (head != tail) {
            failOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
        filled = head;
    }

    private void failOldest(WorkCompletionStatus status, int vendorError) {
        deliveries.complete(workRequestIds[index(head)], status, 0, vendorError);
        removeOldest();
        filled = Math.max(filled, head);
    }

    /** Only once its completion is noted, for which there may be no memory. */
    private void removeOldest() {
        regions[index(head++)] = null;
    }

    private int index(long sequence) {
        return (int) sequence & regions.length - 1;
    }
}
