package org.nettyrdma.codec.rpcrdma.shared;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;

/** Takes DDP-eligible items out of XDR streams and puts them in again. Positions count from the reader index. */
public final class ItemReduction {

    private ItemReduction() {
    }

    /**
     * Checks that the items with their padding lie within a stream, in ascending order and without overlap.
     *
     * @throws IllegalArgumentException if they do not
     */
    public static void requireWithin(List<DataItem> items, int streamBytes) {
        long end = 0;
        for (int i = 0; i < items.size(); i++) {
            DataItem item = items.get(i);
            long padded = RpcOffsets.padded(item.length());
            if (item.position() < end || item.position() + padded > streamBytes) {
                throw new IllegalArgumentException(item + " after byte " + end + " of a message of " + streamBytes + " bytes");
            }
            end = item.position() + padded;
        }
    }

    /**
     * The stream without the content and padding of the items; their length words stay. Pieces are not copied.
     *
     * @param stream its reference passes to the buffer returned; it stays with the caller if something is thrown
     * @param items  one or more that have passed {@link #requireWithin}
     */
    public static ByteBuf takeOut(ByteBufAllocator alloc, ByteBuf stream, List<DataItem> items) {
        int start = stream.readerIndex();
        DataItem first = items.get(0);
        if (items.size() == 1 && first.position() + RpcOffsets.padded(first.length()) == stream.readableBytes()) {
            if (stream.refCnt() == 1) {
                return stream.writerIndex(start + first.position()); // nobody else looks at it
            }
            ByteBuf head = retainedPart(stream, start, first.position());
            stream.release();
            return head;
        }
        CompositeByteBuf rest = alloc.compositeBuffer(Integer.MAX_VALUE);
        try {
            int position = start;
            for (int i = 0; i < items.size(); i++) {
                DataItem item = items.get(i);
                addPiece(rest, stream, position, start + item.position());
                position = start + item.position() + (int) RpcOffsets.padded(item.length());
            }
            addPiece(rest, stream, position, stream.writerIndex());
        } catch (RuntimeException | Error e) {
            rest.release();
            throw e;
        }
        stream.release();
        return rest;
    }

    /**
     * Where placed data belongs if it is the last item of a stream: behind its length word, which is at the end.
     *
     * @param stream the stream without the data
     * @param start  where the results begin in it
     * @return the item, none if there is no such length
     */
    public static List<DataItem> lastItem(ByteBuf stream, int start) {
        int bytes = stream.readableBytes();
        if (bytes < start + Integer.BYTES) {
            return List.of();
        }
        int length = stream.getInt(stream.writerIndex() - Integer.BYTES);
        return length < 0 ? List.of() : List.of(new DataItem(bytes, length));
    }

    /**
     * The stream with the contents put in where they are missing. Pieces are not copied.
     *
     * @param stream   its reference passes to the buffer returned
     * @param items    where the contents belong in {@code stream}, in ascending order, within it
     * @param contents one for each of the first items, with its padding; their references pass to the buffer returned
     */
    public static ByteBuf putIn(ByteBufAllocator alloc, ByteBuf stream, List<DataItem> items, List<ByteBuf> contents) {
        CompositeByteBuf whole;
        try {
            whole = alloc.compositeBuffer(maxPieces(contents.size()));
        } catch (RuntimeException | Error e) { // no memory
            stream.release();
            contents.forEach(ByteBuf::release);
            throw e;
        }
        int start = stream.readerIndex();
        int position = start;
        int added = 0;
        try {
            while (added < contents.size()) {
                int end = start + items.get(added).position();
                addPiece(whole, stream, position, end);
                ByteBuf content = contents.get(added++); // where it cannot be added it is released
                whole.addComponent(true, content);
                position = end;
            }
            addPiece(whole, stream, position, stream.writerIndex());
        } catch (RuntimeException | Error e) { // no memory
            whole.release();
            contents.subList(added, contents.size()).forEach(ByteBuf::release);
            throw e;
        } finally {
            stream.release();
        }
        return whole;
    }

    /**
     * The pieces of a message that is put together, and one more for whoever puts a header in front; beyond it a composite
     * buffer would copy them into one, and it has an array as long as its limit.
     *
     * @param items what comes besides the stream
     */
    public static int maxPieces(int items) {
        return 2 * items + 2;
    }

    /**
     * A part of a stream, with a reference of its own. Where the stream has components and the part lies in one of them, it is
     * a part of that one: the memory of such a slice is found by its address, that of another by making views of it.
     */
    public static ByteBuf retainedPart(ByteBuf stream, int index, int length) {
        if (stream instanceof CompositeByteBuf composite && length > 0) {
            int component = composite.toComponentIndex(index);
            int offset = index - composite.toByteIndex(component);
            ByteBuf whole = composite.internalComponent(component);
            if (offset + length <= whole.capacity()) {
                return whole.retainedSlice(offset, length);
            }
        }
        return stream.retainedSlice(index, length);
    }

    private static void addPiece(CompositeByteBuf whole, ByteBuf stream, int from, int to) {
        if (to > from) {
            boolean all = from == stream.readerIndex() && to == stream.writerIndex();
            whole.addComponent(true, all ? stream.retain() : retainedPart(stream, from, to - from));
        }
    }
}
