package org.nettyrdma.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where this side may write next: two entries, used in turn, each to its last byte. The peer writes new ones into memory of this
 * side that is exposed to it. They are looked at only when a message says that there is one. So what the peer writes at another
 * time changes nothing, and what is read is checked once and kept.
 */
public final class TargetList {

    /** Entries in the list. */
    public static final int ENTRIES = 2;

    /** Size of the list in memory. */
    public static final int BYTES = ENTRIES * TargetEntry.BYTES;

    private static final String[] FIELDS = {"target entry 0", "target entry 1"};

    private final ByteBuffer memory;
    private final ByteOrder order;
    private final long[] addresses = new long[ENTRIES];
    private final int[] keys = new int[ENTRIES];
    private final int[] lengths = new int[ENTRIES];
    private int current;

    /**
     * A list whose first entry came with the private data.
     *
     * @param memory what the peer writes to: {@value #BYTES} bytes from index 0, all 0 at first
     * @param first  the first entry
     * @param order  the byte order of the peer's host
     */
    public TargetList(ByteBuffer memory, TargetEntry first, ByteOrder order) {
        this.memory = memory;
        this.order = order;
        set(0, first);
    }

    private void set(int entry, TargetEntry target) {
        addresses[entry] = target.address();
        keys[entry] = target.key();
        lengths[entry] = target.length();
    }

    /**
     * Takes over what the peer has written before its message.
     *
     * @throws StreamProtocolException if an entry is out of range, or replaces one that is not full
     */
    public void update() throws StreamProtocolException {
        for (int i = 0; i < ENTRIES; i++) {
            int at = i * TargetEntry.BYTES;
            if (memory.getLong(at) != 0 || memory.getLong(at + Long.BYTES) != 0) {
                TargetEntry target = TargetEntry.read(memory, at, order, FIELDS[i]);
                if (lengths[i] > 0) {
                    throw new StreamProtocolException(FIELDS[i] + " is replaced while " + lengths[i]
                            + " bytes of it are left (limit: 0)");
                }
                memory.putLong(at, 0).putLong(at + Long.BYTES, 0);
                set(i, target);
            }
        }
    }

    /**
     * How much the current entry has room for.
     *
     * @return the bytes, 0 while the peer has no room
     */
    public int remaining() {
        return lengths[current];
    }

    /**
     * Where the next byte goes.
     *
     * @return the tagged offset
     */
    public long address() {
        return addresses[current];
    }

    /**
     * The steering tag that goes with {@link #address()}.
     *
     * @return the tag
     */
    public int key() {
        return keys[current];
    }

    /**
     * Bytes are going to be written. To be called before they are posted: the peer may replace the entry as soon as it has them.
     *
     * @param bytes how many, at most {@link #remaining()}
     */
    public void advance(int bytes) {
        if (bytes > lengths[current]) {
            throw new IllegalArgumentException("bytes: " + bytes + " (expected: at most " + lengths[current] + ')');
        }
        addresses[current] += bytes;
        lengths[current] -= bytes;
        if (lengths[current] == 0) {
            current = (current + 1) % ENTRIES;
        }
    }

    /** Nothing more is going to be written to the entries that are there: they count as full. */
    public void giveUp() {
        while (remaining() > 0) {
            advance(remaining());
        }
    }
}
