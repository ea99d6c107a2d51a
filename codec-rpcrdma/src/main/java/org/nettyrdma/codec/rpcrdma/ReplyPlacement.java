package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;

/**
 * Decides how the parts of one reply travel, before anything is written, so that a reply that does not fit can still be
 * refused.
 *
 * <p>The eligible results go into the Write chunks in order, one each, without their padding; where there is a chunk this is
 * not a choice (rfc5666bis-01, section 5.2.2). An empty result uses its chunk up and is returned with length 0. The rest goes
 * inline if it fits; a Reply chunk is for what does not fit, which saves an RDMA Write for the many replies that do.
 */
final class ReplyPlacement {

    private final ByteBuf reply;
    private final List<DataItem> placed;
    private final List<WriteChunk> offered;
    private final ChunkLists returned;
    private final WriteChunk replyChunk;
    private final RpcRdmaVersion version;

    private ReplyPlacement(ByteBuf reply, List<DataItem> placed, ChunkLists offered, ChunkLists returned, boolean isLong,
                           RpcRdmaVersion version) {
        this.reply = reply;
        this.placed = placed;
        this.offered = offered.writeChunks();
        this.returned = returned;
        this.replyChunk = isLong ? offered.replyChunk() : null;
        this.version = version;
    }

    /**
     * Decides.
     *
     * @param reply     the whole reply; its reference stays with the caller until {@link #body}
     * @param items     its eligible results, positions from its reader index
     * @param offered   the chunks of the call
     * @param threshold how large a Send may be
     * @throws RpcRdmaException         if the reply fits into nothing that the call offered
     * @throws IllegalArgumentException if the items are not within the reply or not in order
     */
    static ReplyPlacement of(ByteBuf reply, List<DataItem> items, ChunkLists offered, InlineThreshold threshold)
            throws RpcRdmaException {
        int count = Math.min(items.size(), offered.writeChunks().size());
        List<DataItem> placed = count == 0 ? List.of() : items.subList(0, count);
        long inlineBytes = reply.readableBytes() - DataItems.requireWithin(placed, reply.readableBytes());
        ChunkLists returned = offered.isEmpty() ? ChunkLists.EMPTY : returned(placed, offered, 0);
        if (threshold.fitsSend(returned, inlineBytes)) {
            return new ReplyPlacement(reply, placed, offered, returned, false, threshold.version());
        }
        if (offered.replyChunk() == null) {
            throw RpcRdmaException.tooLarge("%d bytes of reply do not fit inline (limit: %d with the header), and the call "
                    + "offers no Reply chunk", inlineBytes, threshold.sendBytes());
        }
        if (offered.replyChunk().lengthBytes() < inlineBytes || !threshold.fitsSend(returned, 0)) {
            throw RpcRdmaException.tooLarge("%d bytes of reply do not fit into a Reply chunk of %d", inlineBytes,
                    offered.replyChunk().lengthBytes());
        }
        return new ReplyPlacement(reply, placed, offered, returned(placed, offered, inlineBytes), true, threshold.version());
    }

    /** The lists with the lengths that will have been written. */
    private static ChunkLists returned(List<DataItem> placed, ChunkLists offered, long replyChunkBytes)
            throws RpcRdmaException {
        List<WriteChunk> writeChunks = new ArrayList<>(offered.writeChunks().size());
        for (int i = 0; i < offered.writeChunks().size(); i++) {
            WriteChunk chunk = offered.writeChunks().get(i);
            int length = i < placed.size() ? placed.get(i).length() : 0;
            if (length > chunk.lengthBytes()) {
                throw RpcRdmaException.tooLarge("result of %d bytes does not fit into Write chunk %d of %d bytes", length, i,
                        chunk.lengthBytes());
            }
            writeChunks.add(chunk.written(length));
        }
        WriteChunk replyChunk = offered.replyChunk();
        return new ChunkLists(List.of(), writeChunks, replyChunk == null ? null : replyChunk.written(replyChunkBytes));
    }

    /** Whether the rest of the reply goes into the Reply chunk. */
    boolean isLong() {
        return replyChunk != null;
    }

    /** How many bytes go into Write chunks. */
    long placedBytes() {
        long bytes = 0;
        for (DataItem item : placed) {
            bytes += item.length();
        }
        return bytes;
    }

    RpcRdmaHeader header(int xid) {
        return isLong() ? version.noMsg(xid, returned) : version.msg(xid, returned);
    }

    /**
     * Cuts the reply up: gives out the RDMA Writes in order, and returns what belongs in the Send behind them. The reply's
     * reference passes to these parts.
     */
    ByteBuf body(ByteBufAllocator alloc, Consumer<RdmaWrite> writes) {
        for (int i = 0; i < placed.size(); i++) {
            DataItem item = placed.get(i);
            write(reply.slice(reply.readerIndex() + item.position(), item.length()), offered.get(i), writes);
        }
        ByteBuf rest = placed.isEmpty() ? reply : DataItems.takeOut(alloc, reply, placed);
        if (!isLong()) {
            return rest;
        }
        write(rest, replyChunk, writes);
        rest.release();
        return Unpooled.EMPTY_BUFFER;
    }

    /** Spreads {@code data}, whose reference stays with the caller, over the segments of a chunk that is large enough. */
    private static void write(ByteBuf data, WriteChunk chunk, Consumer<RdmaWrite> writes) {
        int position = data.readerIndex();
        for (RemoteSegment segment : chunk.segments()) {
            int length = (int) Math.min(segment.length(), data.writerIndex() - position);
            if (length > 0) {
                writes.accept(new RdmaWrite(data.retainedSlice(position, length), segment.withLength(length)));
                position += length;
            }
        }
    }
}
