package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.LinkedList;
import java.util.Queue;
import org.nettyrdma.codec.oncrpc.MemoryAdmission;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls with chunks that come in at one responder, until each is one whole message: checks them, lets them wait for memory
 * ({@link ResourceLimits}), and fetches their Read chunks. A call without them may overtake one with. Event loop only.
 */
final class RequestArrivals {

    /** Gets what becomes of the calls; {@link ResponderChunkHandler}. */
    interface Owner {

        /**
         * A call is there.
         *
         * @param memoryBytes what it has been given of the memory, to be {@linkplain #release released} when it is answered
         * @param message     the whole call; its reference passes to the owner
         */
        void arrived(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message);

        /** A call breaks a rule or a limit of the protocol; it has been released. */
        void unusable(RpcRdmaMessage call, RpcRdmaException cause);

        /**
         * A call breaks a rule of its binding.
         *
         * @param memoryBytes as in {@link #arrived}
         * @param message     the whole call; its reference stays with the caller
         */
        void violatesBinding(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message);

        /** Whether a call that comes late may be passed on: with AUTO_READ off, whether one was asked for and has not come. */
        boolean isCallWanted();
    }

    /** What each segment but a call's first takes besides its data, in bytes: objects of its transfer, places in queues. */
    private static final int SEGMENT_BYTES = 256;

    private static final Logger LOGGER = LoggerFactory.getLogger(RequestArrivals.class);

    private final ChannelHandlerContext ctx;
    private final RpcRdmaLimits limits;
    private final MemoryBudget memory;
    private final BindingTable bindings;
    private final ChunkCounters statistics;
    private final NegotiatedConnection connection;
    private final Owner owner;
    private final MemoryAdmission admission;
    private final Runnable endOfFetches = this::endFetches;
    /** Whole calls that came late, while no read was wanted. Not an array: one that cannot grow loses what is in it. */
    private final Queue<Whole> held = new LinkedList<>();
    private boolean flushNeeded;
    private boolean endOfFetchesQueued;
    private boolean closed;

    RequestArrivals(ChannelHandlerContext ctx, ConnectionParts parts, Owner owner) {
        this.ctx = ctx;
        this.limits = parts.limits();
        this.memory = parts.memory();
        this.bindings = parts.bindings();
        this.statistics = parts.statistics();
        this.connection = parts.connection();
        this.owner = owner;
        this.admission = new MemoryAdmission(memory, parts.resources().maxConnectionBytes(), ctx.executor(),
                ctx.channel()::remoteAddress, this::admittedLate);
    }

    /**
     * A call with chunks has come, or one that should have some.
     *
     * @param call its reference passes to this
     */
    void receive(RpcRdmaMessage call) {
        ChunkLists chunks = call.chunks();
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
        statistics.add(Counter.READ_CHUNK_BYTES, ReadChunkFetch.lengthBytes(chunks.readChunks()));
        if (admission.tryAdmit(bytes)) {
            admitted(call, bytes);
        } else if (!admission.admit(new Arrival(call, bytes))) {
            statistics.increment(Counter.CALLS_HELD_BACK);
        }
    }

    private void check(RpcRdmaMessage call, long bytes) throws RpcRdmaException {
        ChunkLists chunks = call.chunks();
        if (!connection.peerServesReads() && !chunks.readChunks().isEmpty()) {
            throw RpcRdmaFailures.malformed("Read chunks of a peer that was configured for no RDMA Reads");
        }
        if (call.isNoMsg() && !chunks.hasPositionZeroChunk()) { // RFC 8166, section 3.5.3
            throw RpcRdmaFailures.malformed("RDMA_NOMSG without a Position Zero Read chunk");
        }
        ReadChunkFetch.check(chunks, call.content().readableBytes(), limits.maxMessageBytes());
        if (!admission.isPossible(bytes)) {
            throw RpcRdmaFailures.tooLarge("call that takes %d bytes of memory (limit: %d, "
                    + "ResourceLimits.maxTotalBytes or that of RpcRdmaBuilder.memory)", bytes, memory.maxBytes());
        }
    }

    /** What a call makes this side hold: its Read chunks, a reply that fills what it offers, and what it takes to move both. */
    private long bytesOf(ChunkLists chunks) {
        long replyBytes = 0;
        int segments = -1;
        if (chunks.replyChunk() != null) {
            replyBytes = chunks.replyChunk().lengthBytes();
            segments += chunks.replyChunk().segments().size();
        }
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            replyBytes += chunks.writeChunks().get(i).lengthBytes();
            segments += chunks.writeChunks().get(i).segments().size();
        }
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            segments += chunks.readChunks().get(i).segments().size();
        }
        return ReadChunkFetch.lengthBytes(chunks.readChunks()) + Math.min(replyBytes, limits.maxMessageBytes())
                + (long) SEGMENT_BYTES * Math.max(0, segments);
    }

    private void admitted(RpcRdmaMessage call, long bytes) {
        if (call.chunks().readChunks().isEmpty()) {
            owner.arrived(call.xid(), call.chunks(), bytes, call.content());
        } else {
            flushNeeded = true;
            new ReadChunkFetch(ctx, call, fetch -> fetchEnded(fetch, bytes)).start();
        }
    }

    boolean holdsMemory() {
        return admission.holdsMemory();
    }

    /** What a call was given of the memory is free. */
    void release(long bytes) {
        admission.release(bytes);
    }

    /** A call that has arrived, while it waits for memory. */
    private final class Arrival implements MemoryAdmission.Candidate {

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
            if (call.chunks().readChunks().isEmpty()) {
                wholeLate(call.xid(), call.chunks(), bytes, call.content());
            } else {
                RequestArrivals.this.admitted(call, bytes);
            }
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

    private void fetchEnded(ReadChunkFetch fetch, long bytes) {
        if (closed || fetch.failure() != null) {
            fetch.release();
            if (!closed && ctx.channel().isActive()) {
                PeerLog.warn(LOGGER, ctx.channel(), "closing, a Read chunk could not be fetched: {}", fetch.failure());
                ctx.close();
            } else { // closed by this side, and with the connection all fetches have ended
                LOGGER.debug("{} a Read chunk was not fetched any more: {}", ctx.channel(), String.valueOf(fetch.failure()));
            }
            return;
        }
        RpcRdmaMessage call = fetch.message();
        ByteBuf message;
        try {
            message = fetch.assemble();
        } catch (RuntimeException | Error e) { // no memory, for instance: the peer would wait in vain
            fetch.release();
            PeerLog.warn(LOGGER, ctx.channel(), "closing, a call could not be put together: {}", String.valueOf(e));
            ctx.close();
            return;
        }
        // The codec has checked this for messages that came inline.
        if (RpcMessageType.peek(message) != RpcMessageType.CALL || RpcOffsets.word(message, 0) != call.xid()) {
            message.release();
            release(bytes);
            owner.unusable(call, RpcRdmaFailures.malformed("Position Zero Read chunk holds no call with XID %08x", call.xid()));
            return;
        }
        if (!bindings.allow(call.chunks().readChunks(), message)) {
            statistics.increment(Counter.BINDING_VIOLATIONS);
            owner.violatesBinding(call.xid(), call.chunks(), bytes, message);
            message.release();
            return;
        }
        wholeLate(call.xid(), call.chunks(), bytes, message);
        endFetchesSoon();
    }

    /** A call that was read as a message when reads were wanted. */
    private record Whole(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message) {
    }

    private void wholeLate(int xid, ChunkLists chunks, long bytes, ByteBuf message) {
        if (owner.isCallWanted()) {
            owner.arrived(xid, chunks, bytes, message);
            return;
        }
        try {
            held.add(new Whole(xid, chunks, bytes, message));
        } catch (RuntimeException | Error e) { // no memory, for instance: the peer would wait in vain
            message.release();
            PeerLog.warn(LOGGER, ctx.channel(), "closing, a call could not be kept: {}", String.valueOf(e));
            ctx.close();
        }
    }

    /** A call is wanted. Returns whether one that is held will be passed on. */
    boolean passHeldSoon() {
        if (held.isEmpty()) {
            return false;
        }
        try {
            ctx.executor().execute(this::passHeld); // not from within whatever asks
        } catch (RuntimeException | Error e) { // no memory for the queue, for instance; nobody may ask again
            passHeld();
        }
        return true;
    }

    private void passHeld() {
        boolean passed = false;
        while (!held.isEmpty() && owner.isCallWanted()) {
            Whole call = held.remove();
            owner.arrived(call.xid(), call.chunks(), call.memoryBytes(), call.message());
            passed = true;
        }
        if (passed) {
            ctx.fireChannelReadComplete();
        }
    }

    /** Fetches that end together are one read batch, so that the replies to their calls go out together too. */
    private void endFetchesSoon() {
        if (!endOfFetchesQueued) {
            endOfFetchesQueued = true;
            try {
                ctx.executor().execute(endOfFetches);
            } catch (RuntimeException | Error e) { // no memory for the queue, for instance; a later fetch may have some
                endFetches();
            }
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
        for (Whole call = held.poll(); call != null; call = held.poll()) {
            call.message().release();
        }
    }
}
