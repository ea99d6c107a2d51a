package org.nettyrdma.stream;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Says where its owner may write: an entry of a target list, and the first receive buffer in the private data.
 *
 * @param address the tagged offset of the first byte, an unsigned number
 * @param key     the steering tag
 * @param length  how many bytes may be written, 1 to {@value #MAX_LENGTH}
 */
public record TargetEntry(long address, int key, int length) {

    /** Size of an entry on the wire. */
    public static final int BYTES = 16;

    /** Half of the largest ring that a peer in C can have. */
    public static final int MAX_LENGTH = 1 << 30;

    private static final int KEY_OFFSET = 8;
    private static final int LENGTH_OFFSET = 12;

    /**
     * Reads an entry that a peer has written.
     *
     * @param from  holds it
     * @param at    its first byte
     * @param order the byte order of its owner's host; big-endian in the private data
     * @param field what to call it where it is wrong
     * @return the entry
     * @throws StreamProtocolException if the length is out of range
     */
    public static TargetEntry read(ByteBuffer from, int at, ByteOrder order, String field) throws StreamProtocolException {
        boolean swap = from.order() != order;
        long address = from.getLong(at);
        int key = from.getInt(at + KEY_OFFSET);
        int length = from.getInt(at + LENGTH_OFFSET);
        if (swap) {
            address = Long.reverseBytes(address);
            key = Integer.reverseBytes(key);
            length = Integer.reverseBytes(length);
        }
        if (length < 1 || length > MAX_LENGTH) {
            throw new StreamProtocolException(field + " has length " + Integer.toUnsignedString(length) + " (limit: 1 to "
                    + MAX_LENGTH + ')');
        }
        return new TargetEntry(address, key, length);
    }

    /**
     * Writes this entry.
     *
     * @param to    where to
     * @param at    its first byte
     * @param order the byte order
     */
    public void write(ByteBuffer to, int at, ByteOrder order) {
        boolean swap = to.order() != order;
        to.putLong(at, swap ? Long.reverseBytes(address) : address);
        to.putInt(at + KEY_OFFSET, swap ? Integer.reverseBytes(key) : key);
        to.putInt(at + LENGTH_OFFSET, swap ? Integer.reverseBytes(length) : length);
    }
}
