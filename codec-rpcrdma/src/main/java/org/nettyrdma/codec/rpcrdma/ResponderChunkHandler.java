package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.RpcReplyReplacedException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.handler.credit.CreditedMessage.Role;
import org.nettyrdma.handler.credit.XidMap;

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
 * <p>{@link CallArrivals} does the inbound half and {@link ResponderReplies} the outbound one; what is between them, the calls
 * that the application has and has not replied to, is kept here. All methods run on the event loop.
 */
final class ResponderChunkHandler extends ChannelDuplexHandler implements CallArrivals.Owner {

    private final RpcRdmaLimits limits;
    private final ResourceLimits resources;
    private final MemoryBudget memory;
    private final UpperLayerBindings bindings;
    private final ChunkStatistics statistics;
    private final RpcRdmaConnection connection;
    /** Whether the calls come from the server. */
    private final boolean reverse;
    /** {@code null} outside the legacy profile. */
    private final LegacyReplies legacyReplies;
    /** Calls that were passed up and not yet replied to; those with the same XID are linked, oldest first. */
    private final XidMap<ResponderCall> calls = new XidMap<>();
    private ChannelHandlerContext ctx;
    private CallArrivals arrivals;
    private ResponderReplies replies;
    private boolean closed;

    /**
     * @param memory        what all connections share
     * @param reverse       whether the calls come from the server. Then what is written of calls, and all of
     *                      version 1, passes this handler
     * @param legacyReplies serves replies with Read chunks, {@code null} outside the {@link LegacyProfile}
     */
    ResponderChunkHandler(RpcRdmaLimits limits, ResourceLimits resources, MemoryBudget memory, UpperLayerBindings bindings,
                          ChunkStatistics statistics, RpcRdmaConnection connection, boolean reverse,
                          LegacyReplies legacyReplies) {
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
        arrivals = new CallArrivals(context, limits, resources, memory, bindings, statistics, this);
        replies = new ResponderReplies(context, limits, bindings, statistics, connection, reverse, legacyReplies,
                arrivals);
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
        if (legacyReplies != null) {
            legacyReplies.close();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (msg instanceof RpcRdmaMessage done && done.chunks() == null && done.header() instanceof Done) {
            done.release();
            legacyReplies.done(done.xid());
            return;
        }
        // A response answers a call of the other direction.
        if (!(msg instanceof RpcRdmaMessage call) || call.role() != Role.REQUEST || call.isControl()) {
            context.fireChannelRead(msg);
            return;
        }
        if (call.chunks() != null) {
            arrivals.receive(call);
        } else {
            call.release();
            if (call.header() instanceof Malformed malformed) {
                replies.refuse(malformed.xid(), malformed.version(), malformed.cause(), ctx.newPromise());
            }
        }
    }

    @Override
    public void arrived(int xid, ChunkLists chunks, ByteBuf message) {
        if (reverse) {
            statistics.increment(Counter.REVERSE_CALLS);
        }
        // A legacy reply is planned by the procedure of its call.
        ResponderCall call = chunks == ChunkLists.EMPTY && legacyReplies == null ? ResponderCall.WITHOUT_CHUNKS
                : new ResponderCall(chunks, message);
        if (!call.isNamedHandleListed()) {
            statistics.increment(Counter.UNLISTED_HANDLES_IGNORED);
        }
        ResponderCall earlier = calls.put(xid, call);
        if (earlier != null) {
            calls.put(xid, earlier.append(call));
        }
        ctx.fireChannelRead(message);
    }

    @Override
    public void unusable(RpcRdmaMessage call, RpcRdmaException cause) {
        replies.refuse(call.xid(), call.version(), cause, ctx.newPromise());
    }

    @Override
    public void violatesBinding(int xid, ChunkLists chunks, ByteBuf message) {
        replies.writeGarbageArguments(xid, new ResponderCall(chunks, message));
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        arrivals.flush();
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
        replies.write(call, msg, reply, promise);
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
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ConnectionConfigured configured) {
            connection.configureSend(configured.sendBytes());
            arrivals.setPeerServesReads(configured.peerServesReads());
        } else {
            context.fireUserEventTriggered(event);
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }
}
