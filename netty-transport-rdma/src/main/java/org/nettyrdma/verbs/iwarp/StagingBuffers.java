package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.support.DirectMemory;
import org.nettyrdma.verbs.support.Pool;

/**
 * What the connections of an event loop read into where it is not known yet to whom the bytes belong. A connection has a buffer
 * for as long as there are such bytes: a small one, or during a read a large one, which takes many messages with one system
 * call. Event loop only.
 */
final class StagingBuffers {

    static final int SMALL_BYTES = 8192;
    static final int LARGE_BYTES = 65536;

    private static final int MAX_IDLE = 64;
    /** Only a connection that waits for a receive keeps a large one; others go on with small ones then. */
    private static final int MAX_LARGE = 16;

    private final Pool<ByteBuffer> small = new Pool<>(() -> DirectMemory.allocate(SMALL_BYTES), MAX_IDLE, DirectMemory::free);
    private final Pool<ByteBuffer> large = new Pool<>(() -> DirectMemory.allocate(LARGE_BYTES), 1, DirectMemory::free);
    private int largeInUse;

    Pool<ByteBuffer> small() {
        return small;
    }

    /**
     * Takes a buffer, whose limit is its capacity.
     *
     * @param bytes so much is to be read; it may be less than that which there is room for
     */
    ByteBuffer take(int bytes) {
        if (bytes <= SMALL_BYTES || largeInUse == MAX_LARGE) {
            return small.take();
        }
        ByteBuffer buffer = large.take();
        largeInUse++;
        return buffer;
    }

    static boolean isLarge(ByteBuffer buffer) {
        return buffer.capacity() > SMALL_BYTES;
    }

    void give(ByteBuffer buffer) {
        buffer.clear();
        if (isLarge(buffer)) {
            largeInUse--;
            large.give(buffer);
        } else {
            small.give(buffer);
        }
    }
}
