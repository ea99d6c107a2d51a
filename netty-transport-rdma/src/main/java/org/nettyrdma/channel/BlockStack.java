package org.nettyrdma.channel;

/**
 * The free blocks of one size and one stripe, last in first out: what was released last is most likely still in the cache.
 */
final class BlockStack {

    private Block top;

    synchronized void push(Block block) {
        block.below = top;
        top = block;
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
}
