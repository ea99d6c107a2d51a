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

    private static final int MAX_SHOWN_AT_ONCE = 64;

    private boolean locked;
    /** Somebody has found it locked. */
    private volatile boolean wanted;
    private Block top;
    private long pushes;
    /** The last block that a filter was shown and has kept, until it was shown all; {@code null} if it was taken. */
    private Block seen;

    private static VarHandle handleOf(String field) {
        try {
            return MethodHandles.lookup().findVarHandle(BlockStack.class, field, boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private void lock() {
        while (!LOCKED.weakCompareAndSetAcquire(this, false, true)) {
            wanted = true;
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
            if (block == seen) {
                seen = null;
            }
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

    /**
     * Shows all blocks to {@code filter}, and lets go of those that it does not want to stay, which it may link to others. Few at
     * a time, so that others need not wait: what they take or release meanwhile may be left out, or be shown again.
     */
    synchronized void filter(Predicate<Block> filter) {
        boolean more = true;
        while (more) {
            more = false;
            lock();
            try {
                more = filterSome(filter);
            } finally {
                seen = more ? seen : null;
                unlock();
            }
            if (wanted) {
                wanted = false;
                Thread.yield();
            }
        }
    }

    private boolean filterSome(Predicate<Block> filter) {
        Block above = seen; // null also if it was taken, and all above it: then those that are left were not shown
        Block block = above == null ? top : above.below;
        for (int i = 0; block != null && i < MAX_SHOWN_AT_ONCE; i++) {
            Block below = block.below;
            if (filter.test(block)) {
                above = block;
            } else if (above == null) {
                top = below;
            } else {
                above.below = below;
            }
            block = below;
        }
        seen = above;
        return block != null;
    }
}
