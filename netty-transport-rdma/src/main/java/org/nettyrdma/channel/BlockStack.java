package org.nettyrdma.channel;

import java.util.function.Predicate;

/**
 * The free blocks of one size and one stripe, last in first out: what was released last is most likely still in the cache.
 */
final class BlockStack {

    private Block top;
    private long pushes;

    synchronized void push(Block block) {
        block.below = top;
        top = block;
        pushes++;
    }

    /** Takes the block that was released last; {@code null} if there is none. */
    synchronized Block pop() {
        Block block = top;
        if (block != null) {
            top = block.below;
            block.below = null;
        }
        return block;
    }

    /** How often a block was released. */
    synchronized long pushes() {
        return pushes;
    }

    /** Shows all blocks to {@code filter}, and lets go of those that it does not want to stay. */
    synchronized void filter(Predicate<Block> filter) {
        Block above = null;
        for (Block block = top; block != null; block = block.below) {
            if (filter.test(block)) {
                above = block;
            } else if (above == null) {
                top = block.below;
            } else {
                above.below = block.below;
            }
        }
    }
}
