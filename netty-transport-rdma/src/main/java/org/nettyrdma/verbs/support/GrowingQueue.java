package org.nettyrdma.verbs.support;

import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Those that wait, the first of them first. Where there is no memory to grow, it stays as it was; an {@code ArrayDeque} is empty
 * then, and whoever waited in it would never be served again. They stand in an array and are not linked by themselves, as each
 * link would be a reference that a message stores into an old object of its own connection. Not thread safe.
 *
 * @param <T> what waits
 */
public final class GrowingQueue<T> {

    private Object[] waiting;
    private int head;
    private int size;

    /**
     * Creates an empty queue.
     *
     * @param room for so many at first, a power of two
     */
    public GrowingQueue(int room) {
        waiting = new Object[room];
    }

    /**
     * Makes room. Changes nothing if there is no memory for that.
     *
     * @param count so many there are at most, no more than twice those that there was room for
     */
    public void reserve(int count) {
        if (count > waiting.length) {
            Object[] larger = new Object[2 * waiting.length];
            for (int i = 0; i < size; i++) {
                larger[i] = waiting[index(i)];
            }
            waiting = larger;
            head = 0;
        }
    }

    /**
     * Adds one, for which room may have to be made. Changes nothing if there is no memory for that.
     *
     * @param last waits behind all others
     */
    public void add(T last) {
        reserve(size + 1);
        waiting[index(size)] = last;
        size++;
    }

    /**
     * Takes out the one that waits longest.
     *
     * @return the first, {@code null} if there is none
     */
    public T poll() {
        T first = peek();
        if (first != null) {
            waiting[head] = null; // what is gone is not kept
            head = index(1);
            size--;
        }
        return first;
    }

    /**
     * Looks at the one that waits longest.
     *
     * @return the first, {@code null} if there is none
     */
    @SuppressWarnings("unchecked")
    public T peek() {
        return (T) waiting[head];
    }

    /**
     * How many wait.
     *
     * @return the number, 0 or more
     */
    public int size() {
        return size;
    }

    /**
     * Whether nobody waits.
     *
     * @return {@code true} if so
     */
    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * Does something with each, in order. Allocates nothing.
     *
     * @param action must not change this queue
     */
    @SuppressWarnings("unchecked")
    public void forEach(Consumer<? super T> action) {
        for (int i = 0; i < size; i++) {
            action.accept((T) waiting[index(i)]);
        }
    }

    /** Takes all out. Allocates nothing. */
    public void clear() {
        Arrays.fill(waiting, null);
        size = 0;
    }

    private int index(int place) {
        return head + place & waiting.length - 1;
    }
}
