package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the connection of one channel comes about, what the two sides told each other meanwhile, and that it has ended. What
 * follows from this for the channel is the channel's business. The getters may be called by any thread, everything else is
 * event loop only.
 */
final class QueuePairConnection implements QueuePair.Listener {

    private static final Logger LOGGER = LoggerFactory.getLogger(QueuePairConnection.class);

    private final QueuePairChannel channel;
    private final ConnectionRequest request; // null unless a peer asked for this connection
    private final PeerAddress requester;     // who did
    private volatile ByteBuf peerPrivateData = Unpooled.EMPTY_BUFFER;
    private volatile SocketAddress bindAddress; // where to connect from, null for any
    private volatile SocketAddress localAddress;
    private volatile SocketAddress remoteAddress;
    private volatile RdmaConnectionInfo info;

    private VerbsProvider provider; // this and the next are there from open() on
    private QueuePair queuePair;
    private ConnectAttempt attempt; // null if there was none, as on the accepting side
    private boolean endPending;     // a connection that stands or comes about has not been reported as ended

    /** A connection to make, or with a request one to accept; {@code null} without. */
    QueuePairConnection(QueuePairChannel channel, ConnectionRequest request) {
        this.channel = channel;
        this.request = request;
        if (request != null) {
            peerPrivateData = copyOf(request.privateData());
            localAddress = request.localAddress();
            remoteAddress = request.remoteAddress();
        }
        requester = request == null ? null : PeerAddress.of(remoteAddress); // there may be no memory for it at the end
    }

    private static ByteBuf copyOf(ByteBuffer privateData) {
        return privateData.hasRemaining() ? Unpooled.unreleasableBuffer(Unpooled.copiedBuffer(privateData).asReadOnly())
                : Unpooled.EMPTY_BUFFER;
    }

    /** Whether a peer asked for this connection. */
    boolean isRequested() {
        return request != null;
    }

    /** By whom it counts if a peer asked for this connection, else {@code null}. */
    PeerAddress requester() {
        return requester;
    }

    ByteBuf peerPrivateData() {
        return peerPrivateData;
    }

    /**
     * Says where to connect from, for which the device has no earlier use; {@code false} if that has been said, or does not
     * apply.
     */
    boolean bind(SocketAddress address) {
        if (bindAddress != null || isRequested()) {
            return false;
        }
        bindAddress = address;
        return true;
    }

    /** This side of the connection; before there is one the address that was bound to, {@code null} without. */
    SocketAddress localAddress() {
        SocketAddress connected = localAddress;
        return connected != null ? connected : bindAddress;
    }

    SocketAddress remoteAddress() {
        return remoteAddress;
    }

    /** What was agreed on, {@code null} before there was an agreement. */
    RdmaConnectionInfo info() {
        return info;
    }

    /** Whether the provider owes {@link #connectFailed} or {@link #disconnected}. */
    boolean isEndPending() {
        return endPending;
    }

    /** Creates the queue pair. */
    QueuePair open(RdmaIo io, QueuePairAttributes attributes) throws IOException {
        provider = io.provider();
        VerbsContext context = io.context();
        queuePair = request == null ? context.createQueuePair(attributes, this)
                : context.createQueuePair(attributes, this, request);
        return queuePair;
    }

    /** Says no to the peer that asked; does nothing if it was answered before. */
    void reject(byte[] privateData) {
        request.reject(ByteBuffer.wrap(privateData));
    }

    /** Says yes to the peer that asked. */
    void accept(byte[] privateData) throws IOException {
        queuePair.accept(ByteBuffer.wrap(privateData));
        endPending = true;
        channel.connectionIs(ChannelState.CONNECTING);
    }

    /** Asks a peer. The promise is told of the outcome, and cancelling it closes the channel. */
    void connect(SocketAddress remote, SocketAddress local, byte[] privateData, int timeoutMillis, ChannelPromise promise)
            throws IOException {
        queuePair.connect(remote, local != null ? local : bindAddress, ByteBuffer.wrap(privateData));
        endPending = true;
        channel.connectionIs(ChannelState.CONNECTING); // before anything below can close it
        attempt = ConnectAttempt.start(promise, remote, timeoutMillis, queuePair::awaited, this::fail);
        promise.addListener(future -> {
            if (future.isCancelled()) {
                channel.onLoop(channel::closeNow); // the promise may be one of another executor
            }
        });
    }

    /** Whether {@link #connect} was called. */
    boolean isAttempted() {
        return attempt != null;
    }

    /** The channel is being closed before there was an outcome. */
    void abort() {
        if (attempt != null) {
            attempt.fail(new ClosedChannelException());
        }
    }

    private void fail(IOException cause) {
        try {
            if (attempt != null) {
                attempt.fail(cause instanceof ConnectTimeoutException ? cause
                        : channel.queuePairUnsafe().annotate(cause, attempt.remoteAddress()));
            } else {
                PeerLog.info(LOGGER, channel, "could not be accepted: {}", cause);
            }
        } finally { // where there was no memory to tell the cause, this tells of the close
            channel.closeNow();
        }
    }

    @Override
    public void established(ConnectionParameters parameters) {
        if (!isConnecting()) {
            channel.establishedClosed(peerPrivateData);
            return;
        }
        boolean isComplete;
        try {
            learn(parameters);
            channel.agree(peerPrivateData);
            LOGGER.debug("{} Connected, {}", channel, info);
            isComplete = request == null || !channel.awaitsFirstMessage();
        } catch (IOException e) {
            fail(e);
            return;
        } catch (RuntimeException | Error e) { // no memory, for instance; nothing else would end the attempt
            fail(new RdmaException("the connection could not be set up: " + e, e));
            return;
        }
        if (isComplete) {
            activate();
        }
    }

    private void learn(ConnectionParameters parameters) {
        localAddress = queuePair.localAddress();
        remoteAddress = queuePair.remoteAddress();
        if (request == null) {
            peerPrivateData = copyOf(parameters.privateData());
        }
        String carrier = queuePair.carrier();
        info = new RdmaConnectionInfo(carrier != null ? carrier : provider.name(), parameters.mpaRevision(),
                parameters.checksum(), parameters.inboundReadDepth(), parameters.outboundReadDepth(),
                provider.capabilities().maxMessageBytes());
    }

    /** The connection can be used; does nothing if it is used already, or has ended. */
    void activate() {
        if (!isConnecting()) {
            return;
        }
        channel.connectionIs(ChannelState.ACTIVE);
        // Completing the promise may close the channel; channelActive is fired all the same, because it was active.
        boolean wanted = attempt == null || attempt.succeed();
        channel.pipeline().fireChannelActive();
        if (!wanted) {
            channel.closeNow(); // cancelled
        } else if (request != null) {
            channel.queuePairUnsafe().flush0(); // what was held until now
        }
    }

    @Override
    public void connectFailed(IOException cause, ByteBuffer privateData) {
        ended();
        if (isConnecting()) {
            try {
                if (request == null) {
                    peerPrivateData = copyOf(privateData);
                }
            } finally { // without memory for that as well
                fail(cause);
            }
        }
    }

    @Override
    public void disconnected(IOException cause) {
        ended();
        if (isConnecting()) {
            fail(cause != null ? cause : new ConnectException("connection lost"));
        } else {
            channel.disconnected(cause);
        }
    }

    private boolean isConnecting() {
        return channel.state() == ChannelState.CONNECTING;
    }

    private void ended() {
        endPending = false;
        channel.proceedWithEnd();
    }
}
