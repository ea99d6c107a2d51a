package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RegisteredByteBufAllocator;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.ShortLists;

/** Opens the memory of the calls of one channel to the peer. Event loop only. */
public final class ChunkExposer {

    private final Channel channel;
    private final ChunkCounters statistics;
    private final PeerPolicy policy;

    /**
     * @param channel a {@link RdmaChannel}, if anything is to be exposed
     */
    public ChunkExposer(Channel channel, ChunkCounters statistics, PeerPolicy policy) {
        this.channel = channel;
        this.statistics = statistics;
        this.policy = policy;
    }

    /**
     * Exposes what a plan asks for.
     *
     * @param call         the whole call; its reference stays with the caller, what is exposed holds its own
     * @param invalidation what the reply may withdraw
     * @throws IOException if memory cannot be exposed; then nothing is
     */
    public ExposedChunks open(RequestPlan plan, ByteBuf call, InvalidationPolicy invalidation) throws IOException {
        ExposedChunks exposure = new ExposedChunks(channel, statistics, invalidation);
        try {
            List<ReadChunk> readChunks = openArguments(exposure, plan, call);
            List<WriteChunk> writeChunks = openResults(exposure, plan.writeChunkBytes());
            WriteChunk replyChunk = plan.replyChunkBytes() > 0 ? openReply(exposure, plan.replyChunkBytes()) : null;
            exposure.opened(new ChunkLists(readChunks, writeChunks, replyChunk));
        } catch (IOException | RuntimeException | Error e) {
            exposure.withdraw(exposure::releaseSinks);
            throw e;
        }
        return exposure;
    }

    private List<ReadChunk> openArguments(ExposedChunks exposure, RequestPlan plan, ByteBuf call) throws IOException {
        List<DataItem> items = plan.readItems();
        List<ReadChunk> readChunks = List.of();
        if (plan.isLong()) {
            readChunks = List.of(readChunk(exposure, 0, piecesWithout(items, call), plan.maxSegments()));
        }
        for (int i = 0; i < items.size(); i++) {
            readChunks = ShortLists.append(readChunks, readChunk(exposure, items.get(i), call, plan.maxSegments()));
        }
        return readChunks;
    }

    private List<WriteChunk> openResults(ExposedChunks exposure, List<Integer> chunkBytes) throws IOException {
        List<WriteChunk> writeChunks = List.of();
        for (int i = 0; i < chunkBytes.size(); i++) {
            ByteBuf sink = channel.alloc().directBuffer(chunkBytes.get(i));
            exposure.addWriteSink(sink);
            writeChunks = ShortLists.append(writeChunks, writeChunk(exposure, sink, chunkBytes.get(i)));
        }
        return writeChunks;
    }

    private WriteChunk openReply(ExposedChunks exposure, int bytes) throws IOException {
        ByteBuf sink = channel.alloc().directBuffer(bytes);
        exposure.setReplySink(sink);
        return writeChunk(exposure, sink, bytes);
    }

    /**
     * Whether the memory that a plan exposes of a call is the call's own, so that none of it is copied.
     *
     * @param plan has Read chunks
     */
    boolean isInPlace(RequestPlan plan, ByteBuf call) {
        List<ByteBuf> pieces = pieces(call, 0, call.readableBytes());
        return segmentsOf(pieces) <= plan.maxSegments() && isRegistered(pieces);
    }

    /** The pieces of memory that a part of the call is in; the position counts from the XID. */
    private static List<ByteBuf> pieces(ByteBuf call, int position, int length) {
        int index = call.readerIndex() + position;
        return call instanceof CompositeByteBuf composite ? composite.decompose(index, length)
                : List.of(call.slice(index, length));
    }

    /** The pieces of memory that the call is in, without these items and their padding. */
    private static List<ByteBuf> piecesWithout(List<DataItem> items, ByteBuf call) {
        if (items.isEmpty()) {
            return pieces(call, 0, call.readableBytes());
        }
        List<ByteBuf> pieces = new ArrayList<>();
        int position = 0;
        for (DataItem item : items) {
            pieces.addAll(pieces(call, position, item.position() - position));
            position = item.position() + (int) RpcOffsets.padded(item.length());
        }
        pieces.addAll(pieces(call, position, call.readableBytes() - position));
        return pieces;
    }

    private ReadChunk readChunk(ExposedChunks exposure, DataItem item, ByteBuf call, int maxSegments) throws IOException {
        int index = call.readerIndex() + item.position();
        ByteBuf whole = call;
        if (call instanceof CompositeByteBuf composite) {
            int component = composite.toComponentIndex(index);
            whole = composite.internalComponent(component);
            index -= composite.toByteIndex(component);
        }
        int length = item.length();
        if (index + length <= whole.capacity() && policy.segmentsOf(length) <= maxSegments
                && isRegistered(whole, index, length)) { // in one piece, as nearly all are
            return new ReadChunk(item.position(), expose(exposure, whole, index, length, RemoteAccess.READ));
        }
        return readChunk(exposure, item.position(), pieces(call, item.position(), length), maxSegments);
    }

    private ReadChunk readChunk(ExposedChunks exposure, int position, List<ByteBuf> pieces, int maxSegments) throws IOException {
        if (segmentsOf(pieces) <= maxSegments && isRegistered(pieces)) {
            return new ReadChunk(position, expose(exposure, pieces, RemoteAccess.READ));
        }
        int length = 0;
        for (ByteBuf piece : pieces) {
            length += piece.readableBytes();
        }
        ByteBuf copy = channel.alloc().directBuffer(length);
        try {
            for (ByteBuf piece : pieces) {
                copy.writeBytes(piece, piece.readerIndex(), piece.readableBytes());
            }
            statistics.add(Counter.COPIED_BYTES, length);
            return new ReadChunk(position, expose(exposure, List.of(copy), RemoteAccess.READ));
        } finally {
            copy.release(); // the exposure holds its own reference, if there is one
        }
    }

    private WriteChunk writeChunk(ExposedChunks exposure, ByteBuf sink, int length) throws IOException {
        return new WriteChunk(expose(exposure, sink, 0, length, RemoteAccess.WRITE));
    }

    private long segmentsOf(List<ByteBuf> pieces) {
        long segments = 0;
        for (int i = 0; i < pieces.size(); i++) {
            segments += policy.segmentsOf(pieces.get(i).readableBytes());
        }
        return segments;
    }

    private boolean isRegistered(List<ByteBuf> pieces) {
        for (ByteBuf piece : pieces) {
            if (!isRegistered(piece, piece.readerIndex(), piece.readableBytes())) {
                return false;
            }
        }
        return true;
    }

    private boolean isRegistered(ByteBuf memory, int index, int length) {
        return channel.alloc() instanceof RegisteredByteBufAllocator registered && registered.isRegistered(memory, index, length);
    }

    /** Never as an empty segment: no responder needs one, and the Linux server does not survive it. */
    private List<RemoteSegment> expose(ExposedChunks exposure, List<ByteBuf> pieces, RemoteAccess access) throws IOException {
        List<RemoteSegment> segments = new ArrayList<>((int) segmentsOf(pieces));
        for (int i = 0; i < pieces.size(); i++) {
            ByteBuf piece = pieces.get(i);
            if (piece.isReadable()) {
                segments.addAll(expose(exposure, piece, piece.readerIndex(), piece.readableBytes(), access));
            }
        }
        return segments;
    }

    private List<RemoteSegment> expose(ExposedChunks exposure, ByteBuf memory, int start, int bytes, RemoteAccess access)
            throws IOException {
        List<RemoteSegment> segments = List.of();
        int length;
        for (int index = start; index < start + bytes; index += length) {
            length = Math.min(start + bytes - index, policy.maxSegmentBytes());
            segments = ShortLists.append(segments, exposure.add(((RdmaChannel) channel).expose(memory, index, length, access)));
        }
        return segments;
    }
}
