package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SharedReceiveTaker;

/** What one connection has of a shared receive queue: one buffer at most, from the first byte of a message to its last. */
final class SharedReceiveSource extends SharedReceiveTaker implements ReceiveSource {

    /** The connection. */
    interface Owner {

        /** There may be a buffer now for what waits. */
        void receivePosted();

        /** The peer has had its time to complete a message of which it has sent a part. */
        void messageTooSlow();
    }

    private final DeliveryRing deliveries;
    private final int queuePairNumber;
    private final Owner owner;
    /** Where the buffer goes that is asked for. */
    private MemoryCursor target;
    private boolean hasTaken;
    private boolean isIncomplete;
    private long takenId;
    private int takenLength;

    SharedReceiveSource(SharedReceiveStack queue, DeliveryRing deliveries, int queuePairNumber, Owner owner) {
        super(queue);
        this.deliveries = deliveries;
        this.queuePairNumber = queuePairNumber;
        this.owner = owner;
    }

    @Override
    public Outcome take(MemoryCursor cursor, boolean isWhole, boolean stageable) {
        if (holdBack()) {
            return Outcome.NONE;
        }
        if (!isWhole && queue().isShareUsedUp()) {
            if (stageable) {
                return Outcome.WHEN_WHOLE;
            }
            queue().awaitShare(this);
            return Outcome.NONE;
        }
        target = cursor;
        return queue().take(this) ? Outcome.TAKEN : Outcome.NONE;
    }

    @Override
    protected void taken(long workRequestId, MemoryRegion region, int offset, int length) {
        target.start(region, offset, length);
        hasTaken = true;
        takenId = workRequestId;
        takenLength = length;
    }

    @Override
    public int takenLength() {
        return takenLength;
    }

    @Override
    public void completeTaken(int byteLength, boolean invalidated, int invalidatedTag) {
        deliveries.completeShared(queuePairNumber, takenId, WorkCompletionStatus.SUCCESS, byteLength, invalidated, invalidatedTag,
                0);
        giveBack();
    }

    @Override
    public void failTaken(WorkCompletionStatus status, int vendorError) {
        deliveries.completeShared(queuePairNumber, takenId, status, 0, false, 0, vendorError);
        giveBack();
    }

    /** Only once its completion is noted, for which there may be no memory. */
    private void giveBack() {
        hasTaken = false;
        queue().returned(this, isIncomplete);
        isIncomplete = false;
    }

    @Override
    public void turnEnded() {
        if (hasTaken && !isIncomplete) {
            isIncomplete = true;
            queue().incomplete(this);
        }
    }

    @Override
    public void flush() {
        stop();
        if (hasTaken) {
            failTaken(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
    }

    @Override
    protected void resume() {
        owner.receivePosted();
    }

    @Override
    protected void tooSlow() {
        owner.messageTooSlow();
    }
}
