package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCounted;
import java.util.function.IntConsumer;
import org.nettyrdma.codec.oncrpc.RpcMessage;
import org.nettyrdma.codec.oncrpc.RpcMessageType;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.oncrpc.transport.RpcCallAbandoned;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;
import org.nettyrdma.codec.rpcrdma.CallObserver;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.connection.InlinePath;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/**
 * The chunks of the calls that go out and of the replies that come in. Outbound it takes each call, a {@link ByteBuf} or
 * {@link RpcMessage}, opens the memory that call and reply need to the peer, and sends an {@link RpcRdmaMessage}. Inbound it
 * closes that memory again, and when that is done, and not before, passes the whole reply up as one {@link ByteBuf}.
 *
 * <p>A call that the peer refuses, or whose reply is malformed, is reported upward by the event {@link RpcCallFailure}. The
 * loss of the connection is not reported for each call: {@code channelInactive} says it all.
 *
 * <p>{@link RequestSender} does the outbound half and {@link ReplyDelivery} the inbound one; {@link RequesterCallTable} keeps
 * what is between them. All methods run on the event loop.
 */
public final class RequesterChunkHandler extends ChannelDuplexHandler implements ReplyFetch.Owner, InlinePath.End {

    private final ConnectionParts parts;
    private final PeerPolicy policy;
    private final ChunkCounters statistics;
    private final CallObserver observer;
    private final NegotiatedConnection connection;
    private final IntConsumer unanswerable;
    /** Then what is written of replies, and all of version 1, passes this handler. */
    private final boolean reverse;
    private final ReplyFetch.Opener fetches;
    private ChannelHandlerContext ctx;
    private RequesterCallTable calls;
    private RequestSender sender;
    private ReplyDelivery delivery;
    private ReplyFetch replyFetch; // null if there is none
    private InlinePath inlinePath; // null if there is none

    /**
     * @param policy       what the peer copes with
     * @param observer     told how calls and replies travelled
     * @param unanswerable told the XID of each call that will have no reply, as it was not written
     * @param fetches      makes what fetches replies with Read chunks, {@code null} if the codec lets none through
     */
    public RequesterChunkHandler(ConnectionParts parts, PeerPolicy policy, CallObserver observer, IntConsumer unanswerable,
                                 ReplyFetch.Opener fetches) {
        this.parts = parts;
        this.policy = policy;
        this.statistics = parts.statistics();
        this.observer = observer;
        this.connection = parts.connection();
        this.unanswerable = unanswerable;
        this.reverse = parts.reverse();
        this.fetches = fetches;
    }

    @Override
    public void inlinePath(InlinePath path) {
        inlinePath = path;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        calls = new RequesterCallTable(context, parts, unanswerable);
        sender = new RequestSender(context, parts, policy, calls);
        sender.take(inlinePath);
        delivery = new ReplyDelivery(context, parts, observer, calls, sender);
        replyFetch = fetches == null ? null : fetches.open(context, this);
    }

    @Override
    public void write(ChannelHandlerContext context, Object msg, ChannelPromise promise) {
        ByteBuf call = RpcOffsets.message(msg);
        if (call == null || isForOthers(call)) {
            context.write(msg, promise);
        } else {
            sender.write(msg, call, promise);
        }
    }

    private boolean isForOthers(ByteBuf message) {
        return reverse && (connection.version() == RpcRdmaVersion.ONE || RpcMessageType.peek(message) != RpcMessageType.CALL);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            context.fireChannelRead(msg);
            return;
        }
        // A request is a call of the other direction.
        boolean answer = message.role() == Role.RESPONSE && !message.isControl();
        RequesterCall call = answer ? calls.take(message.xid()) : null;
        if (!isEntitled(message, call)) {
            message.release();
            if (call != null) {
                calls.discard(call);
            }
            context.fireExceptionCaught(RpcRdmaFailures.connection(
                    "a handle was invalidated that message %08x had no right to", message.xid()));
            context.close();
        } else if (!answer) {
            context.fireChannelRead(message);
        } else if (call == null) {
            drop(message);
        } else {
            receive(call, message);
        }
    }

    /**
     * Whether what the peer has invalidated is what it may: by a reply one handle of its call, by others nothing. A handle
     * that was withdrawn by a message that was dropped, or by one to another call, shows when the reply to its own call is
     * here, at the latest.
     */
    private static boolean isEntitled(RpcRdmaMessage message, RequesterCall call) {
        if (call == null || call.exposure() == null) {
            return !message.isInvalidating();
        }
        return call.isWithdrawn() ? call.exposure().mayBeInvalidatedBy(message) : call.exposure().isInvalidatedBy(message);
    }

    private void receive(RequesterCall call, RpcRdmaMessage reply) {
        if (call.exposure() != null) {
            statistics.increment(reply.isInvalidating() ? Counter.REMOTE_INVALIDATIONS : Counter.REPLIES_WITHOUT_INVALIDATION);
        }
        if (replyFetch != null && hasReadList(reply)) {
            if (call.exposure() != null && !call.isWithdrawn()) {
                call.exposure().withdraw(() -> { }); // the caller may give up before all is fetched
            }
            calls.ending(call); // another one with its XID would get what is fetched
            replyFetch.fetch(call, reply);
        } else {
            ended(call, reply);
        }
    }

    private static boolean hasReadList(RpcRdmaMessage reply) {
        return reply.chunks() != null && !reply.chunks().readChunks().isEmpty();
    }

    @Override
    public boolean takesInline(int xid) {
        return calls.isOutstandingInline(xid);
    }

    @Override
    public void inlineReceived(int xid, ByteBuf message) {
        RequesterCall call = calls.take(xid);
        if (call == null) { // what the reply has let go has ended the call
            drop(message);
        } else {
            delivery.repliedInline(call, message);
        }
    }

    private void drop(ReferenceCounted reply) {
        reply.release();
        countDropped();
    }

    private void countDropped() {
        statistics.increment(Counter.UNKNOWN_REPLIES_DROPPED);
        DemandedRead.restore(ctx);
    }

    @Override
    public void replied(RequesterCall call, RpcRdmaMessage reply) {
        calls.ended(call);
        ended(call, reply);
    }

    private void ended(RequesterCall call, RpcRdmaMessage reply) {
        if (call.isWithdrawn()) {
            countDropped();
            delivery.repliedTooLate(call, reply);
        } else {
            delivery.replied(call, reply);
        }
    }

    @Override
    public void lost(RequesterCall call) {
        calls.ended(call);
        calls.discard(call);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof RpcCallAbandoned abandoned) {
            calls.abandon(abandoned.xid());
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        if (inlinePath != null) {
            inlinePath.shut();
        }
        close();
    }

    private void close() {
        calls.close(() -> {
            if (replyFetch != null) {
                replyFetch.close();
            }
        });
    }
}
