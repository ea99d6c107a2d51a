package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.Rings;
import org.nettyrdma.verbs.support.SteeringTag;

/**
 * The peer's RDMA Reads in the order of their arrival, which is the order of the answers (RFC 5040, section 5.5). First come
 * those whose answer is encoded but not all with TCP yet, then those that wait. As long as a Read is in here, its memory is
 * in use.
 */
final class InboundReadQueue {

    private final int depth;
    private InboundRead[] reads = new InboundRead[1];
    private final DeliveryRing deliveries;

    private int head;
    private int next;
    private int tail;

    /**
     * @param depth the most that the peer may have outstanding, 0 or a power of two
     */
    InboundReadQueue(int depth, DeliveryRing deliveries) {
        this.depth = depth;
        this.deliveries = deliveries;
    }

    int depth() {
        return depth;
    }

    boolean isFull() {
        return tail - head == depth;
    }

    /** Takes a copy of a Read in. The queue must not be full. */
    void add(InboundRead read) {
        assert !isFull();
        if (tail - head == reads.length) {
            reads = Rings.doubled(reads, head);
        }
        int index = index(tail);
        if (reads[index] == null) {
            reads[index] = new InboundRead();
        }
        reads[index].set(read);
        tail++; // not before there was memory for it
        if (read.source() != null) {
            read.source().readStarted();
        }
    }

    /**
     * The oldest Read that waits, or {@code null} if none does.
     */
    InboundRead peekWaiting() {
        return next == tail ? null : reads[index(next)];
    }

    /** The oldest waiting Read is being answered. */
    void takeWaiting() {
        next++;
    }

    /**
     * Releases what is done.
     *
     * @param handedToTcp bytes of this connection that TCP has taken
     */
    void complete(long handedToTcp) {
        while (head != next && reads[index(head)].endPosition() <= handedToTcp) {
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
        InboundRead read = reads[index(head)];
        SteeringTag source = read.source();
        if (source != null) {
            source.readEnded(deliveries, status);
        }
        read.clear();
        head++; // not before its end is there to be delivered, for which there may be no memory
    }

    private int index(int sequence) {
        return sequence & reads.length - 1;
    }
}
