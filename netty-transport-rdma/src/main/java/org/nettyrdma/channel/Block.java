package org.nettyrdma.channel;

import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;

/**
 * A piece of a slab, of one of the {@link SizeClasses}. It is either in a {@link BlockStack} or held by one
 * {@link RegisteredByteBuf}; nothing else refers to it, so that a leaked buffer can be collected and reported.
 */
final class Block {

    final MemoryRegion region;
    final int offset;
    final ByteBuffer view;

    /** The buffer that last used this block, kept to be used again; {@code null} if it moved to a larger block. */
    RegisteredByteBuf buffer;

    /** Where the block goes when it is released: the stripe it was last taken from. */
    BlockStack home;

    /** The block below this one in its {@link BlockStack}. */
    Block below;

    Block(MemoryRegion region, int offset, int size) {
        this.region = region;
        this.offset = offset;
        view = region.memory().slice(offset, size);
    }

    int size() {
        return view.capacity();
    }

    void release() {
        home.push(this);
    }
}
