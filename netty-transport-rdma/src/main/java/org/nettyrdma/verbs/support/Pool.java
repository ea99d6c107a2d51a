package org.nettyrdma.verbs.support;

import java.util.ArrayDeque;
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
    private final ArrayDeque<T> idle = new ArrayDeque<>();

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
        T pooled = idle.pollLast();
        return pooled == null ? maker.get() : pooled;
    }

    /**
     * Takes one back, in the state in which a new one would be.
     *
     * @param unused nobody uses it any more
     */
    public void give(T unused) {
        if (idle.size() < maxIdle) {
            idle.addLast(unused);
        }
    }
}
