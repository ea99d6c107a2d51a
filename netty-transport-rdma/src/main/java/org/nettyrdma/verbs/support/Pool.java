package org.nettyrdma.verbs.support;

import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Objects that the connections of a context share. A connection holds one only while it has use for it, so idle connections
 * need none, and one that was given back last is taken first, while the processor's cache still has it.
 *
 * @param <T> what is pooled
 */
public final class Pool<T> {

    private final Supplier<T> maker;
    private final int maxIdle;
    private Object[] idle = new Object[16];
    private int idleCount;

    /**
     * Creates an empty pool.
     *
     * @param maker   makes one where none is idle
     * @param maxIdle so many are kept for later use
     */
    public Pool(Supplier<T> maker, int maxIdle) {
        this.maker = maker;
        this.maxIdle = maxIdle;
    }

    /**
     * Takes one out.
     *
     * @return one in the state of a new one
     */
    public T take() {
        if (idleCount == 0) {
            return maker.get();
        }
        @SuppressWarnings("unchecked")
        T pooled = (T) idle[--idleCount];
        idle[idleCount] = null;
        return pooled;
    }

    /**
     * Takes one back, in the state in which a new one would be. Where there is no memory to keep it, it is not kept.
     *
     * @param unused nobody uses it any more
     */
    public void give(T unused) {
        if (idleCount < maxIdle) {
            if (idleCount == idle.length) {
                try {
                    idle = Arrays.copyOf(idle, 2 * idleCount);
                } catch (OutOfMemoryError e) {
                    return; // whoever ends a connection has more to do than this
                }
            }
            idle[idleCount++] = unused;
        }
    }
}
