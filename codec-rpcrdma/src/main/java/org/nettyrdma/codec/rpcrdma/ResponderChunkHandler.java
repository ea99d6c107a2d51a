package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;
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
 * how much room it needs: the call is answered, and the connection lives. All methods run on the event loop.
 */
final class ResponderChunkHandler extends ChannelDuplexHandler implements ReadChunkFetch.Owner {

    private static final Logger LOGGER = LoggerFactory.getLogger(ResponderChunkHandler.class);

    private final RpcRdmaLimits limits;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final ConnectionTerms.Source termsOf;
    /** Calls that were passed up and not yet replied to; those with the same XID are linked, oldest first. */
    private final IntObjectMap<ResponderCall> calls = new IntObjectHashMap<>();
    private final ReadChunkFetchQueue fetches;
    private ChannelHandlerContext ctx;
    private ConnectionTerms terms;
    private boolean flushNeeded;
    private boolean closed;

    ResponderChunkHandler(RpcRdmaLimits limits, UpperLayerBindings bindings, ChunkStatistics statistics,
                          ConnectionTerms.Source termsOf) {
        this.limits = limits;
        this.bindings = bindings;
        this.statistics = statistics;
        this.termsOf = termsOf;
        this.fetches = new ReadChunkFetchQueue(limits.maxFetchBytes());
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    /** Looked up when first needed: a connect future completes, and calls may be written, before channelActive is fired. */
    private ConnectionTerms terms() {
        if (terms == null) {
            terms = termsOf.of(ctx.channel());
        }
        return terms;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        context.fireUserEventTriggered(terms());
        context.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    private void close() {
        closed = true;
        calls.clear();
        fetches.close();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        // A response answers a call of the reverse direction, which has no chunks.
        if (!(msg instanceof RpcRdmaMessage call) || call.role() != Role.REQUEST) {
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
        if (chunks.readChunks().isEmpty() && header instanceof Msg) {
            statistics.increment(Counter.CALLS_INLINE);
            deliver(header, call.content());
            return;
        }
        try {
            if (header instanceof NoMsg && !chunks.hasPositionZeroChunk()) {
                throw RpcRdmaException.malformed("RDMA_NOMSG without a Position Zero Read chunk");
            }
            ReadChunkFetch.check(chunks, call.content().readableBytes(), limits.maxMessageBytes());
        } catch (RpcRdmaException e) {
            call.release();
            refuse(header, e, ctx.newPromise());
            return;
        }
        ReadChunkFetch fetch = new ReadChunkFetch(ctx, call, header, this);
        statistics.increment(chunks.hasPositionZeroChunk() ? Counter.LONG_CALLS : Counter.CALLS_WITH_READ_CHUNK);
        statistics.add(Counter.READ_CHUNK_BYTES, fetch.lengthBytes());
        flushNeeded = true;
        fetches.add(fetch);
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
        if (fetches.ended(fetch)) {
            ctx.flush();
        }
        WithChunks header = fetch.header();
        ByteBuf message = fetch.assemble();
        // The codec has checked this for messages that came inline.
        if (message.readableBytes() < 2 * Integer.BYTES || RpcOffsets.word(message, 0) != header.xid()
                || RpcOffsets.word(message, Integer.BYTES) != 0) {
            message.release();
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
        reply(call, reply, List.of(), ctx.newPromise());
        ctx.flush();
    }

    /** Passes a whole call up, its reference with it. */
    private void deliver(WithChunks header, ByteBuf message) {
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
        if (reply == null) {
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
        List<DataItem> items;
        try {
            items = call.chunks().writeChunks().isEmpty() ? List.of()
                    : msg instanceof RpcMessage message ? message.dataItems() : call.itemsOf(reply, bindings);
        } catch (RuntimeException e) { // of the binding
            replace(call, reply, e, promise);
            return;
        }
        reply(call, reply, items, promise);
    }

    private void reply(ResponderCall call, ByteBuf reply, List<DataItem> items, ChannelPromise promise) {
        ReplyPlacement placement;
        try {
            placement = ReplyPlacement.of(reply, items, call.chunks(), terms().threshold());
        } catch (RpcRdmaException | RuntimeException e) {
            replace(call, reply, e, promise);
            return;
        }
        send(call, placement, promise);
    }

    /** Answers with an error, since the reply cannot be conveyed. */
    private void replace(ResponderCall call, ByteBuf reply, Exception cause, ChannelPromise promise) {
        reply.release();
        refuse(new ChunkError(call.xid(), RpcRdmaLayout.VERSION, 0), cause, RpcReplyReplacedException.fail(promise, cause));
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
        // The version word is the call's, as Linux does it; rfc5666bis-01, section 5.5 leaves it open.
        RpcRdmaHeader error = version
                ? new VersionError(call.xid(), call.version(), 0, RpcRdmaLayout.VERSION, RpcRdmaLayout.VERSION)
                : new ChunkError(call.xid(), call.version(), 0);
        ctx.writeAndFlush(RpcRdmaMessage.error(error), promise);
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }
}
