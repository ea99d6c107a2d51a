package org.nettyrdma.verbs.support;

import org.nettyrdma.verbs.MemoryRegion;

/**
 * One connection at a {@link SharedReceiveStack}, which has one buffer at most with a part of a message, and takes as many
 * messages as its user allows. Event loop only.
 */
public abstract class SharedReceiveTaker {

    private final SharedReceiveStack queue;
    /** How many messages have begun, the current one included. The queue counts them. */
    long messages;
    private long allowed = Long.MAX_VALUE;
    private boolean heldBack;

    /**
     * Begins to use a queue, until {@link #close}.
     *
     * @param queue has the buffers
     */
    protected SharedReceiveTaker(SharedReceiveStack queue) {
        this.queue = queue;
    }

    /** The queue pair is there; {@link #close} has to follow. */
    public final void open() {
        queue.opened();
    }

    /**
     * Where the buffers are.
     *
     * @return the queue that this was created with
     */
    protected final SharedReceiveStack queue() {
        return queue;
    }

    /**
     * Looks whether the user wants the next message not yet.
     *
     * @return {@code true} if it has to wait until {@link #allow} says otherwise
     */
    protected final boolean holdBack() {
        heldBack = messages >= allowed;
        return heldBack;
    }

    /**
     * What {@link #holdBack} has found.
     *
     * @return {@code true} while a message is held back
     */
    protected final boolean isHeldBack() {
        return heldBack;
    }

    /** The connection has ended: it takes no more messages, and waits for nothing. */
    protected final void stop() {
        allowed = 0;
        queue.forget(this);
    }

    /** The queue pair is closed, and was flushed. */
    public final void close() {
        queue.left();
    }

    /**
     * How many messages may be taken in all.
     *
     * @param newAllowed their number
     * @return whether this lets a message go on that could not be taken before
     */
    public final boolean allow(long newAllowed) {
        allowed = newAllowed;
        boolean released = heldBack && messages < allowed;
        heldBack &= !released;
        return released;
    }

    /**
     * Answers {@link SharedReceiveStack#take}: the buffer is this connection's until {@link SharedReceiveStack#returned}.
     *
     * @param workRequestId as it was posted
     * @param region        its memory
     * @param offset        its first byte there
     * @param length        its size in bytes
     */
    protected abstract void taken(long workRequestId, MemoryRegion region, int offset, int length);

    /** {@link #taken} has failed, at its end perhaps: the buffer remains the queue's. */
    protected void notTaken() {
        // Memory that cannot fail is taken, or is not.
    }

    /** There may be a buffer now for what waits. */
    protected abstract void resume();

    /** The peer has had {@link SharedReceiveStack#INCOMPLETE_LIMIT_MILLIS} to complete a message of which it has sent a part. */
    protected abstract void tooSlow();
}
