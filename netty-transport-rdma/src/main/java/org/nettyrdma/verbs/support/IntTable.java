package org.nettyrdma.verbs.support;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/**
 * Finds things by a number, and allocates only to grow. Where there is no memory for that, it stays as it was; Netty's
 * {@code IntObjectHashMap} loses all entries then, which would be all channels of an event loop. Not thread safe.
 *
 * @param <V> what is found
 */
public final class IntTable<V> {

    private static final int FEWEST_SLOTS = 8; // a power of two
    private static final int GOLDEN_RATIO = 0x9E37_79B9; // as a part of 2^32; odd

    /** A number is in its {@linkplain #firstSlot first slot}, or in one of the used ones behind it. At least half are free. */
    private int[] keys = new int[FEWEST_SLOTS];
    private Object[] values = new Object[FEWEST_SLOTS];
    private int size;

    /** Creates an empty table. */
    public IntTable() {
        // There is nothing to set.
    }

    /**
     * Far from that of the next number: a removal looks at all the used slots that follow, which would be those of all entries
     * where these are consecutive. Numbers of which only the high bits differ, as tags of devices do, have different ones, too.
     */
    private static int firstSlot(int key, int[] keys) {
        return key * GOLDEN_RATIO >>> Integer.numberOfLeadingZeros(keys.length - 1);
    }

    /** Where a number is, or where it would be. */
    private static int slotOf(int key, int[] keys, Object[] values) {
        int slot = firstSlot(key, keys);
        while (values[slot] != null && keys[slot] != key) {
            slot = slot + 1 & keys.length - 1;
        }
        return slot;
    }

    /**
     * Adds an entry, or replaces the one with the same number. Changes nothing if there is no memory for that.
     *
     * @param key   any number
     * @param value not {@code null}
     */
    public void put(int key, V value) {
        int slot = slotOf(key, keys, values);
        if (values[slot] == null) {
            if (size == keys.length / 2) {
                grow();
                slot = slotOf(key, keys, values);
            }
            size++;
        }
        keys[slot] = key;
        values[slot] = value;
    }

    private void grow() {
        int[] newKeys = new int[2 * keys.length];
        Object[] newValues = new Object[newKeys.length];
        for (int i = 0; i < values.length; i++) {
            if (values[i] != null) {
                int slot = slotOf(keys[i], newKeys, newValues);
                newKeys[slot] = keys[i];
                newValues[slot] = values[i];
            }
        }
        keys = newKeys;
        values = newValues;
    }

    /**
     * Finds an entry.
     *
     * @param key any number
     * @return its value, {@code null} if there is none
     */
    @SuppressWarnings("unchecked")
    public V get(int key) {
        return (V) values[slotOf(key, keys, values)];
    }

    /**
     * Takes an entry out.
     *
     * @param key any number
     * @return its value, {@code null} if there was none
     */
    @SuppressWarnings("unchecked")
    public V remove(int key) {
        int hole = slotOf(key, keys, values);
        V removed = (V) values[hole];
        if (removed == null) {
            return null;
        }
        int mask = keys.length - 1;
        for (int slot = hole + 1 & mask; values[slot] != null; slot = slot + 1 & mask) {
            int distance = slot - firstSlot(keys[slot], keys) & mask;
            if (distance >= (slot - hole & mask)) {
                keys[hole] = keys[slot];
                values[hole] = values[slot];
                hole = slot;
            }
        }
        values[hole] = null;
        size--;
        return removed;
    }

    /**
     * How many entries there are.
     *
     * @return the number, 0 or more
     */
    public int size() {
        return size;
    }

    /**
     * Does something with each value. Allocates nothing.
     *
     * @param action must not change this table
     */
    @SuppressWarnings("unchecked")
    public void forEach(Consumer<? super V> action) {
        for (Object value : values) {
            if (value != null) {
                action.accept((V) value);
            }
        }
    }

    /**
     * The values, in no particular order.
     *
     * @return a copy, which later changes of this table leave alone
     */
    public List<V> values() {
        List<V> all = new ArrayList<>(size);
        forEach(all::add);
        return all;
    }

    /** Takes all entries out. Allocates nothing. */
    public void clear() {
        Arrays.fill(values, null);
        size = 0;
    }
}
