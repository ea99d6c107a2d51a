package org.nettyrdma.channel;

/**
 * Those that want a turn, in the order in which they have asked. There is room for all for which it was reserved: one that could
 * not ask for want of memory would never be served again. They stand in an array and are not linked by themselves, as each link
 * would be a reference that a message stores into an old object of its own connection. Event loop only.
 *
 * @param <T> what has turns
 */
final class TurnQueue<T> {

    private Object[] waiting = new Object[16]; // a power of two
    private int head;
    private int size;

    /**
     * Makes room. Changes nothing if there is no memory for that.
     *
     * @param count so many there are at most, one more than before
     */
    void reserve(int count) {
        if (count > waiting.length) {
            Object[] larger = new Object[2 * waiting.length];
            for (int i = 0; i < size; i++) {
                larger[i] = waiting[index(i)];
            }
            waiting = larger;
            head = 0;
        }
    }

    /** Adds one, for which room may have to be made. */
    void add(T last) {
        reserve(size + 1);
        waiting[index(size)] = last;
        size++;
    }

    /** The one that waits longest; there must be one. */
    T remove() {
        @SuppressWarnings("unchecked")
        T first = (T) waiting[head];
        waiting[head] = null; // what is gone is not kept
        head = index(1);
        size--;
        return first;
    }

    int size() {
        return size;
    }

    private int index(int place) {
        return head + place & waiting.length - 1;
    }
}
