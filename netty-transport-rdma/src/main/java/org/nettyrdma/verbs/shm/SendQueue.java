package org.nettyrdma.verbs.shm;

import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.GrowingQueue;
import org.nettyrdma.verbs.support.SendRing;
import org.nettyrdma.verbs.support.SendSlot;

/** The send queue, and how its work requests become entries of this side's ring. Positions count these entries. */
final class SendQueue {

    private final SendRing ring;
    private final int readDepth;
    /** The Reads that were published and are not answered, the oldest first. */
    private final GrowingQueue<SendSlot> reads = new GrowingQueue<>(2);
    private int longestSendBytes;

    /**
     * @param readDepth RDMA Reads that may be outstanding
     */
    SendQueue(SendRing ring, int readDepth) {
        this.ring = ring;
        this.readDepth = readDepth;
    }

    int depth() {
        return ring.depth();
    }

    /** Takes a work request in; {@code false} if the queue is full. */
    boolean offer(SendWorkRequest request) {
        for (int i = 0; i < request.elementCount(); i++) {
            ShmMemoryRegion.class.cast(request.region(i)); // whoever posts other memory is to hear of it now
        }
        return ring.offer(request);
    }

    /** Whether something waits to be published. */
    boolean hasWaiting() {
        return ring.peekWaiting() != null;
    }

    boolean hasOutstanding() {
        return ring.hasOutstanding();
    }

    /**
     * Publishes what waits, as far as there is room.
     *
     * @param limit           one more than the last entry that may be written
     * @param agreedReadDepth what the other side lets be outstanding
     * @return whether anything was published
     */
    boolean publish(OwnControl control, long limit, int agreedReadDepth) {
        int maxReads = Math.min(readDepth, agreedReadDepth);
        long before = control.nextEntry();
        for (SendSlot slot = ring.peekWaiting(); slot != null; slot = ring.peekWaiting()) {
            int pieces = slot.isRead() ? 0 : slot.pieceCount();
            if (limit - control.nextEntry() < ControlLayout.entriesFor(pieces) || slot.isRead() && reads.size() == maxReads) {
                break;
            }
            publish(control, slot, pieces);
            ring.takeWaiting();
        }
        return control.nextEntry() != before;
    }

    private void publish(OwnControl control, SendSlot slot, int pieces) {
        slot.setStartPosition(control.nextEntry());
        for (int i = 0; i < pieces; i++) {
            control.setPiece(i, ((ShmMemoryRegion) slot.region(i)).block(), slot.offset(i), slot.length(i));
        }
        Operation operation = Operation.of(slot.opcode());
        control.publish(operation, pieces, slot.steeringTag(), slot.remoteOffset(), slot.totalBytes());
        if (operation == Operation.READ) {
            reads.add(slot); // done when it is answered, not when the other side has seen it
        } else {
            slot.setEndPosition(control.nextEntry());
            if (operation != Operation.WRITE) {
                longestSendBytes = Math.max(longestSendBytes, slot.totalBytes());
            }
        }
    }

    /** The oldest Read that was published and is not answered, {@code null} without one. */
    SendSlot oldestRead() {
        return reads.peek();
    }

    /** The oldest Read has its bytes. */
    void readAnswered() {
        reads.poll().setEndPosition(0); // however little of its consumption was seen
    }

    /** Completes what is done, the other side having consumed so many entries. */
    void complete(long consumed) {
        ring.complete(consumed);
    }

    /** Completes what begins at an entry with an error, and what is before it as flushed; does nothing if there is no such. */
    void fail(long entry, WorkCompletionStatus status, int vendorError) {
        SendSlot culprit = ring.find(slot -> slot.startPosition() == entry);
        if (culprit != null) {
            ring.fail(culprit, status, vendorError);
        }
    }

    void flush() {
        reads.clear();
        ring.flush();
    }

    /** The length of the longest Send that the peer was sent. */
    int longestSendBytes() {
        return longestSendBytes;
    }
}
