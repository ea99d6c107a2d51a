package org.nettyrdma.channel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Predicate;

/**
 * The free blocks of one size and one stripe, last in first out: what was released last is most likely still in the cache.
 *
 * <p>A call takes and releases four blocks, and nearly always the one thread of the stripe is alone. So the lock is a word that
 * takes one atomic instruction to lock and none to unlock, where a monitor takes two. Who finds it locked yields.
 */
final class BlockStack {

    private static final VarHandle LOCKED = handleOf("locked");

    private boolean locked;
    private Block top;
    private long pushes;

    private static VarHandle handleOf(String field) {
        try {
            return MethodHandles.lookup().findVarHandle(BlockStack.class, field, boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private void lock() {
        while (!LOCKED.weakCompareAndSetAcquire(this, false, true)) {
            Thread.yield();
        }
    }

    private void unlock() {
        LOCKED.setRelease(this, false);
    }

    void push(Block block) {
        lock();
        block.below = top;
        top = block;
        pushes++;
        unlock();
    }

    /** Takes the block that was released last; {@code null} if there is none. */
    Block pop() {
        lock();
        Block block = top;
        if (block != null) {
            top = block.below;
            block.below = null;
        }
        unlock();
        return block;
    }

    /** How often a block was released. */
    long pushes() {
        lock();
        long sum = pushes;
        unlock();
        return sum;
    }

    /** Shows all blocks to {@code filter}, and lets go of those that it does not want to stay. */
    void filter(Predicate<Block> filter) {
        lock();
        try {
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
        } finally {
            unlock();
        }
    }
}
