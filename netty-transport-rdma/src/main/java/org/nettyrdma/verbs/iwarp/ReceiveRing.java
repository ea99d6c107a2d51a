package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.PowerOfTwo;

/** The receive queue: buffers for incoming Sends, used and completed in posting order. */
final class ReceiveRing implements ReceiveSource {

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

    /** Takes a buffer in. Returns {@code false} if the queue is full. */
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

    private boolean isEmpty() {
        return head == tail;
    }

    @Override
    public Outcome take(MemoryCursor cursor, boolean isWhole, boolean stageable) {
        if (isEmpty()) {
            return Outcome.NONE;
        }
        int index = index(head);
        cursor.start(regions[index], offsets[index], lengths[index]);
        return Outcome.TAKEN;
    }

    @Override
    public int takenLength() {
        return lengths[index(head)];
    }

    @Override
    public void completeTaken(int byteLength, boolean invalidated, int invalidatedTag) {
        deliveries.completeReceive(workRequestIds[index(head)], byteLength, invalidated, invalidatedTag);
        removeOldest();
    }

    @Override
    public void failTaken(WorkCompletionStatus status, int vendorError) {
        deliveries.complete(workRequestIds[index(head)], status, 0, vendorError);
        removeOldest();
    }

    @Override
    public void turnEnded() {
        // Whoever has queues of its own may hold them.
    }

    @Override
    public void flush() {
        while (!isEmpty()) {
            failTaken(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
    }

    /** Not before its completion is there to be delivered, for which there may be no memory. */
    private void removeOldest() {
        regions[index(head++)] = null;
    }

    private int index(int sequence) {
        return sequence & regions.length - 1;
    }
}
