package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.SharedReceiveStack;

/**
 * What one connection has of an {@link SharedReceiveStack}: one buffer at most, from the first byte of a message to its
 * last.
 */
final class SharedReceives implements ReceiveSource, SharedReceiveStack.Taker {

    /** The connection. */
    interface Owner {

        /** There may be a buffer now for what waits. */
        void receivePosted();

        /** The peer has had its time to complete a message of which it has sent a part. */
        void messageTooSlow(int limitMillis);
    }

    private final SharedReceiveStack queue;
    private final DeliveryRing deliveries;
    private final int queuePairNumber;
    private final Owner owner;
    /** Where the buffer goes that is asked for. */
    private MemoryCursor target;
    private boolean hasTaken;
    private boolean isIncomplete;
    private long takenId;
    private int takenLength;
    private long messages;
    private long allowed = Long.MAX_VALUE;
    private boolean heldBack;

    SharedReceives(SharedReceiveStack queue, DeliveryRing deliveries, int queuePairNumber, Owner owner) {
        this.queue = queue;
        this.deliveries = deliveries;
        this.queuePairNumber = queuePairNumber;
        this.owner = owner;
        queue.opened();
    }

    @Override
    public Outcome take(MemoryCursor cursor, boolean isWhole, boolean stageable) {
        if (messages >= allowed) {
            heldBack = true;
            return Outcome.NONE;
        }
        if (!isWhole && queue.isShareUsedUp()) {
            if (stageable) {
                return Outcome.WHEN_WHOLE;
            }
            queue.awaitShare(this);
            return Outcome.NONE;
        }
        target = cursor;
        return queue.take(this) ? Outcome.TAKEN : Outcome.NONE;
    }

    @Override
    public void taken(long workRequestId, MemoryRegion region, int offset, int length) {
        target.start(region, offset, length);
        hasTaken = true;
        takenId = workRequestId;
        takenLength = length;
        messages++;
    }

    @Override
    public int takenLength() {
        return takenLength;
    }

    @Override
    public void completeTaken(int byteLength, boolean invalidated, int invalidatedTag) {
        giveBack();
        deliveries.completeShared(queuePairNumber, takenId, WorkCompletionStatus.SUCCESS, byteLength, invalidated, invalidatedTag,
                0);
    }

    @Override
    public void failTaken(WorkCompletionStatus status, int vendorError) {
        giveBack();
        deliveries.completeShared(queuePairNumber, takenId, status, 0, false, 0, vendorError);
    }

    private void giveBack() {
        hasTaken = false;
        queue.returned(this, isIncomplete);
        isIncomplete = false;
    }

    @Override
    public void turnEnded() {
        if (hasTaken && !isIncomplete) {
            isIncomplete = true;
            queue.incomplete(this);
        }
    }

    @Override
    public void flush() {
        allowed = 0;
        queue.forget(this);
        if (hasTaken) {
            failTaken(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
    }

    /** The queue pair is closed, and was flushed. */
    void close() {
        queue.left();
    }

    /**
     * How many messages may be taken in all.
     *
     * @return whether this lets a message go on that could not be taken before
     */
    boolean allow(long newAllowed) {
        allowed = newAllowed;
        boolean released = heldBack && messages < allowed;
        heldBack &= !released;
        return released;
    }

    @Override
    public long messages() {
        return messages;
    }

    @Override
    public void resume() {
        owner.receivePosted();
    }

    @Override
    public void tooSlow(int limitMillis) {
        owner.messageTooSlow(limitMillis);
    }
}
