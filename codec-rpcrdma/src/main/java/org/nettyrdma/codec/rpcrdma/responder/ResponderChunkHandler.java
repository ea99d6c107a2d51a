package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.connection.InlinePath;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.InlineThreshold;
import org.nettyrdma.codec.rpcrdma.shared.InvalidationPolicy;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.nettyrdma.handler.credit.support.XidMap;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The chunks of the calls that come in and of the replies that go out. Inbound it turns each {@link RpcRdmaMessage} into one
 * {@link ByteBuf} with a whole call, after fetching its Read chunks; a call without them may overtake one with. Outbound it
 * takes each reply, a {@link ByteBuf} or {@link RpcMessage} that begins with the XID of a call, and sends it by the chunks
 * that the call offered.
 *
 * <p>Each call gets exactly one of a reply, an RDMA_ERROR and the end of the connection. A reply that does not fit into what
 * its call offered becomes an ERR_CHUNK, in version 2 an error that says how much room it needs, and the application's write
 * fails with {@link RpcReplyReplacedException}, which says so too: the call is answered, and
 * the connection lives.
 *
 * <p>Calls and replies without chunks pass here. {@link RequestArrivals} does the inbound half of the others, and
 * {@link ResponderReplies} the outbound one; what is between them, the calls that the application has and has not replied to, is
 * kept here. All methods run on the event loop.
 */
public final class ResponderChunkHandler extends ChannelDuplexHandler implements RequestArrivals.Owner, InlinePath.End {

    private static final Logger LOGGER = LoggerFactory.getLogger(ResponderChunkHandler.class);

    private final ConnectionParts parts;
    private final RpcRdmaLimits limits;
    private final ChunkCounters statistics;
    private final NegotiatedConnection connection;
    /** Then what is written of calls, and all of version 1, passes this handler. */
    private final boolean reverse;
    /** {@code null} where they are refused. */
    private final UnplacedReplies unplaced;
    /** Calls that were passed up and not yet replied to; those with the same XID are linked, oldest first. */
    private final XidMap<ResponderCall> calls = new XidMap<>();
    private InlinePath inlinePath; // null if there is none
    private ChannelHandlerContext ctx;
    private RequestArrivals arrivals;
    private ResponderReplies replies;
    /** Calls with chunks have come within the read batch. */
    private boolean fetching;
    /** The application, which has AUTO_READ off, has asked for a call that has not come. */
    private boolean callDemanded;
    private boolean closed;

    /**
     * @param unplaced sends replies that do not fit into what their calls offered, {@code null} if they are refused. The codec
     *                 lets RDMA_DONE through only with it
     */
    public ResponderChunkHandler(ConnectionParts parts, UnplacedReplies unplaced) {
        this.parts = parts;
        this.limits = parts.limits();
        this.statistics = parts.statistics();
        this.connection = parts.connection();
        this.reverse = parts.reverse();
        this.unplaced = unplaced;
    }

    @Override
    public void inlinePath(InlinePath path) {
        inlinePath = path;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        arrivals = new RequestArrivals(context, parts, this);
        replies = new ResponderReplies(context, parts, unplaced, arrivals);
    }

    /** Whether calls of this connection have memory that others may wait for. */
    public boolean holdsMemory() {
        return arrivals.holdsMemory();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    private void close() {
        closed = true;
        calls.clear();
        arrivals.close();
        if (unplaced != null) {
            unplaced.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (msg instanceof RpcRdmaMessage done && done.chunks() == null && done.header() instanceof Done) {
            done.release();
            unplaced.done(done.xid());
            DemandedRead.restore(context);
            return;
        }
        // A response answers a call of the other direction.
        if (!(msg instanceof RpcRdmaMessage call) || call.role() != Role.REQUEST || call.isControl()) {
            callDemanded = false; // who keeps it to itself asks for another
            context.fireChannelRead(msg);
            return;
        }
        ChunkLists chunks = call.chunks();
        if (chunks == null) {
            call.release();
            if (call.header() instanceof Malformed malformed) {
                refuse(malformed);
            }
            DemandedRead.restore(context);
        } else if (chunks.isEmpty() && !call.isNoMsg()) {
            statistics.increment(Counter.CALLS_INLINE);
            arrived(call.xid(), chunks, 0, call.content());
        } else {
            fetching = true;
            arrivals.receive(call);
        }
    }

    @Override
    public boolean takesInline(int xid) {
        return true;
    }

    @Override
    public void inlineReceived(int xid, ByteBuf message) {
        statistics.increment(Counter.CALLS_INLINE);
        arrived(xid, ChunkLists.EMPTY, 0, message);
    }

    private void refuse(Malformed call) {
        replies.refuse(call.xid(), call.version(), call.cause());
        if (call.cause().reason() == RpcRdmaException.Reason.NOT_RPC) {
            PeerLog.warn(LOGGER, ctx.channel(), "{}", call.cause());
            ctx.fireExceptionCaught(call.cause());
            ctx.close();
        }
    }

    @Override
    public void arrived(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message) {
        callDemanded = false;
        if (reverse) {
            statistics.increment(Counter.REVERSE_CALLS);
        }
        if (!InvalidationPolicy.isNamedHandleListed(chunks)) {
            statistics.increment(Counter.UNLISTED_HANDLES_IGNORED);
        }
        try {
            keep(xid, chunks, memoryBytes, message);
        } catch (RuntimeException | Error e) { // no memory, for instance: its caller would wait in vain, and has lost a credit
            message.release();
            ctx.fireExceptionCaught(e);
            ctx.close();
            return;
        }
        ctx.fireChannelRead(message);
    }

    private void keep(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message) {
        // The results of an unplaced reply are found by the procedure of its call.
        ResponderCall call = chunks == ChunkLists.EMPTY && unplaced == null ? ResponderCall.WITHOUT_CHUNKS
                : new ResponderCall(chunks, message, memoryBytes);
        ResponderCall earlier = calls.put(xid, call);
        if (earlier != null) {
            calls.put(xid, earlier.append(call));
        }
    }

    @Override
    public void unusable(RpcRdmaMessage call, RpcRdmaException cause) {
        replies.refuse(call.xid(), call.version(), cause);
        readOn();
    }

    @Override
    public void violatesBinding(int xid, ChunkLists chunks, long memoryBytes, ByteBuf message) {
        replies.writeGarbageArguments(xid, new ResponderCall(chunks, message, memoryBytes));
        readOn();
    }

    /** A call will not come that may be what the application has asked for, perhaps some time ago. */
    private void readOn() {
        if (callDemanded) {
            DemandedRead.restore(ctx);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        if (fetching) {
            fetching = false;
            arrivals.flush();
        }
        context.fireChannelReadComplete();
    }

    @Override
    public void read(ChannelHandlerContext context) {
        boolean demanded = !context.channel().config().isAutoRead();
        callDemanded |= demanded;
        if (!arrivals.passHeldSoon() || !demanded) {
            context.read();
        }
    }

    @Override
    public boolean isCallWanted() {
        return callDemanded || ctx.channel().config().isAutoRead();
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        ByteBuf reply = RpcOffsets.message(msg);
        if (reply == null || isForOthers(reply)) {
            context.write(msg, promise);
            return;
        }
        RpcMessageType type = RpcMessageType.peek(reply);
        if (type == RpcMessageType.UNKNOWN && reply.isReadable() && !closed) {
            RpcRdmaFailures.refusePayload(ctx, "reply", reply, promise);
            return;
        }
        ResponderCall call = type == RpcMessageType.UNKNOWN ? null : take(RpcOffsets.word(reply, 0));
        if (call == null) {
            reply.release();
            promise.tryFailure(closed ? new ClosedChannelException()
                    : new IllegalStateException("the reply answers no outstanding call"));
            return;
        }
        if (type != RpcMessageType.REPLY) { // an echo of the whole message, for instance
            arrivals.release(call.memoryBytes());
            RpcRdmaFailures.refusePayload(ctx, "reply", reply, promise);
            return;
        }
        InlineThreshold threshold = connection.threshold();
        if (call.chunks() != ChunkLists.EMPTY || !isSentInline(reply, threshold)) {
            replies.write(call, msg, reply, promise);
            return;
        }
        if (reverse) {
            statistics.increment(Counter.REVERSE_REPLIES);
        }
        statistics.increment(Counter.REPLIES_INLINE);
        int xid = RpcOffsets.word(reply, 0);
        if (inlinePath == null || !inlinePath.writeReply(xid, reply, promise)) {
            ctx.write(threshold.version().message(Role.RESPONSE, xid, limits.credits(), ChunkLists.EMPTY, reply, false), promise);
        }
    }

    private boolean isSentInline(ByteBuf reply, InlineThreshold threshold) {
        return reply.readableBytes() <= limits.maxMessageBytes() && threshold.fitsSend(ChunkLists.EMPTY, reply.readableBytes());
    }

    private boolean isForOthers(ByteBuf message) {
        return reverse && (connection.version() == RpcRdmaVersion.ONE || RpcMessageType.peek(message) == RpcMessageType.CALL);
    }

    private ResponderCall take(int xid) {
        ResponderCall call = calls.remove(xid);
        if (call != null && call.next() != null) {
            calls.put(xid, call.next());
        }
        return call;
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (inlinePath != null) {
            inlinePath.shut();
        }
        close();
    }
}
