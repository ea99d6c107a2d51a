package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/** Registered memory. Software reaches all of the process's memory, so registering costs nothing and needs no key. */
final class IwarpMemoryRegion implements MemoryRegion {

    private final ByteBuffer memory;

    IwarpMemoryRegion(ByteBuffer memory) {
        if (!memory.isDirect() || memory.isReadOnly()) {
            throw new IllegalArgumentException("memory: " + memory + " (expected: a direct buffer that can be written)");
        }
        // Its own position and limit: the whole capacity is registered, whatever the caller does with his buffer.
        this.memory = memory.duplicate().clear();
    }

    @Override
    public ByteBuffer memory() {
        return memory;
    }

    @Override
    public void close() {
        // Nothing was locked in memory; the owner of the buffer frees it.
    }
}
