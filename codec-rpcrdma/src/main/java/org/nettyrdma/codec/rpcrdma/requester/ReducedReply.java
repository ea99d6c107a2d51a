package org.nettyrdma.codec.rpcrdma.requester;

import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/**
 * A received reply whose parts came by different ways, and which is put together again: the stream, which came inline or in
 * the Reply chunk, and the results that were placed in Write chunks.
 */
final class ReducedReply {

    private final RequesterCall call;
    private final ByteBuf stream;
    /** For each Write chunk offered, how much of it was written. */
    private final List<Integer> placedBytes;

    private ReducedReply(RequesterCall call, ByteBuf stream, List<Integer> placedBytes) {
        this.call = call;
        this.stream = stream;
        this.placedBytes = placedBytes;
    }

    /**
     * Checks what the responder says it has written against what the call offered.
     *
     * @param reply with a header that conveys a message; its reference stays with the caller
     * @throws RpcRdmaException if the two do not fit together
     */
    static ReducedReply of(RequesterCall call, RpcRdmaMessage reply) throws RpcRdmaException {
        ByteBuf stream = streamOf(call, reply);
        return new ReducedReply(call, stream, placedBytes(call, reply.chunks()));
    }

    private static ByteBuf streamOf(RequesterCall call, RpcRdmaMessage reply) throws RpcRdmaException {
        boolean isLong = reply.isNoMsg();
        ChunkLists returned = reply.chunks();
        if (returned == ChunkLists.EMPTY && !isLong) {
            return reply.content();
        }
        if (!returned.readChunks().isEmpty()) { // RFC 8166, section 4.3.1
            throw malformed("reply with a Read list");
        }
        int replyBytes = returned.replyChunk() == null ? 0
                : written(call.chunks().replyChunk(), returned.replyChunk(), call.replySink(), "Reply chunk");
        if (isLong != replyBytes > 0) {
            throw malformed("%s with %d bytes in the Reply chunk", isLong ? "RDMA_NOMSG" : "RDMA_MSG", replyBytes);
        }
        if (!isLong) {
            return reply.content();
        }
        ByteBuf stream = call.replySink().setIndex(0, replyBytes);
        if (RpcMessageType.peek(stream) != RpcMessageType.REPLY || RpcOffsets.word(stream, 0) != reply.xid()) {
            throw malformed("Reply chunk of %d bytes holds no reply with XID %08x", replyBytes, reply.xid());
        }
        return stream;
    }

    private static List<Integer> placedBytes(RequesterCall call, ChunkLists returned) throws RpcRdmaException {
        List<WriteChunk> offered = call.chunks().writeChunks();
        List<WriteChunk> chunks = returned.writeChunks();
        if (chunks.isEmpty()) {
            return List.of(); // unused chunks should be returned with length 0, but Linux clients take this as well
        }
        if (chunks.size() != offered.size()) {
            throw malformed("%d Write chunks returned of %d offered", chunks.size(), offered.size());
        }
        List<Integer> planned = call.writeChunkBytes();
        List<Integer> placed = planned; // as long as each chunk was filled, as usual
        for (int i = 0; i < chunks.size(); i++) {
            int bytes = written(offered.get(i), chunks.get(i), call.exposure().writeSinks().get(i), "Write chunk");
            if (placed == planned && bytes != planned.get(i)) {
                placed = new ArrayList<>(planned.subList(0, i));
            }
            if (placed != planned) {
                placed.add(bytes);
            }
        }
        return placed;
    }

    /** How much the responder has written into a chunk; afterwards that is at the start of the sink, in one piece. */
    private static int written(WriteChunk offered, WriteChunk returned, ByteBuf sink, String field) throws RpcRdmaException {
        if (offered == null || returned.segments().size() != offered.segments().size()) { // RFC 8166, section 3.4.6
            throw malformed("%s with %d segments returned, %d were offered", field, returned.segments().size(),
                    offered == null ? 0 : offered.segments().size());
        }
        int from = 0;
        int to = 0;
        for (int i = 0; i < offered.segments().size(); i++) {
            long offeredBytes = offered.segments().get(i).length();
            long writtenBytes = returned.segments().get(i).length();
            if (writtenBytes > offeredBytes) {
                throw malformed("%s: segment %d returned with %d bytes, %d were offered", field, i, writtenBytes, offeredBytes);
            }
            if (from > to && writtenBytes > 0) { // a segment before was not filled; the contents are one all the same
                move(sink, from, to, (int) writtenBytes);
            }
            from += (int) offeredBytes;
            to += (int) writtenBytes;
        }
        return to;
    }

    private static void move(ByteBuf sink, int from, int to, int length) {
        ByteBuf moved = sink.copy(from, length); // they may overlap
        sink.setBytes(to, moved);
        moved.release();
    }

    /** Whether the stream came in the Reply chunk. */
    boolean isLong() {
        return stream == call.replySink();
    }

    /** How many bytes came in the Reply chunk. */
    int replyChunkBytes() {
        return isLong() ? stream.readableBytes() : 0;
    }

    /** How many bytes came in Write chunks. */
    long writeChunkBytes() {
        long bytes = 0;
        for (int i = 0; i < placedBytes.size(); i++) {
            bytes += placedBytes.get(i);
        }
        return bytes;
    }

    /**
     * Puts the reply together.
     *
     * @return the whole reply with a reference of its own for the caller; the parts keep theirs
     * @throws RpcRdmaException if it is not known where a result belongs
     */
    ByteBuf assemble(ByteBufAllocator alloc, BindingTable bindings) throws RpcRdmaException {
        return writeChunkBytes() == 0 ? stream.retain() : withResults(alloc, bindings);
    }

    private ByteBuf withResults(ByteBufAllocator alloc, BindingTable bindings) throws RpcRdmaException {
        List<DataItem> items;
        try {
            items = call.itemsOf(stream, bindings, placedBytes);
        } catch (RuntimeException | Error e) { // the binding could not parse what the peer sent
            throw malformed("results cannot be parsed: %s", e);
        }
        List<ByteBuf> sinks = call.exposure().writeSinks();
        List<ByteBuf> contents = placedBytes.contains(0) ? new ArrayList<>(sinks.size()) : sinks;
        int found = 0;
        int end = 0;
        for (int i = 0; i < placedBytes.size(); i++) {
            int placed = placedBytes.get(i);
            if (placed == 0) {
                continue;
            }
            DataItem item = found < items.size() ? items.get(found) : null;
            if (item == null || item.position() < end || item.position() > stream.readableBytes()) {
                throw malformed("no result for the %d bytes in Write chunk %d", placed, i);
            }
            end = item.position();
            setContent(sinks.get(i), item, placed);
            if (contents != sinks) {
                contents.add(sinks.get(i));
            }
            found++;
        }
        // All is checked; only now references are taken.
        for (int i = 0; i < contents.size(); i++) {
            contents.get(i).retain();
        }
        return ItemReduction.putIn(alloc, stream.retain(), items, contents);
    }

    /** Leaves in the sink the content of an item and its padding, whether or not the responder has written that too. */
    private static void setContent(ByteBuf sink, DataItem item, int placed) throws RpcRdmaException {
        int padded = (int) RpcOffsets.padded(item.length());
        // The count that is left inline must match (RFC 8166, section 3.4.4.1).
        if (placed != item.length() && placed != padded) {
            throw malformed("result of %d bytes, of which %d were written", item.length(), placed);
        }
        sink.setIndex(0, item.length());
        sink.writeZero(padded - item.length());
    }
}
