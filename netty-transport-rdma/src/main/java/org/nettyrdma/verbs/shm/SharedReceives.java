package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.SharedReceiveStack;

/**
 * What one connection has of a shared receive queue: nothing but in its turn, as every message is copied whole.
 */
final class SharedReceives implements Receives, SharedReceiveStack.Taker {

    private final SharedReceiveStack queue;
    private final TakenReceives mine;
    private final DeliveryRing deliveries;
    private final int queuePairNumber;
    private final Runnable resumed;
    private long messages;
    private long allowed = Long.MAX_VALUE;
    private boolean heldBack;
    private boolean waiting;

    /**
     * @param mine    is this connection's while it has its turn
     * @param resumed told that there may be a buffer for what waits
     */
    SharedReceives(SharedReceiveStack queue, TakenReceives mine, DeliveryRing deliveries, int queuePairNumber, Runnable resumed) {
        this.queue = queue;
        this.mine = mine;
        this.deliveries = deliveries;
        this.queuePairNumber = queuePairNumber;
        this.resumed = resumed;
        queue.opened();
    }

    @Override
    public boolean take() {
        heldBack = messages >= allowed;
        waiting = !heldBack && !queue.take(this);
        return mayTake();
    }

    @Override
    public boolean mayTake() {
        return !heldBack && !waiting;
    }

    @Override
    public void taken(long workRequestId, MemoryRegion region, int offset, int length) {
        mine.add(workRequestId, region, offset, length);
        messages++;
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
        allowed = 0;
        queue.forget(this);
        while (mine.completed() < mine.taken()) {
            complete(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, false, 0, 0);
        }
    }

    private void complete(WorkCompletionStatus status, int byteLength, boolean isInvalidated, int invalidatedTag,
                          int vendorError) {
        queue.returned(this, false);
        deliveries.completeShared(queuePairNumber, mine.workRequestId(mine.completed()), status, byteLength, isInvalidated,
                invalidatedTag, vendorError);
        mine.countCompleted();
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
        waiting = false;
        resumed.run();
    }

    @Override
    public void tooSlow(int limitMillis) {
        throw new IllegalStateException("messages in shared memory are always whole"); // it is never told to be incomplete
    }
}
