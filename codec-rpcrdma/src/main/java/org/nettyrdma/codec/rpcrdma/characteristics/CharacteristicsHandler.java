package org.nettyrdma.codec.rpcrdma.characteristics;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.concurrent.Promise;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.ReceiveBuffersReplaced;
import org.nettyrdma.codec.oncrpc.transport.DemandedRead;
import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaConnection;
import org.nettyrdma.codec.rpcrdma.header.HeaderFlag;
import org.nettyrdma.codec.rpcrdma.header.HeaderType;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Extension;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.TransportError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.header.TransportProperty;
import org.nettyrdma.handler.credit.CreditGate;

/**
 * The extension on one connection: asks the peer to change its properties, answers requests of the peer, and tells changes. Any
 * thread may call the methods for users. Each change is a user event {@link CharacteristicChanged}.
 *
 * <h2>Sizes of receive buffers (xcharext-02, section 3.1)</h2>
 * A larger size is told when no smaller receive is posted any more ({@link ReceiveBuffersReplaced}); until then the request is
 * pending. This takes as many messages of the peer as receives were posted, so it does not happen while the connection is idle. A
 * size is lowered only if the peer has asked: the peer keeps to the lower size before it sends its request. This side does the
 * same when it asks. Calls that wait for a credit or for memory were planned with the larger size. So a request for a lower size
 * goes out when no call waits, which is when the channel is {@linkplain Channel#isWritable writable}. Replies that are too long
 * for the lower size of a client, to calls that were made before it, are refused with RDMA2_ERR_REPLY_RESOURCE.
 *
 * <h2>Receives for these messages</h2>
 * The messages of the extension take no credit. At most one request is without a response. An empty request follows each offer;
 * its response shows that the peer has received the offer. So each side has at most four messages under way: two of its own, and
 * a response and an update that the other side has caused. {@code RpcRdma} keeps receives for them.
 *
 * <h2>Peers that break rules</h2>
 * The connection ends with a {@link CharacteristicsException} if the peer answers a request that does not exist, if subsets
 * overlap, lack a value or have one too many, or if no message fits into a size.
 */
public final class CharacteristicsHandler extends ChannelDuplexHandler {

    private final Characteristics settings;
    private ChannelHandlerContext ctx;
    private RpcRdmaConnection connection;
    private PeerValues values;
    private PeerCharacteristics peer;
    private OwnCharacteristics own;
    private int lastXid = ThreadLocalRandom.current().nextInt();
    private boolean failed;

    CharacteristicsHandler(Characteristics settings) {
        this.settings = settings;
    }

    /**
     * Finds the handler of a connection.
     *
     * @param channel a channel that {@link Characteristics#install} was called for
     * @return the handler, {@code null} if it was not
     */
    public static CharacteristicsHandler of(Channel channel) {
        return channel.pipeline().get(CharacteristicsHandler.class);
    }

    /**
     * Asks the peer to change one property of its own; see {@link #request(PropertySet)}.
     *
     * @param <T>      what a value of the property is
     * @param property the property
     * @param value    the value that it should have
     * @return what becomes of it
     */
    public <T> Future<Outcome> request(TransportProperty<T> property, T value) {
        return request(PropertySet.EMPTY.with(property, value));
    }

    /**
     * Asks the peer to change properties of its own. Requests go out one after the other. The first goes out when the version of
     * the connection is settled, each further one after the response to the one before. At most 16 wait.
     *
     * <p>A change of receive buffers is pending until all that were posted with the old size have been used. So on an idle
     * connection the outcome comes only when calls are made: do not wait for it in front of them.
     *
     * @param wanted the values that they should have
     * @return the outcome, when no change of the request is pending any more. The future fails with
     *         {@link CharacteristicsException} if the peer does not answer, has not told one of the properties, or has been asked
     *         for one already, if too many requests wait, or the connection speaks version 1; with
     *         {@link IllegalArgumentException} if the values cannot be sent, as in a message of more than 1024 bytes; with
     *         what the write fails with; with {@link java.nio.channels.ClosedChannelException} at the end of the connection
     */
    public Future<Outcome> request(PropertySet wanted) {
        return begin(promise -> peer.ask(wanted, promise));
    }

    /**
     * Changes a property of this side and tells the peer, without a request of the peer.
     *
     * @param <T>      what a value of the property is
     * @param property a property that was told to the peer before
     * @param value    its new value, with which the message has at most 1024 bytes; a Receive Buffer Size can only be raised
     * @return succeeds when the peer is known to have received the change; fails with {@link CharacteristicsException} if the
     *         peer does not have the extension or does not answer, or while another change is under way; with
     *         {@link IllegalArgumentException} if the property cannot have the value; with what the write fails with; with
     *         {@link java.nio.channels.ClosedChannelException} at the end of the connection
     */
    public <T> Future<Void> offer(TransportProperty<T> property, T value) {
        return begin(promise -> own.offer(property, value, promise));
    }

    /**
     * Completes a request of the peer that the policy has {@linkplain CharacteristicPolicy.Decision#DEFER deferred}.
     *
     * @param <T>      what a value of the property is
     * @param property the property
     * @param value    the value that it gets: the one that was asked for, the one that it has, which rejects the request, or
     *                 one between; no longer than what the peer receives
     * @return succeeds when the update is on its way, which ends the connection if it cannot be sent; fails with
     *         {@link IllegalStateException} if no deferred request is pending, with {@link IllegalArgumentException} if the
     *         property cannot have the value, with {@link java.nio.channels.ClosedChannelException} at the end of the connection
     */
    public <T> Future<Void> settle(TransportProperty<T> property, T value) {
        return begin(promise -> own.settle(property, value, promise));
    }

    /** Does something on the event loop that completes the promise. */
    private <R> Future<R> begin(Consumer<Promise<R>> task) {
        Promise<R> promise = ctx.executor().newPromise();
        try {
            execute(() -> task.accept(promise));
        } catch (RejectedExecutionException e) { // it has ended, and cannot tell listeners any more
            return ImmediateEventExecutor.INSTANCE.newFailedFuture(new ClosedChannelException());
        }
        return promise;
    }

    private void execute(Runnable task) {
        ctx.executor().execute(task);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
        connection = RpcRdma.connection(context.channel());
        values = new PeerValues(this);
        peer = new PeerCharacteristics(this, settings, values);
        own = new OwnCharacteristics(this, settings, peer);
    }

    RdmaChannel channel() {
        return (RdmaChannel) ctx.channel();
    }

    ChannelHandlerContext context() {
        return ctx;
    }

    RpcRdmaConnection connection() {
        return connection;
    }

    /**
     * An XID for a message that is no response. A call may have the same one; they are told apart by the header type of the
     * answer, but for errors, which that makes ambiguous once in 2<sup>32</sup> refusals.
     */
    int nextXid() {
        do {
            lastXid++;
        } while (lastXid == 0); // that of RDMA2_CONNPROP
        return lastXid;
    }

    <T> ChannelFuture sendRequest(HeaderType<T> type, int xid, T value) {
        return send(type, xid, 0, gate().wantedCredits(), value);
    }

    <T> ChannelFuture sendResponse(HeaderType<T> type, int xid, T value) {
        return send(type, xid, HeaderFlag.RESPONSE.mask(), gate().statistics().served().granted(), value);
    }

    private <T> ChannelFuture send(HeaderType<T> type, int xid, int flags, int credits, T value) {
        return ctx.writeAndFlush(RpcRdmaMessage.extension(new Extension<>(xid, credits, flags, type, value),
                Unpooled.EMPTY_BUFFER));
    }

    /** The peer waits for this message, without end in most cases: where it cannot be sent, the connection ends. */
    void endUnlessSent(ChannelFuture message) {
        message.addListener(sent -> {
            if (!sent.isSuccess() && ctx.channel().isActive()) {
                ctx.fireExceptionCaught(sent.cause());
                ctx.close();
            }
        });
    }

    private CreditGate gate() {
        return ctx.pipeline().get(CreditGate.class);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object msg) {
        if (!(msg instanceof RpcRdmaMessage message)) {
            context.fireChannelRead(msg);
            return;
        }
        boolean taken = true; // also if this throws: then nobody else gets the message
        try {
            taken = take(message);
        } finally {
            if (taken) {
                message.release();
            }
        }
        if (!taken) {
            context.fireChannelRead(message);
        } else {
            DemandedRead.restore(context);
        }
    }

    /** Whether a message was for this handler. */
    private boolean take(RpcRdmaMessage message) {
        if (message.header() instanceof TransportError error) {
            return peer.refused(error.xid(), error.error());
        }
        if (!(message.header() instanceof Extension<?> extension)) {
            return false;
        }
        try {
            return take(extension);
        } catch (CharacteristicsException e) {
            violated(e);
            return true;
        }
    }

    private boolean take(Extension<?> message) throws CharacteristicsException {
        if (failed) {
            return true;
        }
        if (message.value() instanceof PropertyRequest request) {
            own.requested(message.xid(), request);
        } else if (message.value() instanceof PropertyResponse response) {
            peer.responded(message.xid(), response);
        } else if (message.value() instanceof PropertyUpdate update) {
            peer.updated(update);
        } else {
            return false;
        }
        return true;
    }

    private void violated(CharacteristicsException cause) {
        failed = true;
        ctx.fireExceptionCaught(cause);
        ctx.close();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof ReceiveBuffersReplaced replaced) {
            own.replaced(replaced.bytes());
        } else if (event instanceof ConnectionTerms) {
            values.applySize(); // the peer may have told its properties by RDMA2_CONNPROP
            execute(peer::proceed); // not at once: what has made them may be about to send RDMA2_CONNPROP
            if (!connection.terms().equals(event)) {
                return; // handlers have been told of newer ones just now
            }
        }
        context.fireUserEventTriggered(event);
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
        peer.proceed();
        context.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        close();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        close();
    }

    private void close() {
        peer.close();
        own.close();
    }
}
