package org.nettyrdma.verbs;

/**
 * Receives polled completions on the event loop, as primitives so that a poll allocates nothing.
 */
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
}
