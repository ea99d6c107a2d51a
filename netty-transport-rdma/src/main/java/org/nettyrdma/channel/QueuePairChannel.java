package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnresolvedAddressException;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that has a queue pair, as its event loop, its connection and its end see it; and what all such channels have in
 * common. Whether it carries messages or a stream is the business of the subclass.
 */
abstract class QueuePairChannel extends AbstractChannel {

    private static final Logger LOGGER = LoggerFactory.getLogger(QueuePairChannel.class);

    final QueuePairConnection connection;
    /** Whether its event loop, which sets this, is about to give it a turn. */
    boolean awaitsTurn;
    private final RdmaChannelStatistics statistics = new RdmaChannelStatistics();
    private final ChannelPromise releasePromise;
    private volatile ChannelState state = ChannelState.OPEN;
    /** {@code null} where nobody records. Event loop only. */
    private ConnectionEvent recorded;
    /** {@code null} where nobody has asked for it. */
    private Runnable uncount;

    // Event loop only, and there from registration on; draining only where that has succeeded.
    RdmaIo io;
    /** Set where it is added to {@link #io}: what to do when it is removed. */
    Runnable unregister;
    Draining draining;
    private int workRequestChannelId;

    /** A channel to connect with, or with a request one for a connection that a peer asked for; {@code null} without. */
    QueuePairChannel(Channel parent, ConnectionRequest request) {
        super(parent);
        connection = new QueuePairConnection(this, request);
        releasePromise = new ReleasePromise(this, () -> isRegistered() || io != null); // in this order other threads see it
    }

    // --- What the event loop calls

    /** The id by which completions find this channel on its loop. */
    final int workRequestChannelId() {
        return workRequestChannelId;
    }

    /** A work request has completed; {@link org.nettyrdma.verbs.CompletionHandler} tells when the values are valid. */
    abstract void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated,
                            int invalidatedTag, int vendorError);

    /** The peer has used a receive for immediate data, which not every channel expects. */
    void completedWithImmediate(long workRequestId, int byteLength, int immediateData) {
        completed(workRequestId, WorkCompletionStatus.BAD_RESPONSE_ERROR, 0, false, 0, 0);
    }

    /**
     * A receive that channels of the loop share has completed, for this channel; for one that has joined them only.
     *
     * @param buffer what was received into; this takes over the reference
     */
    void received(ByteBuf buffer, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                  int vendorError) {
        buffer.release();
        throw new IllegalStateException("this channel shares no receives");
    }

    /** What is left to do after the completions of one poll were taken up. */
    abstract void takeTurn();

    /** The loop's context is closed, and all of its channels were. */
    void contextClosed() {
        draining.contextClosed();
    }

    // --- How the connection begins

    /** A registration that fails costs a server a stack trace in its log, as often as peers like; so theirs do not fail. */
    @Override
    protected void doRegister() throws Exception {
        try {
            join();
        } catch (Throwable t) {
            if (!connection.isRequested()) {
                throw t;
            }
            eventLoop().execute(this::closeNow); // before anything else
            refused(t);
        }
    }

    private void join() throws IOException {
        io = RdmaIo.of(eventLoop());
        workRequestChannelId = io.add(this);
        try {
            open();
        } catch (Throwable t) {
            io.remove(this);
            draining = null;
            throw t;
        }
        // Receives are posted before the connection, so that the peer's first message never finds none.
        if (connection.isRequested()) {
            // When the pipeline has been initialised: its handlers may want to tell the peer something with the answer.
            eventLoop().execute(this::acceptRequest);
        } else {
            postReceives();
        }
    }

    /** Makes the queue pair, and all that goes with it. Leaves nothing of it where that fails. */
    abstract void open() throws IOException;

    private void acceptRequest() {
        if (state != ChannelState.OPEN) {
            return; // closed by a handler
        }
        try {
            postReceives();
            connection.accept(privateData());
        } catch (Throwable t) {
            closeNow();
            refused(t);
        }
    }

    /** There is no memory, for instance, or no queue pair, or it cannot answer. No handler has seen the channel active. */
    private void refused(Throwable cause) {
        PeerLog.fault(LOGGER, connection.remoteAddress(), "is refused", cause);
    }

    /** Posts all receives that there are to be. */
    abstract void postReceives() throws IOException;

    // --- What its parts call

    /** Does something on the event loop, at once where that is this thread. Any thread. */
    final void onLoop(Runnable step) {
        if (eventLoop().inEventLoop()) {
            step.run();
        } else {
            eventLoop().execute(step);
        }
    }

    /** {@code AUTO_READ} was turned off. What was set before the registration is in time for it. Any thread. */
    final void autoReadCleared() {
        if (isRegistered()) {
            onLoop(() -> {
                if (!config().isAutoRead()) { // one may be wanted again by then
                    readsCleared();
                }
            });
        }
    }

    /** No read is wanted any more; nothing to do where the channel is about to be refused. */
    abstract void readsCleared();

    /** Asks for a turn in the loop, once for all that ask. */
    final void schedule() {
        io.schedule(this);
    }

    /** The device has returned what it had: the connection is over. Why will be told with the disconnect. */
    final void flushed() {
        statistics.increment(RdmaChannelStatistics.Counter.FLUSHED_WORK_REQUESTS);
        if (state == ChannelState.ACTIVE) {
            connectionIs(ChannelState.ENDED);
        }
    }

    // --- What the connection tells

    /** The peer has agreed to a connection; an exception refuses it, before the channel is active. */
    void agree(ByteBuf peerPrivateData) throws IOException {
        // Messages need no agreement.
    }

    /** The connection stands, and the channel was closed in the meantime. */
    void establishedClosed(ByteBuf peerPrivateData) {
        // The close has cut it.
    }

    /**
     * The connection stands on the side that has accepted. {@code true} leaves it to the channel when to call
     * {@link QueuePairConnection#activate}.
     */
    boolean awaitsFirstMessage() {
        return false;
    }

    /** Whether what is flushed waits instead of being failed: an accepted socket can be written to before it is active. */
    private boolean holdsFlushed() {
        return connection.isRequested() && isOpen() && !isActive();
    }

    /** The connection that stood has ended; {@code null} for an orderly end. */
    abstract void disconnected(IOException cause);

    /** A work request has completed, or the provider has told the end of the connection: a closed channel may be done. */
    void proceedWithEnd() {
        if (draining != null) {
            draining.finishIfDrained();
        }
    }

    /** The connection is asked for or answered, or stands. */
    final void connectionIs(ChannelState newState) {
        state = newState;
        if (newState == ChannelState.ACTIVE) {
            try {
                recorded = ConnectionEvent.begun(this, io.provider().name());
            } catch (OutOfMemoryError e) {
                recorded = null; // it stands all the same, and who waits for it is told
            }
        } else if (newState == ChannelState.CLOSED && recorded != null) {
            recorded.commit();
            recorded = null;
        }
    }

    // --- What the end of the queue pair asks for

    /** How long a closed channel waits for its buffers. */
    abstract int closeTimeoutMillis();

    /** Nothing is left of the channel, which is closed. */
    void released() {
        releasePromise.trySuccess();
    }

    /**
     * Runs something once the connection does not count any more. A future would not do: it would need an event loop to tell its
     * listeners, which a channel that is rejected never gets. Before the registration only.
     */
    final void whenUncounted(Runnable task) {
        if (!isOpen()) {
            task.run();
            return;
        }
        Runnable before = uncount;
        uncount = before == null ? task : () -> {
            before.run();
            task.run();
        };
    }

    /** The connection does not count any more towards the limits of the server that has accepted it. */
    final void uncounted() {
        if (connection.isRequested() && parent() instanceof AcceptingChannel server) {
            server.connectionEnded(connection.requester());
        }
        if (uncount != null) {
            uncount.run();
        }
    }

    // --- What all channels do alike

    /** With its connection request, or with the answer that it gets. */
    abstract byte[] privateData();

    final ChannelState state() {
        return state;
    }

    /**
     * The counters of this channel.
     *
     * @return the counters, readable from any thread
     */
    public RdmaChannelStatistics statistics() {
        return statistics;
    }

    /**
     * Tells when nothing of this channel is left: the device has returned every buffer, or the missing ones were given up after
     * {@link RdmaChannelOption#CLOSE_TIMEOUT_MILLIS}, and its {@link #statistics} do not change any more. The future succeeds
     * after the channel is closed, possibly later than {@link #closeFuture}.
     *
     * @return the future, which always succeeds and cannot be cancelled
     */
    public ChannelFuture releaseFuture() {
        return releasePromise;
    }

    @Override
    protected boolean isCompatible(EventLoop eventLoop) {
        return RdmaIo.of(eventLoop) != null;
    }

    @Override
    protected void doDeregister() {
        Deregistration.close(this, this::doClose); // a queue pair cannot move to another loop
    }

    @Override
    protected void doBind(SocketAddress localAddress) {
        if (isConnecting()) {
            throw new ConnectionPendingException();
        }
        if (state != ChannelState.OPEN || !connection.bind(resolved(localAddress))) {
            throw new AlreadyBoundException();
        }
    }

    /** Whether an attempt to connect is under way. */
    private boolean isConnecting() {
        return state == ChannelState.CONNECTING && connection.isAttempted();
    }

    /** The address, unless it is a name that nobody has looked up: names are the bootstrap's business. */
    static SocketAddress resolved(SocketAddress address) {
        if (address instanceof InetSocketAddress inet && inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return address;
    }

    @Override
    protected abstract void doClose();

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    public boolean isOpen() {
        return state != ChannelState.CLOSED;
    }

    @Override
    public boolean isActive() {
        ChannelState current = state;
        return current == ChannelState.ACTIVE || current == ChannelState.ENDED;
    }

    @Override
    protected SocketAddress localAddress0() {
        return connection.localAddress();
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return connection.remoteAddress();
    }

    @Override
    protected QueuePairUnsafe newUnsafe() {
        return new QueuePairUnsafe();
    }

    final QueuePairUnsafe queuePairUnsafe() {
        return (QueuePairUnsafe) unsafe();
    }

    /** The first failure is the cause of the end; what comes after it is only its consequence. Event loop only. */
    void fail(Throwable cause) {
        if (!isOpen()) {
            LOGGER.debug("{} Failure after the end: {}", this, cause.toString());
            return;
        }
        finish(failureOf(cause));
    }

    static IOException failureOf(Throwable cause) {
        return cause instanceof IOException e ? e : new RdmaException("the channel failed: " + cause, cause);
    }

    /** Ends the channel; {@code null} for an end in order. */
    final void finish(IOException cause) {
        if (cause != null) {
            if (recorded != null) {
                recorded.cause = cause.toString();
            }
            queuePairUnsafe().failFlushed(cause);
            pipeline().fireExceptionCaught(cause);
        }
        closeNow();
    }

    final void closeNow() {
        unsafe().close(unsafe().voidPromise());
    }

    /** What only a subclass of Netty's may do or call. */
    class QueuePairUnsafe extends AbstractUnsafe {

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            if (state != ChannelState.OPEN || connection.isRequested()) {
                promise.tryFailure(isConnecting() ? new ConnectionPendingException() : new AlreadyConnectedException());
                return;
            }
            try {
                connection.connect(resolved(remoteAddress), resolved(localAddress), privateData(),
                        config().getConnectTimeoutMillis(), promise);
            } catch (Throwable t) {
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                closeNow();
            }
        }

        /** Adds to the cause of a failed attempt where it led, as Netty's transports do, also where the peer broke a protocol. */
        final Throwable annotate(IOException cause, SocketAddress remoteAddress) {
            if (cause instanceof SocketException || cause instanceof InterruptedIOException || cause instanceof RdmaException) {
                return annotateConnectException(cause, remoteAddress);
            }
            return annotateConnectException(new ConnectException(cause.getMessage()).initCause(cause), remoteAddress);
        }

        @Override
        protected void flush0() {
            if (!holdsFlushed()) {
                super.flush0();
            }
        }

        /** Closes the channel and fails what was flushed with the cause, not with the fact that the channel is closed. */
        final void failFlushed(IOException cause) {
            handleWriteError(cause);
        }
    }
}
