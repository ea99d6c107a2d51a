package org.nettyrdma.verbs.support;

import java.util.Arrays;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * What a context has to deliver, in the order in which it happened: completions and, among them, connection events. One
 * queue for both, so that a connection's end cannot overtake what arrived before it. Completions are kept as primitives and
 * allocate nothing; the queue grows when it is full. Used by one event loop only.
 */
public final class DeliveryRing {

    private static final int INITIAL_CAPACITY = 256;
    /**
     * More than a busy loop has at a time. A larger ring is what very many connections leave that end at once, and is not kept.
     */
    private static final int MAX_IDLE_CAPACITY = 16_384;
    /** Stands where an event would for a completion with immediate data, so that ordinary completions pay nothing. */
    private static final Runnable IMMEDIATE_DATA = () -> { };

    // An entry is some words of one cache line, and an event if it is one.
    private static final int WORDS = 4;
    private static final int ID = 0;
    private static final int LENGTH_AND_TAG = 1; // or length and immediate data
    private static final int ERROR_AND_NUMBER = 2; // of the queue pair
    private static final int STATUS_AND_FLAGS = 3;
    private static final int INVALIDATED = 1 << 8;
    private static final int SHARED = 1 << 9;
    private static final int EVENT = 1 << 10;
    private static final int STATUS_MASK = INVALIDATED - 1;
    private static final int SUCCESS = WorkCompletionStatus.SUCCESS.ordinal();
    private static final WorkCompletionStatus[] STATUSES = WorkCompletionStatus.values();

    private long[] words;
    private Runnable[] events;
    private int head;
    private int size;

    /** Creates an empty queue. */
    public DeliveryRing() {
        allocate();
    }

    private void allocate() {
        long[] newWords = new long[WORDS * INITIAL_CAPACITY];
        events = new Runnable[INITIAL_CAPACITY];
        words = newWords; // only with events of the same length, for which there may be no memory
        head = 0;
    }

    /** How many entries it has room for before it grows. */
    int capacity() {
        return events.length;
    }

    /**
     * Whether there is nothing to deliver.
     *
     * @return {@code true} if so
     */
    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * Adds the completion of anything but a successful receive.
     *
     * @param workRequestId the id it was posted with
     * @param status        how it ended
     * @param byteLength    for an RDMA Read the bytes read, else 0
     * @param vendorError   the provider's own code for a failure, 0 for none
     */
    public void complete(long workRequestId, WorkCompletionStatus status, int byteLength, int vendorError) {
        add(workRequestId, status.ordinal(), byteLength, 0, vendorError, 0);
    }

    /**
     * Adds the completion of a receive that holds a message.
     *
     * @param workRequestId  the id it was posted with
     * @param byteLength     length of the message in bytes
     * @param isInvalidated  whether the message invalidated a steering tag of this side
     * @param invalidatedTag that steering tag, else 0
     */
    public void completeReceive(long workRequestId, int byteLength, boolean isInvalidated, int invalidatedTag) {
        add(workRequestId, SUCCESS | (isInvalidated ? INVALIDATED : 0), byteLength, invalidatedTag, 0, 0);
    }

    /**
     * Adds the completion of a receive that an RDMA Write with immediate data has used up.
     *
     * @param workRequestId the id it was posted with
     * @param byteLength    how many bytes the peer has written
     * @param immediateData what the peer sent along
     */
    public void completeImmediate(long workRequestId, int byteLength, int immediateData) {
        addEvent(workRequestId, byteLength, immediateData, IMMEDIATE_DATA);
    }

    /**
     * Adds the completion of a receive from a shared queue.
     *
     * @param queuePairNumber whose message it was for
     * @param workRequestId   the id it was posted with
     * @param status          how it ended
     * @param byteLength      length of the message in bytes, 0 without one
     * @param isInvalidated   whether the message invalidated a steering tag of this side
     * @param invalidatedTag  that steering tag, else 0
     * @param vendorError     the provider's own code for a failure, 0 for none
     */
    public void completeShared(int queuePairNumber, long workRequestId, WorkCompletionStatus status, int byteLength,
                               boolean isInvalidated, int invalidatedTag, int vendorError) {
        add(workRequestId, status.ordinal() | SHARED | (isInvalidated ? INVALIDATED : 0), byteLength, invalidatedTag, vendorError,
                queuePairNumber);
    }

    /**
     * Adds a connection event.
     *
     * @param event tells a listener; runs when it is its turn
     */
    public void event(Runnable event) {
        addEvent(0, 0, 0, event);
    }

    /**
     * Delivers the oldest entries. An exception from the receiver leaves this method; the entry that caused it is delivered.
     *
     * @param handler receives the completions
     * @param max     most entries to deliver
     * @return how many were delivered
     */
    public int deliver(CompletionHandler handler, int max) {
        int delivered = 0;
        while (delivered < max && size > 0) {
            int index = head;
            int at = WORDS * index;
            head = head + 1 & events.length - 1;
            size--;
            delivered++;
            long id = words[at + ID];
            int byteLength = (int) (words[at + LENGTH_AND_TAG] >> Integer.SIZE);
            int tag = (int) words[at + LENGTH_AND_TAG];
            int statusAndFlags = (int) words[at + STATUS_AND_FLAGS];
            if ((statusAndFlags & EVENT) != 0) {
                Runnable event = events[index];
                events[index] = null;
                if (event == IMMEDIATE_DATA) {
                    handler.onImmediateData(id, byteLength, tag);
                } else {
                    event.run();
                }
                continue;
            }
            WorkCompletionStatus status = STATUSES[statusAndFlags & STATUS_MASK];
            boolean invalidated = (statusAndFlags & INVALIDATED) != 0;
            int vendorError = (int) (words[at + ERROR_AND_NUMBER] >> Integer.SIZE);
            if ((statusAndFlags & SHARED) != 0) {
                int queuePairNumber = (int) words[at + ERROR_AND_NUMBER];
                handler.onSharedReceive(queuePairNumber, id, status, byteLength, invalidated, tag, vendorError);
            } else {
                handler.onCompletion(id, status, byteLength, invalidated, tag, vendorError);
            }
        }
        if (size == 0 && events.length > MAX_IDLE_CAPACITY) {
            allocate();
        }
        return delivered;
    }

    private void addEvent(long workRequestId, int byteLength, int tag, Runnable event) {
        int index = add(workRequestId, SUCCESS | EVENT, byteLength, tag, 0, 0);
        events[index] = event;
    }

    private int add(long workRequestId, int statusAndFlags, int byteLength, int tag, int vendorError, int queuePairNumber) {
        if (size == events.length) {
            grow();
        }
        int index = head + size & events.length - 1;
        int at = WORDS * index;
        words[at + ID] = workRequestId;
        words[at + LENGTH_AND_TAG] = pack(byteLength, tag);
        words[at + ERROR_AND_NUMBER] = pack(vendorError, queuePairNumber);
        words[at + STATUS_AND_FLAGS] = statusAndFlags;
        size++;
        return index;
    }

    private static long pack(int high, int low) {
        return (long) high << Integer.SIZE | low & 0xFFFF_FFFFL;
    }

    private void grow() {
        int capacity = events.length;
        words = Arrays.copyOf(words, 2 * WORDS * capacity);
        events = Arrays.copyOf(events, 2 * capacity);
        // The queue was full, so what lies before the head is its end: it continues behind the old capacity.
        System.arraycopy(words, 0, words, WORDS * capacity, WORDS * head);
        System.arraycopy(events, 0, events, capacity, head);
        Arrays.fill(events, 0, head, null);
    }
}
