package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * Direct buffers of one size for the connections of a context. A connection holds one only while a message is half read or
 * half written, so idle connections need none.
 */
final class BufferPool {

    private static final int MAX_POOLED = 64;

    private final int bufferBytes;
    private final ArrayDeque<ByteBuffer> buffers = new ArrayDeque<>();

    BufferPool(int bufferBytes) {
        this.bufferBytes = bufferBytes;
    }

    /**
     * A buffer with position 0 and its capacity as limit; its content is whatever was left in it.
     */
    ByteBuffer take() {
        ByteBuffer buffer = buffers.pollLast();
        return buffer == null ? ByteBuffer.allocateDirect(bufferBytes) : buffer;
    }

    void give(ByteBuffer buffer) {
        if (buffers.size() < MAX_POOLED) {
            buffers.addLast(buffer.clear());
        }
    }
}
