package org.nettyrdma.channel;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.support.DirectMemory;

/**
 * A piece of a {@link Slab}, of one of the {@link SizeClasses}; or memory of its own that is not registered. It is either in a
 * {@link BlockStack} or held by one {@link RegisteredByteBuf}; nothing else refers to it, so that a leaked buffer can be
 * collected and reported.
 */
final class Block {

    final Slab slab; // null if it is not registered
    final int offset;
    final ByteBuffer view;
    private final LongAdder unregisteredBytes; // null if it is registered

    /** The buffer that last used this block, kept to be used again; {@code null} if it moved to a larger block. */
    RegisteredByteBuf buffer;

    /** Where the block goes when it is released: the stripe it was last taken from. */
    BlockStack home;

    /** The block below this one in its {@link BlockStack}, or the one that its buffer had before. */
    Block below;

    /** How often the pool was trimmed while this block was free. */
    int age;

    /** A piece of registered memory. */
    Block(Slab slab, int offset, int size) {
        this.slab = slab;
        this.offset = offset;
        view = slab.region.memory().slice(offset, size);
        unregisteredBytes = null;
    }

    /**
     * Memory of its own.
     *
     * @param unregisteredBytes counts the memory until it is released
     */
    Block(ByteBuffer memory, LongAdder unregisteredBytes) {
        slab = null;
        offset = 0;
        view = memory;
        this.unregisteredBytes = unregisteredBytes;
        unregisteredBytes.add(memory.capacity());
    }

    boolean isRegistered() {
        return slab != null;
    }

    MemoryRegion region() {
        return slab.region;
    }

    int size() {
        return view.capacity();
    }

    void release() {
        if (slab == null) {
            DirectMemory.free(view);
            unregisteredBytes.add(-view.capacity());
        } else {
            home.push(this);
        }
    }
}
