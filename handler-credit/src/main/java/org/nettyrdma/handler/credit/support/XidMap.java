package org.nettyrdma.handler.credit.support;

import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Requests in progress, by the number that ties a response to its request. Not thread safe.
 *
 * <p>Most clients count these numbers up. So each number has one slot, by its lowest bits, and those of a client that counts
 * never meet in one. To add, find or take out is to look at one slot; nothing is moved. A number whose slot another one has goes
 * into a hash map instead. There its key is scattered, because a peer may choose numbers as it likes.
 *
 * @param <V> what is kept of a request
 */
public final class XidMap<V> {

    private static final int FEWEST_SLOTS = 8;
    private static final int FEWEST_OTHERS = 4;
    /** Of a client that has more requests in progress, those beyond are in the hash map. */
    private static final int MOST_SLOTS = 1024;

    /** {@code null} before the first request: a connection has several such maps, and perhaps never a request. */
    private Object[] values;
    private int[] xids;
    private int slotted;
    /** Those that found their slot taken; {@code null} before the first. */
    private IntObjectMap<V> others;
    private int roomForOthers;

    /** Creates an empty map. */
    public XidMap() {
        // There is nothing to set.
    }

    /** Gives each number a key of its own: both steps can be undone. */
    private static int key(int xid) {
        int product = xid * 0x9E37_79B9; // 2^32 divided by the golden ratio: neighbours end up far apart in the upper bits
        return product ^ product >>> 16;
    }

    /** The value of a number, if it is in its slot. */
    @SuppressWarnings("unchecked")
    private V slotted(int xid) {
        if (values == null) {
            return null;
        }
        int slot = xid & values.length - 1;
        return xids[slot] == xid ? (V) values[slot] : null;
    }

    /**
     * Adds a value, or replaces the one with the same number.
     *
     * @param xid   any number
     * @param value not {@code null}
     * @return the value that was replaced, {@code null} if there was none
     */
    public V put(int xid, V value) {
        if (values == null) {
            allocate(FEWEST_SLOTS);
        }
        int slot = xid & values.length - 1;
        if (values[slot] != null && xids[slot] != xid && values.length < MOST_SLOTS && slotted >= values.length / 2) {
            grow();
            slot = xid & values.length - 1;
        }
        V old = slotted(xid);
        if (old == null) {
            // Where the slot became free after this number had found it taken, it is still among the others.
            if (values[slot] != null || others != null && others.containsKey(key(xid))) {
                return others().put(key(xid), value);
            }
            slotted++;
        }
        values[slot] = value;
        xids[slot] = xid;
        return old;
    }

    private void allocate(int slots) {
        Object[] newValues = new Object[slots];
        xids = new int[slots];
        values = newValues; // not before there is memory for both, or what is in the old ones would be lost
    }

    /** Twice the slots: numbers that have different ones keep different ones. */
    private void grow() {
        Object[] oldValues = values;
        int[] oldXids = xids;
        allocate(2 * oldValues.length);
        for (int i = 0; i < oldValues.length; i++) {
            if (oldValues[i] != null) {
                int slot = oldXids[i] & values.length - 1;
                values[slot] = oldValues[i];
                xids[slot] = oldXids[i];
            }
        }
    }

    /** With room for one more. One that cannot grow for want of memory finds nothing any more, so another one takes its place. */
    private IntObjectMap<V> others() {
        if (others == null || others.size() == roomForOthers) {
            int room = others == null ? FEWEST_OTHERS : 2 * roomForOthers;
            IntObjectMap<V> larger = new IntObjectHashMap<>(2 * room, 0.5f);
            if (others != null) {
                larger.putAll(others);
            }
            others = larger;
            roomForOthers = room;
        }
        return others;
    }

    /**
     * Finds a value.
     *
     * @param xid any number
     * @return its value, {@code null} if there is none
     */
    public V get(int xid) {
        V value = slotted(xid);
        return value == null && others != null ? others.get(key(xid)) : value;
    }

    /**
     * Takes a value out.
     *
     * @param xid any number
     * @return its value, {@code null} if there was none
     */
    public V remove(int xid) {
        V value = slotted(xid);
        if (value == null) {
            return others == null ? null : others.remove(key(xid));
        }
        values[xid & values.length - 1] = null;
        slotted--;
        return value;
    }

    /**
     * Whether there is a value with this number.
     *
     * @param xid any number
     * @return {@code true} if so
     */
    public boolean contains(int xid) {
        return get(xid) != null;
    }

    /**
     * How many values there are.
     *
     * @return the number, 0 or more
     */
    public int size() {
        return slotted + (others == null ? 0 : others.size());
    }

    /**
     * Whether there are no values.
     *
     * @return {@code true} if so
     */
    public boolean isEmpty() {
        return size() == 0;
    }

    /**
     * The values, in no particular order.
     *
     * @return a copy, which later changes of this map leave alone
     */
    @SuppressWarnings("unchecked")
    public List<V> values() {
        List<V> all = new ArrayList<>(size());
        if (slotted > 0) {
            for (Object value : values) {
                if (value != null) {
                    all.add((V) value);
                }
            }
        }
        if (others != null) {
            all.addAll(others.values());
        }
        return all;
    }

    /** Takes all values out. */
    public void clear() {
        if (slotted > 0) {
            Arrays.fill(values, null);
            slotted = 0;
        }
        if (others != null) {
            others.clear();
        }
    }
}
