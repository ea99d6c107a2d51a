package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositiveOrZero;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a piece of bulk data lies in an XDR stream: opaque data that a transport may place directly into the receiver's
 * memory instead of sending it inline (RFC 8166, section 3.4.2, "DDP-eligible").
 *
 * @param position offset in bytes of the first byte of the data, behind its length word, counted from the first byte of the
 *                 stream that the item is part of
 * @param length   length of the data in bytes, without its padding
 */
public record DataItem(int position, int length) {

    /**
     * Creates an item.
     *
     * @param position offset in bytes of the first byte of the data
     * @param length   length of the data in bytes
     * @throws IllegalArgumentException if a value is negative
     */
    public DataItem {
        checkPositiveOrZero(position, "position");
        checkPositiveOrZero(length, "length");
    }

    /**
     * The same item in a stream that begins earlier.
     *
     * @param bytes how many bytes now precede the stream
     * @return the item at its new position
     */
    public DataItem movedBy(int bytes) {
        return new DataItem(Math.addExact(position, bytes), length);
    }

    /**
     * The same items in a stream that begins earlier.
     *
     * @param items the items, which stay as they are
     * @param bytes how many bytes now precede the stream
     * @return the items at their new positions, in the same order; unmodifiable unless there are none
     */
    public static List<DataItem> allMovedBy(List<DataItem> items, int bytes) {
        if (items.isEmpty()) {
            return items;
        }
        if (items.size() == 1) {
            return List.of(items.get(0).movedBy(bytes));
        }
        List<DataItem> moved = new ArrayList<>(items.size());
        for (DataItem item : items) {
            moved.add(item.movedBy(bytes));
        }
        return List.copyOf(moved); // here, where whoever asks has not made a message yet
    }
}
