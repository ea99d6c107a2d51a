package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * Where one connection finds buffers for the Sends of its peer. A message is first {@linkplain #fillTaken filled in}, and
 * completed only when what was copied is known to be right.
 */
interface ReceiveSource {

    /** Takes a buffer for the next message; {@code false} if it has to wait. */
    boolean take();

    /** Whether it is worth the while to try {@link #take} again, which has found none. */
    boolean mayTake();

    /** The memory of the buffer that was taken. */
    ByteBuffer memory();

    /** The first byte of that buffer. */
    int offset();

    /** The size of that buffer in bytes. */
    int length();

    /** The buffer that was taken holds a message. */
    void fillTaken(int byteLength, boolean isInvalidated, int invalidatedTag);

    /** Completes those that hold a message. */
    void completeFilled();

    /** The buffer that was taken could not take its message; those before it are complete. */
    void failTaken(WorkCompletionStatus status, int vendorError);

    /** Completes all that this connection has as flushed, also those that hold a message which must not be believed. */
    void flush();
}
