package org.nettyrdma.verbs.support;

import java.util.function.Predicate;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * The send queue: work requests in posting order. First come those that are under way, then those that wait. They complete
 * in posting order, whichever is done first. Used by one event loop only.
 */
public final class SendRing {

    private static final int INITIAL_SLOTS = 8;

    private final int depth;
    /** Those that are complete stay, since the same ones are likely to come again: see {@link Pool}. */
    private SendSlot[] slots = new SendSlot[INITIAL_SLOTS];
    private final DeliveryRing deliveries;
    private final Pool<SendSlot> slotPool;

    private long head;
    private long next;
    private long tail;

    /**
     * Creates an empty queue.
     *
     * @param depth      work requests that it takes in
     * @param deliveries where the completions go
     * @param slotPool   shared by the connections of a context
     */
    public SendRing(int depth, DeliveryRing deliveries, Pool<SendSlot> slotPool) {
        this.depth = depth;
        this.deliveries = deliveries;
        this.slotPool = slotPool;
    }

    /**
     * Takes a work request in.
     *
     * @param request is copied
     * @return {@code false} if the queue is full
     */
    public boolean offer(SendWorkRequest request) {
        if (tail - head == depth) {
            return false;
        }
        if (tail - head == slots.length) {
            slots = Rings.doubled(slots, head);
        }
        SendSlot slot = slotPool.take();
        slot.set(request);
        int index = index(tail++);
        if (slots[index] != slot) {
            slots[index] = slot;
        }
        return true;
    }

    /**
     * How many work requests it takes in.
     *
     * @return the depth it was created with
     */
    public int depth() {
        return depth;
    }

    /**
     * Whether a work request is under way and not complete.
     *
     * @return {@code true} if so
     */
    public boolean hasOutstanding() {
        return head != next;
    }

    /**
     * The oldest work request that waits.
     *
     * @return it stays where it is; {@code null} if none waits
     */
    public SendSlot peekWaiting() {
        return next == tail ? null : slots[index(next)];
    }

    /** The oldest waiting work request is under way. */
    public void takeWaiting() {
        next++;
    }

    /**
     * Completes what is done.
     *
     * @param position how far the connection has got, see {@link SendSlot#endPosition()}
     */
    public void complete(long position) {
        while (head != next && slots[index(head)].endPosition() <= position) {
            SendSlot slot = slots[index(head)];
            completeOldest(WorkCompletionStatus.SUCCESS, slot.isRead() ? slot.totalBytes() : 0, 0);
        }
    }

    /**
     * Completes a work request with an error, and those before it as flushed. Does nothing if it is not under way.
     *
     * @param culprit     what has failed
     * @param status      how
     * @param vendorError the provider's own code for the failure, 0 for none
     */
    public void fail(SendSlot culprit, WorkCompletionStatus status, int vendorError) {
        if (find(slot -> slot == culprit) != null) {
            while (slots[index(head)] != culprit) {
                completeOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
            }
            completeOldest(status, 0, vendorError);
        }
    }

    /**
     * The oldest work request that is under way and looked for.
     *
     * @param wanted tells whether it is
     * @return it stays where it is; {@code null} if there is none
     */
    public SendSlot find(Predicate<SendSlot> wanted) {
        for (long i = head; i != next; i++) {
            SendSlot slot = slots[index(i)];
            if (wanted.test(slot)) {
                return slot;
            }
        }
        return null;
    }

    /** Completes all as flushed. */
    public void flush() {
        while (head != tail) {
            completeOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, 0);
        }
        next = tail;
    }

    private void completeOldest(WorkCompletionStatus status, int byteLength, int vendorError) {
        SendSlot slot = slots[index(head)];
        deliveries.complete(slot.workRequestId(), status, byteLength, vendorError);
        head++; // not before its completion is there to be delivered, for which there may be no memory
        next = Math.max(next, head);
        slot.clear();
        slotPool.give(slot);
    }

    private int index(long sequence) {
        return (int) sequence & slots.length - 1;
    }
}
