package org.nettyrdma.verbs.disni;

import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;

/**
 * The send side of one queue pair: what is with the device, in posting order. The device tells of some of them only, and of
 * every one that fails; a completion stands for all that were posted before it, except for RDMA Reads. Those are told of one
 * by one, because the kernel's siw completes a Send although the Read before it has not been answered. Whatever the device's
 * order, completions are delivered in that of posting.
 */
final class SendRing {

    /** What an entry is for, beyond its completion. */
    interface Aftermath {

        /**
         * The work request has completed; without success if it failed or the queue pair has gone.
         *
         * @return {@code false} if its memory is not safe from the device all the same, so that nobody may be told of the
         *         completion
         */
        boolean completed(boolean success);
    }

    private final DeliveryRing deliveries;
    private final int depth;
    private final long[] ids;
    private final int[] byteLengths;
    private final boolean[] internal;
    private final boolean[] reads;
    private final WorkCompletionStatus[] statuses; // null until known
    private final int[] vendorErrors;
    private final Aftermath[] aftermaths;
    private final int capacity;
    private long head;
    private long tail;
    private int internalCount;
    private boolean stuck;

    /** @param depth entries for the user; {@code capacity - depth} are left for those of the provider itself */
    SendRing(int depth, int capacity, DeliveryRing deliveries) {
        this.depth = depth;
        this.capacity = capacity;
        this.deliveries = deliveries;
        ids = new long[capacity];
        byteLengths = new int[capacity];
        internal = new boolean[capacity];
        reads = new boolean[capacity];
        statuses = new WorkCompletionStatus[capacity];
        vendorErrors = new int[capacity];
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
    int add(long id, Aftermath aftermath) {
        return add(id, 0, false, false, aftermath);
    }

    /** Adds an RDMA Read; returns its slot. */
    int addRead(long id, int byteLength, Aftermath aftermath) {
        return add(id, byteLength, false, true, aftermath);
    }

    /** Adds an entry that the user knows nothing of; returns its slot. */
    int addInternal() {
        internalCount++;
        return add(0, 0, true, false, null);
    }

    private int add(long id, int byteLength, boolean isInternal, boolean isRead, Aftermath aftermath) {
        int slot = (int) (tail++ % capacity);
        ids[slot] = id;
        byteLengths[slot] = byteLength;
        internal[slot] = isInternal;
        reads[slot] = isRead;
        statuses[slot] = null;
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

    /** The device has completed an entry, and those before it with success if they are not Reads. */
    void complete(int slot, WorkCompletionStatus status, int vendorError) {
        int distance = Math.floorMod(slot - (int) (head % capacity), capacity);
        if (slot >= capacity || distance >= tail - head || statuses[slot] != null) {
            throw new IllegalStateException("completion of send " + slot + ", which is not outstanding");
        }
        for (int i = 0; i < distance; i++) {
            int before = (int) ((head + i) % capacity);
            if (statuses[before] == null && !reads[before]) {
                statuses[before] = WorkCompletionStatus.SUCCESS;
            }
        }
        statuses[slot] = status;
        vendorErrors[slot] = vendorError;
        while (!stuck && head < tail && statuses[(int) (head % capacity)] != null) {
            deliverOldest();
        }
    }

    /** Whether the device may use the memory of an entry for ever: that entry, and those behind it, are never completed. */
    boolean isStuck() {
        return stuck;
    }

    /** The device has none of them any more. */
    void flush() {
        while (!stuck && head < tail) {
            int slot = (int) (head % capacity);
            if (statuses[slot] == null) {
                statuses[slot] = WorkCompletionStatus.WORK_REQUEST_FLUSHED;
                vendorErrors[slot] = 0;
            }
            deliverOldest();
        }
    }

    private void deliverOldest() {
        int slot = (int) (head % capacity);
        boolean success = statuses[slot] == WorkCompletionStatus.SUCCESS;
        Aftermath aftermath = aftermaths[slot];
        if (aftermath != null) {
            aftermaths[slot] = null;
            if (!aftermath.completed(success)) {
                stuck = true;
                return;
            }
        }
        if (internal[slot]) {
            internalCount--;
        } else {
            deliveries.complete(ids[slot], statuses[slot], success ? byteLengths[slot] : 0, success ? 0 : vendorErrors[slot]);
        }
        head++; // only now: there may be no memory to note the completion
    }
}
