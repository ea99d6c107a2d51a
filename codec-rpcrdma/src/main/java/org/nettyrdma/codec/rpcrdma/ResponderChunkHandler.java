package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Control;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.WithChunks;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunks of the calls that come in and of the replies that go out. Inbound it turns each {@link RpcRdmaMessage} into one
 * {@link ByteBuf} with a whole call, after fetching its Read chunks; a call without them may overtake one with. Outbound it
 * takes each reply, a {@link ByteBuf} or {@link RpcMessage} that begins with the XID of a call, and sends it by the chunks
 * that the call offered.
 *
 * <p>Each call gets exactly one of a reply, an RDMA_ERROR and the end of the connection. A reply that does not fit into what
 * its call offered becomes an ERR_CHUNK, and the application's write fails with {@link RpcReplyReplacedException}, which says
 * how much room it needs: the call is answered, and the connection lives. A call that needs memory waits until it is there
 * ({@link ResourceLimits}). All methods run on the event loop.
 */
final class ResponderChunkHandler extends ChannelDuplexHandler implements ReadChunkFetch.Owner {

    private static final Logger LOGGER = LoggerFactory.getLogger(ResponderChunkHandler.class);

    private final RpcRdmaLimits limits;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final RpcRdmaConnection connection;
    /** Whether the calls come from the server. */
    private final boolean reverse;
    /** {@code null} outside the legacy profile. */
    private final LegacyReplies legacyReplies;
    /** Calls that were passed up and not yet replied to; those with the same XID are linked, oldest first. */
    private final IntObjectMap<ResponderCall> calls = new IntObjectHashMap<>();
    private final MemoryBudget memory;
    private final ResourceLimits resources;
    private CallAdmission admission;
    private ChannelHandlerContext ctx;
    private boolean peerServesReads = true;
    private boolean flushNeeded;
    private boolean closed;

    /**
     * @param memory        what all connections share
     * @param reverse       whether the calls come from the server. Then what is written of calls, and all of
     *                      version 1, passes this handler
     * @param legacyReplies serves replies with Read chunks, {@code null} outside the {@link LegacyProfile}
     */
    ResponderChunkHandler(RpcRdmaLimits limits, ResourceLimits resources, MemoryBudget memory, UpperLayerBindings bindings,
                          ChunkStatistics statistics, RpcRdmaConnection connection, boolean reverse, LegacyReplies legacyReplies) {
        this.limits = limits;
        this.resources = resources;
        this.memory = memory;
        this.bindings = bindings;
        this.statistics = statistics;
        this.connection = connection;
        this.reverse = reverse;
        this.legacyReplies = legacyReplies;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        admission = new CallAdmission(memory, resources.maxConnectionBytes(), context.executor(), this::admittedLate);
    }

    private ConnectionTerms terms() {
        return connection.terms();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    private void close() {
        closed = true;
        calls.clear();
        admission.close();
        if (legacyReplies != null) {
            legacyReplies.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (msg instanceof RpcRdmaMessage done && done.header() instanceof Done) {
            done.release();
            legacyReplies.done(done.xid());
            return;
        }
        // A response answers a call of the other direction.
        if (!(msg instanceof RpcRdmaMessage call) || call.role() != Role.REQUEST || call.header() instanceof Control) {
            context.fireChannelRead(msg);
            return;
        }
        RpcRdmaHeader header = call.header();
        if (header instanceof WithChunks message) {
            receive(call, message);
        } else {
            call.release();
            if (header instanceof Malformed malformed) {
                refuse(header, malformed.cause(), ctx.newPromise());
            }
        }
    }

    private void receive(RpcRdmaMessage call, WithChunks header) {
        ChunkLists chunks = header.chunks();
        if (chunks.isEmpty() && header instanceof Msg) {
            statistics.increment(Counter.CALLS_INLINE);
            deliver(header, call.content());
            return;
        }
        Arrival arrival = new Arrival(call, header, bytesOf(chunks));
        try {
            if (!peerServesReads) {
                throw RpcRdmaException.malformed("Read chunks of a peer that was configured for no RDMA Reads");
            }
            if (header instanceof NoMsg && !chunks.hasPositionZeroChunk()) {
                throw RpcRdmaException.malformed("RDMA_NOMSG without a Position Zero Read chunk");
            }
            ReadChunkFetch.check(chunks, call.content().readableBytes(), limits.maxMessageBytes());
            if (!admission.isPossible(arrival.bytes)) {
                throw RpcRdmaException.tooLarge("call that takes %d bytes of memory (limit: %d)", arrival.bytes,
                        memory.maxBytes());
            }
        } catch (RpcRdmaException e) {
            call.release();
            refuse(header, e, ctx.newPromise());
            return;
        }
        statistics.increment(chunks.hasPositionZeroChunk() ? Counter.LONG_CALLS
                : chunks.readChunks().isEmpty() ? Counter.CALLS_INLINE : Counter.CALLS_WITH_READ_CHUNK);
        statistics.add(Counter.READ_CHUNK_BYTES, readBytes(chunks));
        if (!admission.admit(arrival)) {
            statistics.increment(Counter.CALLS_HELD_BACK);
        }
    }

    /** What a call makes this side hold: its Read chunks, and a reply that fills what it offers. */
    private long bytesOf(ChunkLists chunks) {
        long replyBytes = chunks.replyChunk() == null ? 0 : chunks.replyChunk().lengthBytes();
        for (WriteChunk chunk : chunks.writeChunks()) {
            replyBytes += chunk.lengthBytes();
        }
        return readBytes(chunks) + Math.min(replyBytes, limits.maxMessageBytes());
    }

    private static long readBytes(ChunkLists chunks) {
        long bytes = 0;
        for (ReadChunk chunk : chunks.readChunks()) {
            bytes += chunk.lengthBytes();
        }
        return bytes;
    }

    /** A call that has arrived, while it waits for memory. */
    private final class Arrival implements CallAdmission.Candidate {

        private final RpcRdmaMessage call;
        private final WithChunks header;
        private final long bytes;

        private Arrival(RpcRdmaMessage call, WithChunks header, long bytes) {
            this.call = call;
            this.header = header;
            this.bytes = bytes;
        }

        @Override
        public long bytes() {
            return bytes;
        }

        @Override
        public void admitted() {
            if (header.chunks().readChunks().isEmpty()) {
                deliver(header, call.content());
            } else {
                flushNeeded = true;
                new ReadChunkFetch(ctx, call, header, ResponderChunkHandler.this).start();
            }
        }

        @Override
        public void dropped() {
            call.release();
        }
    }

    /** Not within a read batch, or in the middle of one that the calls have no part in. */
    private void admittedLate() {
        if (flushNeeded) {
            flushNeeded = false;
            ctx.flush();
        }
        ctx.fireChannelReadComplete();
    }

    @Override
    public void fetchEnded(ReadChunkFetch fetch) {
        if (closed || fetch.cause() != null) {
            fetch.release();
            if (!closed) {
                LOGGER.debug("{} closing, a Read chunk could not be fetched", ctx.channel(), fetch.cause());
                ctx.close();
            }
            return;
        }
        WithChunks header = fetch.header();
        ByteBuf message = fetch.assemble();
        // The codec has checked this for messages that came inline.
        if (message.readableBytes() < 2 * Integer.BYTES || RpcOffsets.word(message, 0) != header.xid()
                || RpcOffsets.word(message, Integer.BYTES) != 0) {
            message.release();
            admission.release(bytesOf(header.chunks()));
            refuse(header, RpcRdmaException.malformed("Position Zero Read chunk holds no call with XID %08x", header.xid()),
                    ctx.newPromise());
            return;
        }
        if (!bindings.allow(header.chunks().readChunks(), message)) {
            statistics.increment(Counter.BINDING_VIOLATIONS);
            answerGarbageArguments(new ResponderCall(header.xid(), header.chunks(), message));
            message.release();
            return;
        }
        deliver(header, message);
        ctx.fireChannelReadComplete();
    }

    /** The call breaks a rule of its binding: the equivalent of bad XDR is the answer (rfc5666bis-01, section 6.3). */
    private void answerGarbageArguments(ResponderCall call) {
        ByteBuf reply = ctx.alloc().buffer(RpcReplyHeader.SUCCESS_BYTES);
        new RpcReplyHeader.Accepted(call.xid(), AcceptStatus.GARBAGE_ARGS).write(reply);
        reply(call, reply, reply, List.of(), releasing(call.chunks(), ctx.newPromise()));
        ctx.flush();
    }

    /** Passes a whole call up, its reference with it. */
    private void deliver(WithChunks header, ByteBuf message) {
        if (reverse) {
            statistics.increment(Counter.REVERSE_CALLS);
        }
        ResponderCall call = new ResponderCall(header.xid(), header.chunks(), message);
        ResponderCall earlier = calls.put(header.xid(), call);
        if (earlier != null) {
            earlier.append(call);
            calls.put(header.xid(), earlier);
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (flushNeeded) {
            flushNeeded = false;
            context.flush();
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        ByteBuf reply = msg instanceof RpcMessage message ? message.content() : msg instanceof ByteBuf plain ? plain : null;
        if (reply == null || isForOthers(reply)) {
            context.write(msg, promise);
            return;
        }
        ResponderCall call = reply.readableBytes() < Integer.BYTES ? null : take(RpcOffsets.word(reply, 0));
        if (call == null) {
            reply.release();
            promise.tryFailure(closed ? new ClosedChannelException()
                    : new IllegalStateException("the reply answers no outstanding call"));
            return;
        }
        ChannelPromise written = releasing(call.chunks(), promise);
        List<DataItem> items;
        try {
            items = call.chunks().writeChunks().isEmpty() ? List.of() : itemsOf(msg, reply, call);
        } catch (RuntimeException e) { // of the binding
            replace(call, reply, e, written);
            return;
        }
        reply(call, msg, reply, items, written);
    }

    private boolean isForOthers(ByteBuf message) {
        return reverse && (connection.version() == RpcRdmaVersion.ONE || RpcMessageType.peek(message) == RpcMessageType.CALL);
    }

    private void reply(ResponderCall call, Object msg, ByteBuf reply, List<DataItem> items, ChannelPromise written) {
        ReplyPlacement placement;
        try {
            if (reply.readableBytes() > limits.maxMessageBytes()) {
                throw RpcRdmaException.tooLarge("reply of %d bytes (limit: %d)", reply.readableBytes(),
                        limits.maxMessageBytes());
            }
            placement = ReplyPlacement.of(reply, items, call.chunks(), terms().threshold());
        } catch (RpcRdmaException | RuntimeException e) {
            answerWithoutPlacement(call, msg, reply, e, written);
            return;
        }
        send(call, placement, written);
    }

    /** The memory of a call is free when its reply is written, which the device may be reading until then. */
    private ChannelPromise releasing(ChunkLists chunks, ChannelPromise promise) {
        long bytes = bytesOf(chunks);
        return bytes == 0 ? promise : promise.unvoid().addListener(done -> admission.release(bytes));
    }

    private List<DataItem> itemsOf(Object msg, ByteBuf reply, ResponderCall call) {
        return msg instanceof RpcMessage message ? message.dataItems() : call.itemsOf(reply, bindings);
    }

    /** Refuses a reply that does not fit, or lets the requester fetch it if both the legacy profile and its call allow that. */
    private void answerWithoutPlacement(ResponderCall call, Object msg, ByteBuf reply, Exception cause,
                                        ChannelPromise promise) {
        Exception refusal = cause;
        boolean legacy = legacyReplies != null && terms().version() == RpcRdmaVersion.ONE;
        if (legacy && cause instanceof RpcRdmaException && call.chunks().writeChunks().isEmpty()) {
            try {
                ctx.write(legacyReplies.expose(reply, itemsOf(msg, reply, call), terms().threshold()), promise);
                return;
            } catch (IOException | RuntimeException e) {
                refusal = e;
            }
        }
        replace(call, reply, refusal, promise);
    }

    /** Answers with an error, since the reply cannot be conveyed. */
    private void replace(ResponderCall call, ByteBuf reply, Exception cause, ChannelPromise promise) {
        reply.release();
        refuse(terms().version().msg(call.xid(), call.chunks()), cause, RpcReplyReplacedException.fail(promise, cause));
    }

    private ResponderCall take(int xid) {
        ResponderCall call = calls.remove(xid);
        if (call != null && call.next() != null) {
            calls.put(xid, call.next());
        }
        return call;
    }

    private void send(ResponderCall call, ReplyPlacement placement, ChannelPromise promise) {
        long placedBytes = placement.placedBytes();
        // In order and without waiting: the requester cannot see the Send before what was written ahead of it is in its
        // memory (rfc5666bis-01, section 3.2.2). A failed Write ends the connection, and thereby fails the Send.
        long[] writtenBytes = new long[1];
        ByteBuf body = placement.body(ctx.alloc(), write -> {
            writtenBytes[0] += write.content().readableBytes();
            ctx.write(write);
        });
        RpcRdmaMessage reply = RpcRdmaMessage.reply(placement.header(call.xid()), body);
        long handle = terms().mayInvalidate() ? call.onlyHandle() : -1;
        if (handle >= 0) {
            reply = reply.invalidating((int) handle);
            statistics.increment(Counter.REMOTE_INVALIDATIONS);
        }
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        statistics.increment(placement.isLong() ? Counter.LONG_REPLIES
                : placedBytes > 0 ? Counter.REPLIES_WITH_WRITE_CHUNK : Counter.REPLIES_INLINE);
        if (writtenBytes[0] > 0) {
            statistics.add(Counter.WRITE_CHUNK_BYTES, placedBytes);
            statistics.add(Counter.REPLY_CHUNK_BYTES, writtenBytes[0] - placedBytes);
        }
        ctx.write(reply, promise);
    }

    /** Answers with RDMA_ERROR, never by Send with Invalidate; what the call exposed is the requester's to withdraw. */
    private void refuse(RpcRdmaHeader call, Throwable cause, ChannelPromise promise) {
        LOGGER.debug("{} refusing call {}", ctx.channel(), Integer.toHexString(call.xid()), cause);
        boolean version = cause instanceof RpcRdmaException e && e.reason() == RpcRdmaException.Reason.VERSION;
        statistics.increment(version ? Counter.VERSION_ERRORS : Counter.CHUNK_ERRORS);
        ctx.writeAndFlush(RpcRdmaMessage.error(Refusal.of(call.xid(), call.version(), cause)), promise);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ConnectionConfigured configured) {
            connection.configureSend(configured.sendBytes());
            peerServesReads = configured.peerServesReads();
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }
}
