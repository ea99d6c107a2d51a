package org.nettyrdma.verbs.support;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Objects that the connections of a context share. A connection holds one only while it has use for it, so idle connections
 * need none, and one that was given back last is taken first, while the processor's cache still has it.
 *
 * <p>So connections that take turns get the same object again and again, and one that leaves in its field what it has given back
 * mostly need not store it anew. That counts: G1 looks through the neighbourhood of each old object in which a reference was
 * stored since it last did. With few connections it seldom does; with 1000, whose calls come a while after each other, it did so
 * for each field of each message, which took a third of all processor time.
 *
 * @param <T> what is pooled
 */
public final class Pool<T> {

    private final Supplier<T> maker;
    private final int maxIdle;
    private final Consumer<? super T> disposer;
    private Object[] idle = new Object[16];
    private int idleCount;

    /**
     * Creates an empty pool.
     *
     * @param maker   makes one where none is idle
     * @param maxIdle so many are kept for later use
     */
    public Pool(Supplier<T> maker, int maxIdle) {
        this(maker, maxIdle, unused -> { });
    }

    /**
     * Creates an empty pool of what the garbage collector does not free.
     *
     * @param maker    makes one where none is idle
     * @param maxIdle  so many are kept for later use
     * @param disposer frees one that is not kept
     */
    public Pool(Supplier<T> maker, int maxIdle, Consumer<? super T> disposer) {
        this.maker = maker;
        this.maxIdle = maxIdle;
        this.disposer = disposer;
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
        T pooled = (T) idle[--idleCount]; // and it stays there, where it mostly returns to
        return pooled;
    }

    /**
     * Takes one back, in the state in which a new one would be. Where there is no memory to keep it, it is not kept.
     *
     * @param unused nobody uses it any more
     */
    public void give(T unused) {
        if (idleCount < maxIdle && hasRoom()) {
            if (idle[idleCount] != unused) {
                idle[idleCount] = unused;
            }
            idleCount++;
        } else {
            disposer.accept(unused);
        }
    }

    private boolean hasRoom() {
        try {
            if (idleCount == idle.length) {
                idle = Arrays.copyOf(idle, 2 * idleCount);
            }
            return true;
        } catch (OutOfMemoryError e) {
            return false; // whoever ends a connection has more to do than this
        }
    }
}
