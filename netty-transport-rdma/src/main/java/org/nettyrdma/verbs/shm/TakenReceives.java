package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/**
 * The buffers that the connection whose turn it is has taken from a shared receive queue. All are completed before its turn
 * ends, so one of these does for all connections of an event loop, and an idle one has nothing.
 */
final class TakenReceives {

    private final long[] workRequestIds = new long[Exchange.MAX_MESSAGES_PER_TURN];
    private final int[] byteLengths = new int[Exchange.MAX_MESSAGES_PER_TURN];
    private final boolean[] invalidated = new boolean[Exchange.MAX_MESSAGES_PER_TURN];
    private final int[] invalidatedTags = new int[Exchange.MAX_MESSAGES_PER_TURN];
    private int taken;
    private int filled;
    private int completed;

    // The last one.
    private ByteBuffer memory;
    private int offset;
    private int length;

    void add(long workRequestId, MemoryRegion region, int newOffset, int newLength) {
        workRequestIds[taken] = workRequestId;
        memory = region.memory();
        offset = newOffset;
        length = newLength;
        taken++;
    }

    /** Only so many were taken. */
    void takeBack(int count) {
        taken = count;
    }

    ByteBuffer memory() {
        return memory;
    }

    int offset() {
        return offset;
    }

    int length() {
        return length;
    }

    /** The last one holds a message. */
    void fill(int byteLength, boolean isInvalidated, int invalidatedTag) {
        byteLengths[filled] = byteLength;
        invalidated[filled] = isInvalidated;
        invalidatedTags[filled++] = invalidatedTag;
    }

    /** How many were taken. */
    int taken() {
        return taken;
    }

    /** How many of them, from the first on, hold a message. */
    int filled() {
        return filled;
    }

    /** How many of them, from the first on, are completed. */
    int completed() {
        return completed;
    }

    /** One more is completed; with the last one they are forgotten. */
    void countCompleted() {
        if (++completed == taken) {
            taken = 0;
            filled = 0;
            completed = 0;
            memory = null;
        }
    }

    long workRequestId(int index) {
        return workRequestIds[index];
    }

    int byteLength(int index) {
        return byteLengths[index];
    }

    boolean isInvalidated(int index) {
        return invalidated[index];
    }

    int invalidatedTag(int index) {
        return invalidatedTags[index];
    }
}
