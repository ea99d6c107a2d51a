package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/** A block of memory that peers can map, under the number of its file. */
final class ShmMemoryRegion implements MemoryRegion {

    private final ByteBuffer memory;
    private final int block;

    ShmMemoryRegion(ByteBuffer memory, int block) {
        this.memory = memory.duplicate().clear();
        this.block = block;
    }

    @Override
    public ByteBuffer memory() {
        return memory;
    }

    int block() {
        return block;
    }

    @Override
    public void close() {
        // The owner of the memory gives it back.
    }
}
