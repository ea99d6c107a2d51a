package org.nettyrdma.verbs;

/** Receives polled completions on the event loop, as primitives so that a poll allocates nothing. */
@FunctionalInterface
public interface CompletionHandler {

    /**
     * A work request has completed. The device does not access its memory any more.
     *
     * <p>On any status but {@link WorkCompletionStatus#SUCCESS} only {@code workRequestId}, {@code status} and
     * {@code vendorError} carry a value. The provider passes 0 for the others, never a value of an earlier completion.
     *
     * @param workRequestId  the id it was posted with
     * @param status         how it ended
     * @param byteLength     for a receive the length of the message, for an RDMA Read the bytes read, else 0
     * @param invalidated    whether the received message invalidated a steering tag of this side
     * @param invalidatedTag that steering tag if {@code invalidated}, else 0
     * @param vendorError    the provider's own code for a failure, 0 for none; for logs only
     */
    void onCompletion(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated,
                      int invalidatedTag, int vendorError);

    /**
     * The peer's RDMA Write with immediate data is complete in this side's memory, and has used up a receive. Nothing was placed
     * into the buffer of that receive. {@link #onCompletion} is not called for it. Only a provider with
     * {@link Capabilities#writeWithImmediate()} calls this.
     *
     * <p>A handler that expects no immediate data need not know of this method: the receive then fails with
     * {@link WorkCompletionStatus#BAD_RESPONSE_ERROR}, lest a message is taken for received that is not in its buffer. A receive
     * of a {@link SharedReceiveQueue} always does: the provider calls {@link #onSharedReceive} with this status in place of this
     * method, which could not tell whose data it is.
     *
     * @param workRequestId the id that the receive was posted with
     * @param byteLength    how many bytes the peer has written, may be 0
     * @param immediateData what the peer sent along; on the wire it is big-endian
     */
    default void onImmediateData(long workRequestId, int byteLength, int immediateData) {
        onCompletion(workRequestId, WorkCompletionStatus.BAD_RESPONSE_ERROR, 0, false, 0, 0);
    }

    /**
     * A receive of a {@link SharedReceiveQueue} has completed. The device does not access its memory any more. On any status but
     * {@link WorkCompletionStatus#SUCCESS} the same holds as for {@link #onCompletion}.
     *
     * @param queuePairNumber {@link QueuePairAttributes#queuePairNumber()} of the connection whose message it was for. That
     *                        queue pair may be closed by now
     * @param workRequestId   the id it was posted with
     * @param status          how it ended
     * @param byteLength      the length of the message
     * @param invalidated     whether the message invalidated a steering tag of this side
     * @param invalidatedTag  that steering tag if {@code invalidated}, else 0
     * @param vendorError     the provider's own code for a failure, 0 for none; for logs only
     */
    default void onSharedReceive(int queuePairNumber, long workRequestId, WorkCompletionStatus status, int byteLength,
                                 boolean invalidated, int invalidatedTag, int vendorError) {
        throw new IllegalStateException("no receives are shared");
    }
}
