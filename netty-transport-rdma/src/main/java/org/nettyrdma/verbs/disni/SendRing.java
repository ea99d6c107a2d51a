package org.nettyrdma.verbs.disni;

import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;

/**
 * The send side of one queue pair: what is with the device, in posting order. The device tells of some of them only, and of
 * every one that fails; a completion stands for all that were posted before it.
 */
final class SendRing {

    /** What an entry is for, beyond its completion. */
    interface Aftermath {

        /** The work request has completed; without success if it failed or the queue pair has gone. */
        void completed(boolean success);
    }

    private final DeliveryRing deliveries;
    private final int depth;
    private final long[] ids;
    private final int[] byteLengths;
    private final boolean[] internal;
    private final Aftermath[] aftermaths;
    private final int capacity;
    private long head;
    private long tail;
    private int internalCount;

    /** @param depth entries for the user; {@code capacity - depth} are left for those of the provider itself */
    SendRing(int depth, int capacity, DeliveryRing deliveries) {
        this.depth = depth;
        this.capacity = capacity;
        this.deliveries = deliveries;
        ids = new long[capacity];
        byteLengths = new int[capacity];
        internal = new boolean[capacity];
        aftermaths = new Aftermath[capacity];
    }

    boolean isEmpty() {
        return head == tail;
    }

    boolean hasRoom() {
        return tail - head - internalCount < depth && tail - head < capacity;
    }

    boolean hasInternalRoom() {
        return internalCount < capacity - depth;
    }

    /** Adds an entry whose completion the user sees; returns its slot. */
    int add(long id, int byteLength, Aftermath aftermath) {
        return add(id, byteLength, false, aftermath);
    }

    /** Adds an entry that the user knows nothing of; returns its slot. */
    int addInternal() {
        internalCount++;
        return add(0, 0, true, null);
    }

    private int add(long id, int byteLength, boolean isInternal, Aftermath aftermath) {
        int slot = (int) (tail++ % capacity);
        ids[slot] = id;
        byteLengths[slot] = byteLength;
        internal[slot] = isInternal;
        aftermaths[slot] = aftermath;
        return slot;
    }

    /** Takes back the entry added last, which could not be posted. */
    void removeLast() {
        int slot = (int) (--tail % capacity);
        if (internal[slot]) {
            internalCount--;
        }
        aftermaths[slot] = null;
    }

    /** The device has completed an entry, and those before it with success. */
    void complete(int slot, WorkCompletionStatus status, int vendorError) {
        int distance = Math.floorMod(slot - (int) (head % capacity), capacity);
        if (slot >= capacity || distance >= tail - head) {
            throw new IllegalStateException("completion of send " + slot + ", which is not outstanding");
        }
        for (int i = 0; i < distance; i++) {
            completeOldest(WorkCompletionStatus.SUCCESS, 0);
        }
        completeOldest(status, vendorError);
    }

    /** The device has none of them any more. */
    void flush() {
        while (head < tail) {
            completeOldest(WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0);
        }
    }

    private void completeOldest(WorkCompletionStatus status, int vendorError) {
        int slot = (int) (head++ % capacity);
        Aftermath aftermath = aftermaths[slot];
        if (aftermath != null) {
            aftermaths[slot] = null;
            aftermath.completed(status == WorkCompletionStatus.SUCCESS);
        }
        if (internal[slot]) {
            internalCount--;
        } else {
            deliveries.complete(ids[slot], status, status == WorkCompletionStatus.SUCCESS ? byteLengths[slot] : 0, vendorError);
        }
    }
}
