package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RegisteredByteBufAllocator;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/**
 * The memory that one call opens to the peer, each piece for that call only and with the one right that it needs: arguments
 * may be read, places for results may be written. {@link #withdraw} closes it again; nobody may look at the results before.
 */
final class CallExposure {

    private static final ByteBuf[] NO_SINKS = {};

    private final RdmaChannel channel;
    private final ChunkStatistics statistics;
    private final PeerPolicy policy;
    private final InvalidationPolicy invalidation;

    /** As long as is needed for most calls, which have one chunk of one segment; the first {@link #count} are there. */
    private ExposedMemory[] exposed = new ExposedMemory[1];
    private int count;
    private ByteBuf[] writeSinks = NO_SINKS;
    private ByteBuf replySink;
    private ChunkLists chunks = ChunkLists.EMPTY;
    private boolean withdrawn;

    private CallExposure(RdmaChannel channel, ChunkStatistics statistics, PeerPolicy policy, InvalidationPolicy invalidation) {
        this.channel = channel;
        this.statistics = statistics;
        this.policy = policy;
        this.invalidation = invalidation;
    }

    /**
     * Exposes what a plan asks for.
     *
     * @param call the whole call; its reference stays with the caller, what is exposed holds its own
     * @throws IOException if memory cannot be exposed; then nothing is
     */
    static CallExposure open(RdmaChannel channel, ChunkStatistics statistics, PeerPolicy policy,
                             InvalidationPolicy invalidation, CallPlan plan, ByteBuf call) throws IOException {
        CallExposure exposure = new CallExposure(channel, statistics, policy, invalidation);
        try {
            exposure.open(plan, call);
        } catch (IOException | RuntimeException | Error e) {
            exposure.withdraw(exposure::releaseSinks);
            throw e;
        }
        statistics.add(Counter.EXPOSURES, exposure.count);
        return exposure;
    }

    private void open(CallPlan plan, ByteBuf call) throws IOException {
        List<ReadChunk> readChunks = openArguments(plan, call);
        List<WriteChunk> writeChunks = openResults(plan.writeChunkBytes());
        WriteChunk replyChunk = null;
        if (plan.replyChunkBytes() > 0) {
            replySink = channel.alloc().directBuffer(plan.replyChunkBytes());
            replyChunk = writeChunk(replySink, plan.replyChunkBytes());
        }
        ChunkLists offered = new ChunkLists(readChunks, writeChunks, replyChunk);
        chunks = offered.withInvalidateHandle(invalidation.handleToName(offered));
    }

    private List<ReadChunk> openArguments(CallPlan plan, ByteBuf call) throws IOException {
        List<DataItem> items = plan.readItems();
        List<ReadChunk> readChunks = List.of();
        if (plan.isLong()) {
            readChunks = List.of(readChunk(0, piecesWithout(items, call), plan.maxSegments()));
        }
        for (int i = 0; i < items.size(); i++) {
            readChunks = ShortLists.append(readChunks, readChunk(items.get(i), call, plan.maxSegments()));
        }
        return readChunks;
    }

    private List<WriteChunk> openResults(List<Integer> chunkBytes) throws IOException {
        if (chunkBytes.isEmpty()) {
            return List.of();
        }
        writeSinks = new ByteBuf[chunkBytes.size()];
        List<WriteChunk> writeChunks = List.of();
        for (int i = 0; i < chunkBytes.size(); i++) {
            writeSinks[i] = channel.alloc().directBuffer(chunkBytes.get(i));
            writeChunks = ShortLists.append(writeChunks, writeChunk(writeSinks[i], chunkBytes.get(i)));
        }
        return writeChunks;
    }

    /**
     * Whether the memory that a plan exposes of a call is the call's own, so that none of it is copied.
     *
     * @param plan has Read chunks
     */
    static boolean isInPlace(RdmaChannel channel, PeerPolicy policy, CallPlan plan, ByteBuf call) {
        List<ByteBuf> pieces = pieces(call, 0, call.readableBytes());
        return segmentsOf(policy, pieces) <= plan.maxSegments() && isRegistered(channel, pieces);
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

    private ReadChunk readChunk(DataItem item, ByteBuf call, int maxSegments) throws IOException {
        int index = call.readerIndex() + item.position();
        ByteBuf whole = call;
        if (call instanceof CompositeByteBuf composite) {
            int component = composite.toComponentIndex(index);
            whole = composite.internalComponent(component);
            index -= composite.toByteIndex(component);
        }
        int length = item.length();
        if (index + length <= whole.capacity() && policy.segmentsOf(length) <= maxSegments
                && isRegistered(channel, whole, index, length)) { // in one piece, as nearly all are
            return new ReadChunk(item.position(), expose(whole, index, length, RemoteAccess.READ));
        }
        return readChunk(item.position(), pieces(call, item.position(), length), maxSegments);
    }

    private ReadChunk readChunk(int position, List<ByteBuf> pieces, int maxSegments) throws IOException {
        if (segmentsOf(policy, pieces) <= maxSegments && isRegistered(channel, pieces)) {
            return new ReadChunk(position, expose(pieces, RemoteAccess.READ));
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
            return new ReadChunk(position, expose(List.of(copy), RemoteAccess.READ));
        } finally {
            copy.release(); // the exposure holds its own reference, if there is one
        }
    }

    private WriteChunk writeChunk(ByteBuf sink, int length) throws IOException {
        return new WriteChunk(expose(sink, 0, length, RemoteAccess.WRITE));
    }

    private static long segmentsOf(PeerPolicy policy, List<ByteBuf> pieces) {
        long segments = 0;
        for (int i = 0; i < pieces.size(); i++) {
            segments += policy.segmentsOf(pieces.get(i).readableBytes());
        }
        return segments;
    }

    private static boolean isRegistered(RdmaChannel channel, List<ByteBuf> pieces) {
        for (ByteBuf piece : pieces) {
            if (!isRegistered(channel, piece, piece.readerIndex(), piece.readableBytes())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isRegistered(RdmaChannel channel, ByteBuf memory, int index, int length) {
        return channel.alloc() instanceof RegisteredByteBufAllocator registered && registered.isRegistered(memory, index, length);
    }

    /** Never as an empty segment: no responder needs one, and the Linux server does not survive it. */
    private List<RemoteSegment> expose(List<ByteBuf> pieces, RemoteAccess access) throws IOException {
        List<RemoteSegment> segments = new ArrayList<>((int) segmentsOf(policy, pieces));
        for (int i = 0; i < pieces.size(); i++) {
            ByteBuf piece = pieces.get(i);
            if (piece.isReadable()) {
                segments.addAll(expose(piece, piece.readerIndex(), piece.readableBytes(), access));
            }
        }
        return segments;
    }

    private List<RemoteSegment> expose(ByteBuf memory, int start, int bytes, RemoteAccess access) throws IOException {
        List<RemoteSegment> segments = List.of();
        int length;
        for (int index = start; index < start + bytes; index += length) {
            length = Math.min(start + bytes - index, policy.maxSegmentBytes());
            segments = ShortLists.append(segments, exposeSegment(memory, index, length, access));
        }
        return segments;
    }

    private RemoteSegment exposeSegment(ByteBuf memory, int index, int length, RemoteAccess access) throws IOException {
        ExposedMemory segment = channel.expose(memory, index, length, access);
        if (count == exposed.length) {
            exposed = Arrays.copyOf(exposed, 2 * count);
        }
        exposed[count++] = segment;
        return segment.segment();
    }

    /** The chunks to tell the peer of. */
    ChunkLists chunks() {
        return chunks;
    }

    /**
     * Whether the peer has taken of this call exactly what the reply says, and that is what it may, before {@link #withdraw}.
     *
     * @param reply the reply to this call; it may have invalidated one handle of the call
     */
    boolean isInvalidatedBy(RpcRdmaMessage reply) {
        if (reply.isInvalidating() && !invalidation.allows(chunks, reply.invalidatedTag())) {
            return false;
        }
        boolean found = !reply.isInvalidating();
        for (int i = 0; i < count; i++) {
            ExposedMemory piece = exposed[i];
            boolean named = reply.isInvalidating() && piece.segment().steeringTag() == reply.invalidatedTag();
            if (named != piece.isInvalidated()) {
                return false;
            }
            found |= named;
        }
        return found;
    }

    /**
     * Whether what a reply says it has taken of this call is what it may, where {@link #withdraw} may have been faster, of
     * which the peer did not know.
     */
    boolean mayBeInvalidatedBy(RpcRdmaMessage reply) {
        return !reply.isInvalidating() || invalidation.allows(chunks, reply.invalidatedTag())
                && Arrays.stream(exposed, 0, count).anyMatch(piece -> piece.segment().steeringTag() == reply.invalidatedTag());
    }

    /**
     * Closes the memory to the peer. May be called again, with something else to do then.
     *
     * @param then runs when the peer can touch none of it any more; before this method returns if that is so already
     */
    void withdraw(Runnable then) {
        if (isWithdrawn()) {
            then.run();
            return;
        }
        int[] outstanding = {1}; // one for this loop, so that it cannot end before all are asked
        ChannelFutureListener oneLess = future -> {
            if (--outstanding[0] == 0) {
                then.run();
            }
        };
        for (int i = 0; i < count; i++) {
            ExposedMemory piece = exposed[i];
            if (!piece.isInvalidated()) {
                if (!withdrawn) {
                    statistics.increment(Counter.LOCAL_INVALIDATIONS);
                }
                ChannelFuture invalidation = piece.invalidate();
                if (!invalidation.isDone()) {
                    outstanding[0]++;
                    invalidation.addListener(oneLess);
                }
            }
        }
        withdrawn = true;
        if (--outstanding[0] == 0) {
            then.run();
        }
    }

    /** Whether the peer can touch none of the memory any more and nothing is to be done about it: the reply has seen to it. */
    boolean isWithdrawn() {
        for (int i = 0; i < count; i++) {
            if (!exposed[i].isInvalidated()) {
                return false;
            }
        }
        return true;
    }

    /** The memory that was offered as Write chunk number {@code index}; only after {@link #withdraw}. */
    ByteBuf writeSink(int index) {
        return writeSinks[index];
    }

    /** The memory that was offered as Reply chunk; only after {@link #withdraw}. */
    ByteBuf replySink() {
        return replySink;
    }

    /** Drops the references on the places for results. */
    void releaseSinks() {
        for (ByteBuf sink : writeSinks) {
            if (sink != null) { // where memory ran out before all were there
                sink.release();
            }
        }
        writeSinks = NO_SINKS;
        if (replySink != null) {
            replySink.release();
            replySink = null;
        }
    }
}
