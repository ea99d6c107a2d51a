package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SharedReceiveTaker;

/** What one connection has of a shared receive queue: nothing but in its turn, as every message is copied whole. */
final class SharedReceiveSource extends SharedReceiveTaker implements ReceiveSource {

    private final TakenReceives mine;
    private final DeliveryRing deliveries;
    private final int queuePairNumber;
    private final Runnable resumed;
    private boolean waiting;
    private int takenBefore;

    /**
     * @param mine    is this connection's while it has its turn
     * @param resumed told that there may be a buffer for what waits
     */
    SharedReceiveSource(SharedReceiveStack queue, TakenReceives mine, DeliveryRing deliveries, int queuePairNumber,
                        Runnable resumed) {
        super(queue);
        this.mine = mine;
        this.deliveries = deliveries;
        this.queuePairNumber = queuePairNumber;
        this.resumed = resumed;
    }

    @Override
    public boolean take() {
        takenBefore = mine.taken();
        waiting = !holdBack() && !queue().take(this);
        return mayTake();
    }

    @Override
    public boolean mayTake() {
        return !isHeldBack() && !waiting;
    }

    @Override
    protected void taken(long workRequestId, MemoryRegion region, int offset, int length) {
        mine.add(workRequestId, region, offset, length);
    }

    @Override
    protected void notTaken() {
        mine.takeBack(takenBefore);
    }

    @Override
    public ByteBuffer memory() {
        return mine.memory();
    }

    @Override
    public int offset() {
        return mine.offset();
    }

    @Override
    public int length() {
        return mine.length();
    }

    @Override
    public void fillTaken(int byteLength, boolean isInvalidated, int invalidatedTag) {
        mine.fill(byteLength, isInvalidated, invalidatedTag);
    }

    @Override
    public void completeFilled() {
        while (mine.completed() < mine.filled()) {
            int index = mine.completed();
            complete(WorkCompletionStatus.SUCCESS, mine.byteLength(index), mine.isInvalidated(index), mine.invalidatedTag(index),
                    0);
        }
    }

    @Override
    public void failTaken(WorkCompletionStatus status, int vendorError) {
        completeFilled();
        complete(status, 0, false, 0, vendorError);
    }

    @Override
    public void flush() {
        stop();
        while (mine.completed() < mine.taken()) {
            complete(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, false, 0, 0);
        }
    }

    private void complete(WorkCompletionStatus status, int byteLength, boolean isInvalidated, int invalidatedTag,
                          int vendorError) {
        deliveries.completeShared(queuePairNumber, mine.workRequestId(mine.completed()), status, byteLength, isInvalidated,
                invalidatedTag, vendorError);
        mine.countCompleted(); // only now: there may be no memory to note the completion
        queue().returned(this, false);
    }

    @Override
    protected void resume() {
        waiting = false;
        resumed.run();
    }

    @Override
    protected void tooSlow() {
        throw new IllegalStateException("messages in shared memory are always whole"); // it is never told to be incomplete
    }
}
