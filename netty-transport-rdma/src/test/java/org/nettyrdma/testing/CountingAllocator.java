package org.nettyrdma.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * Counts the memory of the buffers that it gave out and that were not yet released. A fuzz test asks after every input, so that
 * a leak is found by the input that makes it and not some time later by the garbage collector.
 */
public final class CountingAllocator {

    private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);

    /** The allocator to give to what is tested. */
    public UnpooledByteBufAllocator allocator() {
        return allocator;
    }

    /** Fails if a buffer is left. */
    public void requireNothingLeft() {
        ByteBufAllocatorMetric metric = allocator.metric();
        assertEquals(0, metric.usedHeapMemory() + metric.usedDirectMemory(), "bytes that were not released");
    }
}
