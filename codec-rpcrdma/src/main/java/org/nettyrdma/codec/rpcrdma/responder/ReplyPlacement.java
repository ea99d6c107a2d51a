package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.codec.rpcrdma.shared.ShortLists;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * Decides how the parts of one reply travel, before anything is written, so that a reply that does not fit can still be
 * refused.
 *
 * <p>The eligible results go into the Write chunks in order, one each, without their padding; where there is a chunk this is
 * not a choice (RFC 8166, section 4.3.2). An empty result uses its chunk up and is returned with length 0. A chunk
 * that is offered with length 0 uses its result up, which stays with the rest: there is no room for it, and a call whose
 * reply can be conveyed is not refused. The rest goes inline if it fits; a Reply chunk is for what does not fit, which saves
 * an RDMA Write for the many replies that do.
 */
public final class ReplyPlacement {

    private final ByteBuf reply;
    /** The results that are placed, and the chunk of each. */
    private final List<DataItem> placed;
    private final List<WriteChunk> targets;
    private final ChunkLists returned;
    /** {@code null} if the rest goes inline. */
    private final WriteChunk replyChunk;
    private final RpcRdmaVersion version;

    private ReplyPlacement(ByteBuf reply, List<DataItem> placed, List<WriteChunk> targets, ChunkLists returned,
                           WriteChunk replyChunk, RpcRdmaVersion version) {
        this.reply = reply;
        this.placed = placed;
        this.targets = targets;
        this.returned = returned;
        this.replyChunk = replyChunk;
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
    public static ReplyPlacement of(ByteBuf reply, List<DataItem> items, ChunkLists offered, InlineThreshold threshold)
            throws RpcRdmaException {
        boolean anyOffered = !offered.writeChunks().isEmpty() || offered.replyChunk() != null;
        List<WriteChunk> chunks = offered.writeChunks();
        ItemReduction.requireWithin(items.size() <= chunks.size() ? items : items.subList(0, chunks.size()),
                reply.readableBytes());
        long restBytes = reply.readableBytes();
        List<DataItem> placed = List.of();
        List<WriteChunk> targets = List.of();
        List<WriteChunk> written = List.of();
        for (int i = 0; i < chunks.size(); i++) {
            WriteChunk chunk = chunks.get(i);
            if (i < items.size() && chunk.lengthBytes() > 0) {
                requireRoom(items.get(i), i, chunk);
                restBytes -= RpcOffsets.padded(items.get(i).length());
                placed = ShortLists.append(placed, items.get(i));
                targets = ShortLists.append(targets, chunk);
                written = ShortLists.append(written, chunk.written(items.get(i).length()));
            } else {
                written = ShortLists.append(written, chunk.written(0));
            }
        }
        ChunkLists returned = anyOffered ? returned(written, offered.replyChunk(), 0) : ChunkLists.EMPTY;
        if (threshold.fitsSend(returned, restBytes)) {
            return new ReplyPlacement(reply, placed, targets, returned, null, threshold.version());
        }
        requireReplyChunk(restBytes, offered.replyChunk(), returned, threshold);
        return new ReplyPlacement(reply, placed, targets, returned(written, offered.replyChunk(), restBytes),
                offered.replyChunk(), threshold.version());
    }

    private static void requireRoom(DataItem item, int index, WriteChunk chunk) throws RpcRdmaException {
        if (item.length() > chunk.lengthBytes()) {
            // Counted from one (version-two-08, section 5.3.3).
            throw RpcRdmaFailures.tooLarge(new RpcRdmaError.WriteResource(index + 1, item.length()),
                    "the reply needs %d bytes in Write chunk %d, the call offers %d", item.length(), index + 1,
                    chunk.lengthBytes());
        }
    }

    private static void requireReplyChunk(long bytes, WriteChunk offered, ChunkLists returned, InlineThreshold threshold)
            throws RpcRdmaException {
        int headerBytes = threshold.version().headerLength(returned);
        if (headerBytes > threshold.sendBytes()) {
            throw RpcRdmaFailures.tooLarge("header of %d bytes (inline threshold: %d)", headerBytes, threshold.sendBytes());
        }
        if (offered == null || bytes > offered.lengthBytes()) {
            throw RpcRdmaFailures.tooLarge(new RpcRdmaError.ReplyResource(bytes),
                    "the reply needs a Reply chunk of %d bytes, the call offers %s (limit inline: %d)", bytes,
                    offered == null ? "none" : offered.lengthBytes(), threshold.sendBytes() - headerBytes);
        }
    }

    /** The lists with the lengths that will have been written. */
    private static ChunkLists returned(List<WriteChunk> written, WriteChunk replyChunk, long replyChunkBytes) {
        return new ChunkLists(List.of(), written, replyChunk == null ? null : replyChunk.written(replyChunkBytes));
    }

    /** The transaction id; to be asked for before {@link #body}. */
    int xid() {
        return RpcOffsets.word(reply, 0);
    }

    /** Whether the rest of the reply goes into the Reply chunk. */
    boolean isLong() {
        return replyChunk != null;
    }

    /** How many bytes go into Write chunks. */
    long placedBytes() {
        long bytes = 0;
        for (int i = 0; i < placed.size(); i++) {
            bytes += placed.get(i).length();
        }
        return bytes;
    }

    /**
     * The message to send.
     *
     * @param xid     the transaction id
     * @param credits what is likely to be granted with it
     * @param body    what {@link #body} has returned; its reference passes to the message
     */
    public RpcRdmaMessage message(int xid, int credits, ByteBuf body) {
        return version.message(Role.RESPONSE, xid, credits, returned, body, isLong());
    }

    /**
     * Cuts the reply up: gives out the RDMA Writes in order, and returns what belongs in the Send behind them. The reply's
     * reference passes to these parts, or is released where something is thrown.
     */
    ByteBuf body(ByteBufAllocator alloc, Consumer<RdmaWrite> writes) {
        ByteBuf rest = reply;
        try {
            for (int i = 0; i < placed.size(); i++) {
                DataItem item = placed.get(i);
                write(reply, reply.readerIndex() + item.position(), item.length(), targets.get(i), writes);
            }
            if (!placed.isEmpty()) {
                rest = ItemReduction.takeOut(alloc, reply, placed);
            }
            if (!isLong()) {
                return rest;
            }
            write(rest, rest.readerIndex(), rest.readableBytes(), replyChunk, writes);
        } catch (RuntimeException | Error e) { // no memory, for instance
            rest.release();
            throw e;
        }
        rest.release();
        return Unpooled.EMPTY_BUFFER;
    }

    /**
     * Spreads a part of {@code data}, whose reference stays with the caller, over the segments of a chunk that is large enough.
     */
    private static void write(ByteBuf data, int index, int bytes, WriteChunk chunk, Consumer<RdmaWrite> writes) {
        int position = index;
        for (int i = 0; i < chunk.segments().size(); i++) {
            RemoteSegment segment = chunk.segments().get(i);
            int length = (int) Math.min(segment.length(), index + bytes - position);
            if (length > 0) {
                writes.accept(new RdmaWrite(ItemReduction.retainedPart(data, position, length), segment.withLength(length)));
                position += length;
            }
        }
    }
}
