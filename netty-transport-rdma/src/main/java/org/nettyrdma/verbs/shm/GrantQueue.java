package org.nettyrdma.verbs.shm;

import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.SteeringTag;

/**
 * The peer's RDMA Reads in the order of their arrival, which is the order of the answers. First come those that the peer was told
 * where to copy from and has not done so yet, then those that wait for room in the ring. As long as a Read is in here, its memory
 * is in use.
 */
final class GrantQueue {

    private final SteeringTag[] sources;
    private final long[] taggedOffsets;
    private final int[] sizes;
    private final long[] endEntries;
    private final DeliveryRing deliveries;

    private int head;
    private int next;
    private int tail;

    /**
     * @param depth the most that the peer may have outstanding, 0 or a power of two
     */
    GrantQueue(int depth, DeliveryRing deliveries) {
        sources = new SteeringTag[depth];
        taggedOffsets = new long[depth];
        sizes = new int[depth];
        endEntries = new long[depth];
        this.deliveries = deliveries;
    }

    int depth() {
        return sources.length;
    }

    boolean isFull() {
        return tail - head == sources.length;
    }

    boolean hasWaiting() {
        return next != tail;
    }

    boolean hasOutstanding() {
        return head != next;
    }

    /**
     * Takes a Read in.
     *
     * @param source where to read, {@code null} if there is nothing to read
     */
    void add(SteeringTag source, long taggedOffset, int size) {
        int index = index(tail++);
        sources[index] = source;
        taggedOffsets[index] = taggedOffset;
        sizes[index] = size;
        if (source != null) {
            source.readStarted();
        }
    }

    /** Answers those that wait, as far as there is room; tells whether any was. */
    boolean publish(OwnControl control, long limit) {
        int before = next;
        while (next != tail && control.nextEntry() < limit) {
            int index = index(next++);
            SteeringTag source = sources[index];
            if (source != null) {
                control.setPiece(0, ((ShmMemoryRegion) source.region()).block(), source.regionOffset(taggedOffsets[index]),
                        sizes[index]);
            }
            control.publish(Operation.GRANT, source == null ? 0 : 1, 0, 0, sizes[index]);
            endEntries[index] = control.nextEntry();
        }
        return next != before;
    }

    /** Releases what the peer has copied. */
    void complete(long consumed) {
        while (head != next && endEntries[index(head)] <= consumed) {
            releaseOldest(WorkCompletionStatus.SUCCESS);
        }
    }

    void flush() {
        while (head != tail) {
            releaseOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        }
        next = tail;
    }

    private void releaseOldest(WorkCompletionStatus status) {
        int index = index(head);
        SteeringTag source = sources[index];
        if (source != null) {
            source.readEnded(deliveries, status);
        }
        sources[index] = null;
        head++; // not before its end is there to be delivered, for which there may be no memory
    }

    private int index(int sequence) {
        return sequence & sources.length - 1;
    }
}
