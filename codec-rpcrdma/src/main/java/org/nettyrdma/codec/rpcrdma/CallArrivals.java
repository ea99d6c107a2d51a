package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that come in at one responder, until each is one whole message: checks them, lets them wait for memory
 * ({@link ResourceLimits}), and fetches their Read chunks. A call without them may overtake one with. Event loop only.
 */
final class CallArrivals implements ReadChunkFetch.Owner {

    /** Gets what becomes of the calls; {@link ResponderChunkHandler}. */
    interface Owner {

        /**
         * A call is there.
         *
         * @param message the whole call; its reference passes to the owner
         */
        void arrived(int xid, ChunkLists chunks, ByteBuf message);

        /** A call breaks a rule or a limit of the protocol; it has been released. */
        void unusable(RpcRdmaMessage call, RpcRdmaException cause);

        /**
         * A call breaks a rule of its binding.
         *
         * @param message the whole call; its reference stays with the caller
         */
        void violatesBinding(int xid, ChunkLists chunks, ByteBuf message);
    }

    private static final Logger LOGGER = LoggerFactory.getLogger(CallArrivals.class);

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final MemoryBudget memory;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final Owner owner;
    private final CallAdmission admission;
    private boolean peerServesReads = true;
    private final Runnable endOfFetches = this::endFetches;
    private boolean flushNeeded;
    private boolean endOfFetchesQueued;
    private boolean closed;

    /**
     * @param memory what all connections share
     */
    CallArrivals(ChannelHandlerContext ctx, RpcRdmaLimits limits, ResourceLimits resources, MemoryBudget memory,
                 UpperLayerBindings bindings, ChunkStatistics statistics, Owner owner) {
        this.ctx = ctx;
        this.limits = limits;
        this.memory = memory;
        this.bindings = bindings;
        this.statistics = statistics;
        this.owner = owner;
        this.admission = new CallAdmission(memory, resources.maxConnectionBytes(), ctx.executor(), this::admittedLate);
    }

    /** Whether the peer answers RDMA Reads; it does unless it was configured not to. */
    void setPeerServesReads(boolean serves) {
        peerServesReads = serves;
    }

    /**
     * A call has come.
     *
     * @param call its reference passes to this
     */
    void receive(RpcRdmaMessage call) {
        ChunkLists chunks = call.chunks();
        if (chunks.isEmpty() && !call.isNoMsg()) {
            statistics.increment(Counter.CALLS_INLINE);
            owner.arrived(call.xid(), chunks, call.content());
            return;
        }
        long bytes = bytesOf(chunks);
        try {
            check(call, bytes);
        } catch (RpcRdmaException e) {
            call.release();
            owner.unusable(call, e);
            return;
        }
        statistics.increment(chunks.hasPositionZeroChunk() ? Counter.LONG_CALLS
                : chunks.readChunks().isEmpty() ? Counter.CALLS_INLINE : Counter.CALLS_WITH_READ_CHUNK);
        statistics.add(Counter.READ_CHUNK_BYTES, readBytes(chunks));
        if (admission.tryAdmit(bytes)) {
            admitted(call);
        } else if (!admission.admit(new Arrival(call, bytes))) {
            statistics.increment(Counter.CALLS_HELD_BACK);
        }
    }

    private void check(RpcRdmaMessage call, long bytes) throws RpcRdmaException {
        ChunkLists chunks = call.chunks();
        if (!peerServesReads) {
            throw RpcRdmaException.malformed("Read chunks of a peer that was configured for no RDMA Reads");
        }
        if (call.isNoMsg() && !chunks.hasPositionZeroChunk()) {
            throw RpcRdmaException.malformed("RDMA_NOMSG without a Position Zero Read chunk");
        }
        ReadChunkFetch.check(chunks, call.content().readableBytes(), limits.maxMessageBytes());
        if (!admission.isPossible(bytes)) {
            throw RpcRdmaException.tooLarge("call that takes %d bytes of memory (limit: %d)", bytes,
                    memory.maxBytes());
        }
    }

    /** What a call makes this side hold: its Read chunks, and a reply that fills what it offers. */
    long bytesOf(ChunkLists chunks) {
        long replyBytes = chunks.replyChunk() == null ? 0 : chunks.replyChunk().lengthBytes();
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            replyBytes += chunks.writeChunks().get(i).lengthBytes();
        }
        return readBytes(chunks) + Math.min(replyBytes, limits.maxMessageBytes());
    }

    private static long readBytes(ChunkLists chunks) {
        long bytes = 0;
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            bytes += chunks.readChunks().get(i).lengthBytes();
        }
        return bytes;
    }

    private void admitted(RpcRdmaMessage call) {
        if (call.chunks().readChunks().isEmpty()) {
            owner.arrived(call.xid(), call.chunks(), call.content());
        } else {
            flushNeeded = true;
            new ReadChunkFetch(ctx, call, this).start();
        }
    }

    /** The memory of a call is free: {@link #bytesOf} its chunks. */
    void release(long bytes) {
        admission.release(bytes);
    }

    /** A call that has arrived, while it waits for memory. */
    private final class Arrival implements CallAdmission.Candidate {

        private final RpcRdmaMessage call;
        private final long bytes;

        private Arrival(RpcRdmaMessage call, long bytes) {
            this.call = call;
            this.bytes = bytes;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public void admitted() {
            CallArrivals.this.admitted(call);
        }

        @Override
        public void dropped() {
            call.release();
        }
    }

    /** Not within a read batch, or in the middle of one that the calls have no part in. */
    private void admittedLate() {
        flush();
        ctx.fireChannelReadComplete();
    }

    /** Flushes the RDMA Reads that were begun, at the end of a read batch. */
    void flush() {
        if (flushNeeded) {
            flushNeeded = false;
            ctx.flush();
        }
    }

    @Override
    public void fetchEnded(ReadChunkFetch fetch) {
        if (closed || fetch.failure() != null) {
            fetch.release();
            if (!closed) {
                LOGGER.debug("{} closing, a Read chunk could not be fetched", ctx.channel(), fetch.failure());
                ctx.close();
            }
            return;
        }
        RpcRdmaMessage call = fetch.message();
        ByteBuf message = fetch.assemble();
        // The codec has checked this for messages that came inline.
        if (message.readableBytes() < 2 * Integer.BYTES || RpcOffsets.word(message, 0) != call.xid()
                || RpcOffsets.word(message, Integer.BYTES) != 0) {
            message.release();
            release(bytesOf(call.chunks()));
            owner.unusable(call, RpcRdmaException.malformed("Position Zero Read chunk holds no call with XID %08x", call.xid()));
            return;
        }
        if (!bindings.allow(call.chunks().readChunks(), message)) {
            statistics.increment(Counter.BINDING_VIOLATIONS);
            owner.violatesBinding(call.xid(), call.chunks(), message);
            message.release();
            return;
        }
        owner.arrived(call.xid(), call.chunks(), message);
        endFetchesSoon();
    }

    /** Fetches that end together are one read batch, so that the replies to their calls go out together too. */
    private void endFetchesSoon() {
        if (!endOfFetchesQueued) {
            endOfFetchesQueued = true;
            ctx.executor().execute(endOfFetches);
        }
    }

    private void endFetches() {
        endOfFetchesQueued = false;
        ctx.fireChannelReadComplete();
    }

    /** The connection has ended. */
    void close() {
        closed = true;
        admission.close();
    }
}
