package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.SendWorkRequest;

/**
 * Splits the bytes of any buffer into pieces of registered memory. Reused for one buffer after the other, so that posting
 * allocates nothing; not thread safe.
 */
final class RegisteredPieces implements MemoryRegionTable.Pieces {

    /** The largest power of two by which {@link ByteBuffer#alignmentOffset} can tell where a byte lies. */
    private static final int ADDRESS_WINDOW = 1 << 30;

    private final MemoryRegionTable table;
    private final boolean hasAddresses;
    private final MemoryRegion[] regions;
    private final int[] offsets;
    private final int[] lengths;
    private int count;

    /** Without addresses, where {@code Unsafe} is missing, places are found by another way. */
    RegisteredPieces(MemoryRegionTable table, int maxPieces, boolean hasAddresses) {
        this.table = table;
        this.hasAddresses = hasAddresses;
        regions = new MemoryRegion[maxPieces];
        offsets = new int[maxPieces];
        lengths = new int[maxPieces];
    }

    /**
     * Finds the pieces of a part of a buffer, through slices, duplicates, wrappers and composites.
     *
     * @return {@code true} if all of them are registered and there are no more than the maximum; no bytes need no piece
     */
    boolean find(ByteBuf buffer, int index, int length) {
        count = 0;
        return length == 0 || collect(buffer, index, length);
    }

    /** Whether a part of a buffer is one piece, without a search; {@code false} says nothing. */
    boolean isOnePiece(ByteBuf buffer, int index, int length) {
        return buffer instanceof RegisteredByteBuf registered && registered.blockIn(table, index, length) != null;
    }

    /**
     * Adds the pieces of a part of a buffer to those that were found, unless there would be more than so many.
     *
     * @return {@code false} if there would be more, or not all are registered: then nothing is added
     */
    boolean append(ByteBuf buffer, int index, int length, int most) {
        int before = count;
        if (collect(buffer, index, length) && count <= most) {
            return true;
        }
        count = before;
        return false;
    }

    private boolean collect(ByteBuf buffer, int index, int length) {
        if (buffer instanceof RegisteredByteBuf registered) { // nearly all are, and know where they are
            Block block = registered.blockIn(table, index, length);
            if (block != null) {
                return add(block.region(), block.offset + index, length);
            }
        }
        if (hasAddresses && buffer.hasMemoryAddress()) {
            return table.find(buffer.memoryAddress() + index, length, this);
        }
        if (buffer instanceof CompositeByteBuf composite) {
            return collectComponents(composite, index, length);
        }
        if (!buffer.isDirect()) {
            return false;
        }
        return hasAddresses ? collectByAddress(buffer, index, length) : collectByRoot(buffer, index, length);
    }

    private boolean collectComponents(CompositeByteBuf composite, int index, int length) {
        int component = composite.toComponentIndex(index);
        int position = index;
        int end = index + length;
        while (position < end) {
            ByteBuf part = composite.internalComponent(component);
            int start = position - composite.toByteIndex(component);
            int bytes = Math.min(end - position, part.capacity() - start);
            if (bytes > 0 && !collect(part, start, bytes)) {
                return false;
            }
            position += bytes;
            component++;
        }
        return true;
    }

    /** For what is derived from a composite: it does not tell where in the composite it begins. */
    private boolean collectByAddress(ByteBuf buffer, int index, int length) {
        for (ByteBuffer part : buffer.nioBuffers(index, length)) {
            if (part.hasRemaining() && (!part.isDirect()
                    || !table.find(PlatformDependent.directBufferAddress(part) + part.position(), part.remaining(), this))) {
                return false;
            }
        }
        return true;
    }

    /**
     * Without {@code Unsafe}: the block comes from the buffer at the root, the place within it from the alignments. What is
     * derived from a composite is not found, and will be copied.
     */
    private boolean collectByRoot(ByteBuf buffer, int index, int length) {
        ByteBuf root = buffer;
        while (root.unwrap() != null) {
            root = root.unwrap();
        }
        Block block = root instanceof RegisteredByteBuf registered ? registered.blockIn(table) : null;
        if (block == null) {
            return false;
        }
        int first = buffer.nioBuffer(index, length).alignmentOffset(0, ADDRESS_WINDOW);
        int distance = first - block.view.alignmentOffset(0, ADDRESS_WINDOW) & ADDRESS_WINDOW - 1;
        return distance + length <= block.size() && add(block.region(), block.offset + distance, length);
    }

    @Override
    public boolean add(MemoryRegion region, int offset, int length) {
        if (count == regions.length) {
            return false;
        }
        regions[count] = region;
        offsets[count] = offset;
        lengths[count] = length;
        count++;
        return true;
    }

    /** The number of pieces found, 0 to the maximum. */
    int count() {
        return count;
    }

    MemoryRegion region(int piece) {
        return regions[piece];
    }

    int offset(int piece) {
        return offsets[piece];
    }

    /** Makes the pieces found the local memory of a work request. */
    void addTo(SendWorkRequest request) {
        for (int i = 0; i < count; i++) {
            request.addElement(regions[i], offsets[i], lengths[i]);
        }
    }
}
