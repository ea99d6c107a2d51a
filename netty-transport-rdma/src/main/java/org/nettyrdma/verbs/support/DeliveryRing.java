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

    private long[] workRequestIds;
    private WorkCompletionStatus[] statuses;
    private int[] byteLengths;
    private boolean[] invalidated;
    private int[] invalidatedTags; // or the immediate data
    private int[] vendorErrors;
    private boolean[] shared;
    private int[] queuePairNumbers;
    private Runnable[] events;
    private int head;
    private int size;

    /**
     * Creates an empty queue.
     */
    public DeliveryRing() {
        allocate();
    }

    private void allocate() {
        workRequestIds = new long[INITIAL_CAPACITY];
        statuses = new WorkCompletionStatus[INITIAL_CAPACITY];
        byteLengths = new int[INITIAL_CAPACITY];
        invalidated = new boolean[INITIAL_CAPACITY];
        invalidatedTags = new int[INITIAL_CAPACITY];
        vendorErrors = new int[INITIAL_CAPACITY];
        shared = new boolean[INITIAL_CAPACITY];
        queuePairNumbers = new int[INITIAL_CAPACITY];
        events = new Runnable[INITIAL_CAPACITY];
        head = 0;
    }

    /** How many entries it has room for before it grows. */
    int capacity() {
        return workRequestIds.length;
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
        add(workRequestId, status, byteLength, false, 0, vendorError, null);
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
        add(workRequestId, WorkCompletionStatus.SUCCESS, byteLength, isInvalidated, invalidatedTag, 0, null);
    }

    /**
     * Adds the completion of a receive that an RDMA Write with immediate data has used up.
     *
     * @param workRequestId the id it was posted with
     * @param byteLength    how many bytes the peer has written
     * @param immediateData what the peer sent along
     */
    public void completeImmediate(long workRequestId, int byteLength, int immediateData) {
        add(workRequestId, WorkCompletionStatus.SUCCESS, byteLength, false, immediateData, 0, IMMEDIATE_DATA);
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
        add(workRequestId, status, byteLength, isInvalidated, invalidatedTag, vendorError, null);
        int index = head + size - 1 & workRequestIds.length - 1;
        shared[index] = true;
        queuePairNumbers[index] = queuePairNumber;
    }

    /**
     * Adds a connection event.
     *
     * @param event tells a listener; runs when it is its turn
     */
    public void event(Runnable event) {
        add(0, WorkCompletionStatus.SUCCESS, 0, false, 0, 0, event);
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
            head = head + 1 & workRequestIds.length - 1;
            size--;
            delivered++;
            Runnable event = events[index];
            if (shared[index]) {
                handler.onSharedReceive(queuePairNumbers[index], workRequestIds[index], statuses[index], byteLengths[index],
                        invalidated[index], invalidatedTags[index], vendorErrors[index]);
            } else if (event == null) {
                handler.onCompletion(workRequestIds[index], statuses[index], byteLengths[index], invalidated[index],
                        invalidatedTags[index], vendorErrors[index]);
            } else {
                events[index] = null;
                if (event == IMMEDIATE_DATA) {
                    handler.onImmediateData(workRequestIds[index], byteLengths[index], invalidatedTags[index]);
                } else {
                    event.run();
                }
            }
        }
        if (size == 0 && workRequestIds.length > MAX_IDLE_CAPACITY) {
            allocate();
        }
        return delivered;
    }

    private void add(long workRequestId, WorkCompletionStatus status, int byteLength, boolean isInvalidated,
                     int invalidatedTag, int vendorError, Runnable event) {
        if (size == workRequestIds.length) {
            grow();
        }
        int index = head + size & workRequestIds.length - 1;
        workRequestIds[index] = workRequestId;
        statuses[index] = status;
        byteLengths[index] = byteLength;
        invalidated[index] = isInvalidated;
        invalidatedTags[index] = invalidatedTag;
        vendorErrors[index] = vendorError;
        shared[index] = false;
        events[index] = event;
        size++;
    }

    private void grow() {
        int capacity = workRequestIds.length * 2;
        workRequestIds = Arrays.copyOf(workRequestIds, capacity);
        statuses = Arrays.copyOf(statuses, capacity);
        byteLengths = Arrays.copyOf(byteLengths, capacity);
        invalidated = Arrays.copyOf(invalidated, capacity);
        invalidatedTags = Arrays.copyOf(invalidatedTags, capacity);
        vendorErrors = Arrays.copyOf(vendorErrors, capacity);
        shared = Arrays.copyOf(shared, capacity);
        queuePairNumbers = Arrays.copyOf(queuePairNumbers, capacity);
        events = Arrays.copyOf(events, capacity);
        // The queue was full, so what lies before the head is its end: it continues behind the old capacity.
        moveWrapped(workRequestIds, size);
        moveWrapped(statuses, size);
        moveWrapped(byteLengths, size);
        moveWrapped(invalidated, size);
        moveWrapped(invalidatedTags, size);
        moveWrapped(vendorErrors, size);
        moveWrapped(shared, size);
        moveWrapped(queuePairNumbers, size);
        moveWrapped(events, size);
        Arrays.fill(events, 0, head, null);
    }

    private void moveWrapped(Object array, int oldCapacity) {
        System.arraycopy(array, 0, array, oldCapacity, head);
    }
}
