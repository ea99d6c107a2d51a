package org.nettyrdma.verbs;

import java.io.IOException;

/**
 * Buffers for the messages of any number of connections, from {@link VerbsContext#createSharedReceiveQueue}. The queue pairs that
 * were created with it ({@link QueuePairAttributes#sharedReceives()}) have no receives of their own. A buffer belongs to no
 * connection until a message begins to arrive in it. Event loop only.
 *
 * <p>Which buffer a message gets is up to the provider, and receives complete in any order. A completion comes to
 * {@link CompletionHandler#onSharedReceive}, with the number of the queue pair. The messages of one queue pair complete in the
 * order in which they were sent.
 *
 * <p>A message that finds no buffer waits where {@link Capabilities#receiverWaits()} says so. Connections that wait are served in
 * turn as buffers are posted. A peer that has sent a part of a message holds one buffer. All peers together that do so
 * and leave it at that cannot keep the others from buffers; the provider ends the connections of those that are slowest if it
 * must.
 *
 * <p>A queue pair that ends returns the buffer that a part of a message is in, as
 * {@link WorkCompletionStatus#WORK_REQUEST_FLUSHED}; all other buffers stay posted for the others.
 */
public interface SharedReceiveQueue extends AutoCloseable {

    /**
     * Posts a buffer for one message of any connection. Connections that wait for one get it in the next
     * {@link VerbsContext#poll} at the earliest.
     *
     * @param workRequestId returned with the completion
     * @param region        memory that this provider has registered
     * @param offset        first byte of the buffer within {@code region}
     * @param length        size of the buffer in bytes
     * @throws IOException if the queue is full or the device refuses; then there will be no completion
     * @throws IndexOutOfBoundsException if the buffer is not inside the region
     * @throws IllegalStateException if the queue is closed
     */
    void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException;

    /**
     * Tells how many buffers there are to be in all, and asks how many of them have to be posted now, those that messages have
     * begun to fill included. All, unless messages wait for buffers ({@link Capabilities#receiverWaits()}): then it can be
     * enough to have as many as messages hold and some in reserve. To be called again whenever messages may have begun; what is
     * posted beyond the answer does no harm.
     *
     * @param total   buffers for all connections, at least 1; what unfinished messages may hold is a part of them
     * @param reserve buffers that no message holds, which are enough until the next call; at least 1
     * @return 0 to {@code total}
     */
    default int neededReceives(int total, int reserve) {
        return total;
    }

    /**
     * Frees the queue; does nothing if that was done. Every queue pair that was created with it must be closed. From then on the
     * device does not access the memory of what is still posted, and does not complete it.
     *
     * @throws IllegalStateException if a queue pair uses it
     */
    @Override
    void close();

    /**
     * Tells, after {@link #close()} or the end of its context, whether the device may still use the memory of what was posted.
     * Then that memory must never be used for anything else, and never be given back. The same holds where {@link #close()} has
     * thrown an exception, and is not asked then.
     *
     * @return {@code true} if the queue could not be ended
     */
    default boolean mayUsePosted() {
        return false;
    }
}
