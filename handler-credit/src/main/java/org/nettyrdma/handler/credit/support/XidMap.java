package org.nettyrdma.handler.credit.support;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.Collection;

/**
 * Requests in progress, by the number that ties a response to its request. Not thread safe.
 *
 * <p>Most clients count these numbers up. An {@link IntObjectHashMap} alone would be slow with that: it keeps consecutive keys
 * side by side, and looks at all others when it removes the oldest. So this map scatters the keys.
 *
 * @param <V> what is kept of a request
 */
public final class XidMap<V> {

    /** {@code null} before the first request: a connection has several such maps, and perhaps never a request. */
    private IntObjectMap<V> byKey;

    /** Creates an empty map. */
    public XidMap() {
        // There is nothing to set.
    }

    /** Gives each number a key of its own: both steps can be undone. */
    private static int key(int xid) {
        int product = xid * 0x9E37_79B9; // 2^32 divided by the golden ratio: neighbours end up far apart in the upper bits
        return product ^ product >>> 16;
    }

    /**
     * Adds a value, or replaces the one with the same number.
     *
     * @param xid   any number
     * @param value not {@code null}
     * @return the value that was replaced, {@code null} if there was none
     */
    public V put(int xid, V value) {
        return map().put(key(xid), value);
    }

    private IntObjectMap<V> map() {
        if (byKey == null) {
            byKey = new IntObjectHashMap<>();
        }
        return byKey;
    }

    /**
     * Finds a value.
     *
     * @param xid any number
     * @return its value, {@code null} if there is none
     */
    public V get(int xid) {
        return byKey == null ? null : byKey.get(key(xid));
    }

    /**
     * Takes a value out.
     *
     * @param xid any number
     * @return its value, {@code null} if there was none
     */
    public V remove(int xid) {
        return byKey == null ? null : byKey.remove(key(xid));
    }

    /**
     * Whether there is a value with this number.
     *
     * @param xid any number
     * @return {@code true} if so
     */
    public boolean contains(int xid) {
        return byKey != null && byKey.containsKey(key(xid));
    }

    /**
     * How many values there are.
     *
     * @return the number, 0 or more
     */
    public int size() {
        return byKey == null ? 0 : byKey.size();
    }

    /**
     * Whether there are no values.
     *
     * @return {@code true} if so
     */
    public boolean isEmpty() {
        return byKey == null || byKey.isEmpty();
    }

    /**
     * The values, in no particular order.
     *
     * @return a view, which follows changes of this map
     */
    public Collection<V> values() {
        return map().values();
    }

    /** Takes all values out. */
    public void clear() {
        if (byKey != null) {
            byKey.clear();
        }
    }
}
