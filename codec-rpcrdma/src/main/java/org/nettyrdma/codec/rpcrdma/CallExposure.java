package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.io.IOException;
import java.util.ArrayList;
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

    private final RdmaChannel channel;
    private final ChunkStatistics statistics;
    private final List<ExposedMemory> exposed = new ArrayList<>(2);
    private final List<ByteBuf> writeSinks = new ArrayList<>(1);
    private ByteBuf replySink;
    private ChunkLists chunks = ChunkLists.EMPTY;

    private CallExposure(RdmaChannel channel, ChunkStatistics statistics) {
        this.channel = channel;
        this.statistics = statistics;
    }

    /**
     * Exposes what a plan asks for.
     *
     * @param call the whole call; its reference stays with the caller, what is exposed holds its own
     * @throws IOException if memory cannot be exposed; then nothing is
     */
    static CallExposure open(RdmaChannel channel, ChunkStatistics statistics, CallPlan plan, ByteBuf call)
            throws IOException {
        CallExposure exposure = new CallExposure(channel, statistics);
        try {
            exposure.open(plan, call);
        } catch (IOException | RuntimeException | Error e) {
            exposure.withdraw(exposure::releaseSinks);
            throw e;
        }
        statistics.add(Counter.EXPOSURES, exposure.exposed.size());
        return exposure;
    }

    private void open(CallPlan plan, ByteBuf call) throws IOException {
        List<ReadChunk> readChunks = new ArrayList<>(1);
        if (plan.isLong()) {
            readChunks.add(readChunk(0, call, call.readerIndex(), call.readableBytes(), plan.maxSegments()));
        }
        for (DataItem item : plan.readItems()) {
            readChunks.add(readChunk(item.position(), call, call.readerIndex() + item.position(), item.length(),
                    plan.maxSegments()));
        }
        List<WriteChunk> writeChunks = new ArrayList<>(plan.writeChunkBytes().size());
        for (int bytes : plan.writeChunkBytes()) {
            ByteBuf sink = channel.alloc().directBuffer(bytes);
            writeSinks.add(sink);
            writeChunks.add(new WriteChunk(List.of(expose(sink, 0, bytes, RemoteAccess.WRITE))));
        }
        WriteChunk replyChunk = null;
        if (plan.replyChunkBytes() > 0) {
            replySink = channel.alloc().directBuffer(plan.replyChunkBytes());
            replyChunk = new WriteChunk(List.of(expose(replySink, 0, plan.replyChunkBytes(), RemoteAccess.WRITE)));
        }
        chunks = new ChunkLists(readChunks, writeChunks, replyChunk);
    }

    private ReadChunk readChunk(int position, ByteBuf call, int index, int length, int maxSegments) throws IOException {
        List<ByteBuf> pieces = call instanceof CompositeByteBuf composite
                ? composite.decompose(index, length) : List.of(call.slice(index, length));
        if (pieces.size() > maxSegments || !isRegistered(pieces)) {
            ByteBuf copy = channel.alloc().directBuffer(length);
            try {
                copy.writeBytes(call, index, length);
                statistics.add(Counter.COPIED_BYTES, length);
                return new ReadChunk(position, List.of(expose(copy, 0, length, RemoteAccess.READ)));
            } finally {
                copy.release(); // the exposure holds its own reference, if there is one
            }
        }
        List<RemoteSegment> segments = new ArrayList<>(pieces.size());
        for (ByteBuf piece : pieces) {
            if (piece.isReadable()) { // no responder needs an empty segment, and the Linux server does not survive one
                segments.add(expose(piece, piece.readerIndex(), piece.readableBytes(), RemoteAccess.READ));
            }
        }
        return new ReadChunk(position, segments);
    }

    private boolean isRegistered(List<ByteBuf> pieces) {
        if (!(channel.alloc() instanceof RegisteredByteBufAllocator registered)) {
            return false;
        }
        for (ByteBuf piece : pieces) {
            if (!registered.isRegistered(piece, piece.readerIndex(), piece.readableBytes())) {
                return false;
            }
        }
        return true;
    }

    private RemoteSegment expose(ByteBuf memory, int index, int length, RemoteAccess access) throws IOException {
        ExposedMemory piece = channel.expose(memory, index, length, access);
        exposed.add(piece);
        return piece.segment();
    }

    /** The chunks to tell the peer of. */
    ChunkLists chunks() {
        return chunks;
    }

    /**
     * Whether the peer has taken of this call exactly what the reply says, before {@link #withdraw}.
     *
     * @param reply the reply to this call; it may have invalidated one handle of the call
     */
    boolean isInvalidatedBy(RpcRdmaMessage reply) {
        boolean found = !reply.isInvalidating();
        for (ExposedMemory piece : exposed) {
            boolean named = reply.isInvalidating() && piece.segment().steeringTag() == reply.invalidatedTag();
            if (named != piece.isInvalidated()) {
                return false;
            }
            found |= named;
        }
        return found;
    }

    /**
     * Closes the memory to the peer.
     *
     * @param then runs when the peer can touch none of it any more; before this method returns if that is so already
     */
    void withdraw(Runnable then) {
        int[] outstanding = {1}; // one for this loop, so that it cannot end before all are asked
        ChannelFutureListener oneLess = future -> {
            if (--outstanding[0] == 0) {
                then.run();
            }
        };
        for (ExposedMemory piece : exposed) {
            if (!piece.isInvalidated()) {
                ChannelFuture invalidation = piece.invalidate();
                if (!invalidation.isDone()) {
                    outstanding[0]++;
                    invalidation.addListener(oneLess);
                }
            }
        }
        if (--outstanding[0] == 0) {
            then.run();
        }
    }

    /** The memory that was offered as Write chunk number {@code index}; only after {@link #withdraw}. */
    ByteBuf writeSink(int index) {
        return writeSinks.get(index);
    }

    /** The memory that was offered as Reply chunk; only after {@link #withdraw}. */
    ByteBuf replySink() {
        return replySink;
    }

    /** Drops the references on the places for results. */
    void releaseSinks() {
        writeSinks.forEach(ByteBuf::release);
        writeSinks.clear();
        if (replySink != null) {
            replySink.release();
            replySink = null;
        }
    }
}
