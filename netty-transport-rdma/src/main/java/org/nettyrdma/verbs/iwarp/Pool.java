package org.nettyrdma.verbs.iwarp;

import java.util.ArrayDeque;
import java.util.function.Supplier;

/**
 * Buffers that the connections of a context share. A connection holds one only while a message is half read or half
 * written, so idle connections need none.
 */
final class Pool<T> {

    private static final int MAX_IDLE = 64;

    private final Supplier<T> maker;
    private final ArrayDeque<T> idle = new ArrayDeque<>();

    Pool(Supplier<T> maker) {
        this.maker = maker;
    }

    T take() {
        T pooled = idle.pollLast();
        return pooled == null ? maker.get() : pooled;
    }

    /**
     * Takes one back, in the state in which a new one would be.
     */
    void give(T unused) {
        if (idle.size() < MAX_IDLE) {
            idle.addLast(unused);
        }
    }
}
