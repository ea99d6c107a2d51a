package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.WorkCompletionStatus;

/** Where one connection finds buffers for the Sends of its peer: one after the other, each for one message. */
interface ReceiveSource {

    /** What came of the attempt to get a buffer. */
    enum Outcome {
        /** The cursor points at the buffer, which the message has until it completes or fails. */
        TAKEN,
        /** There is none: nothing is to be read until one is posted. */
        NONE,
        /** There will be one when the whole message is at hand, and it is short enough to be staged until then. */
        WHEN_WHOLE
    }

    /**
     * Takes a buffer for a message that begins.
     *
     * @param cursor    is pointed at it
     * @param isWhole   whether all of the message has arrived and waits in the staging buffer
     * @param stageable whether all of it would fit in there
     */
    Outcome take(MemoryCursor cursor, boolean isWhole, boolean stageable);

    /** The size of the buffer that is taken, in bytes. */
    int takenLength();

    /** A whole message is in the buffer that was taken. */
    void completeTaken(int byteLength, boolean invalidated, int invalidatedTag);

    /** The buffer that was taken could not take its message. */
    void failTaken(WorkCompletionStatus status, int vendorError);

    /** What could be read has been read, and the connection has nothing more to do for now. */
    void turnEnded();

    /** Completes as flushed what belongs to the connection. It takes no more buffers. */
    void flush();
}
