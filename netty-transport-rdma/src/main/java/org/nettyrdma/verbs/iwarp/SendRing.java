package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;

/**
 * The send queue: work requests in posting order. First come those that are encoded and not done, then those that wait.
 * They complete in posting order, whichever is done first.
 */
final class SendRing {

    private final int depth;
    private final SendSlot[] slots;
    private final DeliveryRing deliveries;
    private final Pool<SendSlot> slotPool;

    private long head;
    private long next;
    private long tail;

    /**
     * @param slotPool shared by the connections of a context
     */
    SendRing(int depth, DeliveryRing deliveries, Pool<SendSlot> slotPool) {
        this.depth = depth;
        slots = new SendSlot[PowerOfTwo.atLeast(depth)];
        this.deliveries = deliveries;
        this.slotPool = slotPool;
    }

    /**
     * Takes a work request in.
     *
     * @return {@code false} if the queue is full
     */
    boolean offer(SendWorkRequest request) {
        if (tail - head == depth) {
            return false;
        }
        SendSlot slot = slotPool.take();
        slot.set(request);
        slots[index(tail++)] = slot;
        return true;
    }

    int depth() {
        return depth;
    }

    /**
     * The oldest work request that waits, or {@code null} if none does.
     */
    SendSlot peekWaiting() {
        return next == tail ? null : slots[index(next)];
    }

    /**
     * The oldest waiting work request is being encoded.
     */
    void takeWaiting() {
        next++;
    }

    /**
     * Completes what is done.
     *
     * @param handedToTcp bytes of this connection that TCP has taken
     */
    void complete(long handedToTcp) {
        while (head != next && slots[index(head)].endPosition() <= handedToTcp) {
            SendSlot slot = slots[index(head)];
            completeOldest(WorkCompletionStatus.SUCCESS, slot.isRead() ? slot.totalBytes() : 0, 0);
        }
    }

    /**
     * Completes {@code culprit} with an error, and those before it as flushed. Does nothing if it is not in the queue.
     */
    void fail(SendSlot culprit, WorkCompletionStatus status, int vendorError) {
        if (contains(culprit)) {
            while (slots[index(head)] != culprit) {
                completeOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
            }
            completeOldest(status, 0, vendorError);
        }
    }

    /**
     * The oldest RDMA Write that uses a steering tag and is encoded, or {@code null} if there is none.
     */
    SendSlot findWrite(int steeringTag) {
        for (long i = head; i != next; i++) {
            SendSlot slot = slots[index(i)];
            if (slot.opcode() == SendWorkRequest.Opcode.WRITE && slot.steeringTag() == steeringTag) {
                return slot;
            }
        }
        return null;
    }

    void flush() {
        while (head != tail) {
            completeOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
        }
        next = tail;
    }

    private boolean contains(SendSlot slot) {
        for (long i = head; i != tail; i++) {
            if (slots[index(i)] == slot) {
                return true;
            }
        }
        return false;
    }

    private void completeOldest(WorkCompletionStatus status, int byteLength, int vendorError) {
        int index = index(head);
        SendSlot slot = slots[index];
        slots[index] = null;
        head++;
        next = Math.max(next, head);
        deliveries.complete(slot.workRequestId(), status, byteLength, vendorError);
        slot.clear();
        slotPool.give(slot);
    }

    private int index(long sequence) {
        return (int) sequence & slots.length - 1;
    }
}
