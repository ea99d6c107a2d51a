package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnresolvedAddressException;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel whose connection is an RDMA queue pair. It carries messages, not a stream: what one side writes as one message
 * the other reads as one.
 *
 * <h2>Inbound</h2>
 * Every message of the peer is passed on as one {@link ByteBuf}, reader index 0, in registered memory. Its one reference
 * passes to the pipeline. While no read is wanted ({@code AUTO_READ}) messages stay in their receive buffers, at most
 * {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH}, and the peer is slowed down.
 *
 * <h2>Outbound</h2>
 * {@link ByteBuf} and {@link RdmaSend} send a message, {@link RdmaWrite} and {@link RdmaRead} move bulk data; anything else
 * fails with {@link UnsupportedOperationException}. Messages are done in the order in which they were written, and their
 * promises complete in this order, when the device has completed them. Until then they count towards the water marks.
 * Data outside of registered memory ({@link RegisteredByteBufAllocator}) is copied into it and counted. A message that is
 * too long fails alone; a work request that fails ends the connection, as RDMA demands: the cause is fired as
 * {@code exceptionCaught} and fails everything that was flushed.
 *
 * <h2>Memory exposed to the peer</h2>
 * {@link #expose} opens memory to the peer of this channel until it is invalidated.
 *
 * <h2>Life</h2>
 * The queue pair belongs to the event loop that the channel is registered with; a channel that is deregistered is closed.
 * Half-closure does not exist. When the peer ends the connection, the messages that arrived before are read first; so a
 * channel that does not read stays active until it reads or writes. A channel that is closed is inactive at once, but its
 * buffers are released only when the device has returned them, a moment later.
 */
public final class RdmaChannel extends AbstractChannel {

    private static final Logger LOGGER = LoggerFactory.getLogger(RdmaChannel.class);

    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    /** The life of a channel; it only moves forward. */
    private enum State {
        /** No connection asked for. */
        OPEN,
        /** Asked the peer, or answered its request; no outcome yet. */
        CONNECTING,
        /** Connected. */
        ACTIVE,
        /** The connection is over, but messages that arrived before have not been read, or the cause is not known yet. */
        ENDED,
        /** Closed. What is left of the queue pair is {@link Draining}. */
        CLOSED
    }

    private final RdmaChannelConfig config;
    private final RdmaChannelStatistics statistics = new RdmaChannelStatistics();
    private final ConnectionRequest request; // null unless a peer asked for this connection
    private volatile State state = State.OPEN;
    private volatile ByteBuf peerPrivateData = Unpooled.EMPTY_BUFFER;
    private volatile SocketAddress localSocketAddress;
    private volatile SocketAddress remoteSocketAddress;

    // Everything below belongs to the event loop, and is there from registration on.
    private RdmaEventLoop loop;
    private int workRequestChannelId;
    private QueuePair queuePair;
    private WorkRequests work;
    private OutboundFilter outboundFilter;
    private SocketAddress bindAddress;
    private boolean endPending;       // a connection that stands or comes about has not been reported as ended
    private IOException endCause;
    private Draining draining;        // once closed, unless there was no queue pair
    private boolean readPending;
    private boolean scheduled;

    /**
     * A channel to connect with, for {@code Bootstrap.channel(RdmaChannel.class)}.
     */
    public RdmaChannel() {
        this(null, null);
    }

    /** A channel for a connection that a peer asked for; {@code null} without. */
    RdmaChannel(RdmaServerChannel parent, ConnectionRequest request) {
        super(parent);
        this.request = request;
        config = new RdmaChannelConfig(this);
        if (request != null) {
            peerPrivateData = copyOf(request.privateData());
            localSocketAddress = request.localAddress();
            remoteSocketAddress = request.remoteAddress();
        }
    }

    private static ByteBuf copyOf(ByteBuffer privateData) {
        return privateData.hasRemaining() ? Unpooled.unreleasableBuffer(Unpooled.copiedBuffer(privateData).asReadOnly())
                : Unpooled.EMPTY_BUFFER;
    }

    // --- What users see

    @Override
    public RdmaChannelConfig config() {
        return config;
    }

    /**
     * What the peer sent along with its connection request or with its answer, also if the answer was no.
     *
     * @return read-only bytes, which need not be released; empty if there were none or the peer has not answered yet
     */
    public ByteBuf peerPrivateData() {
        return peerPrivateData.duplicate();
    }

    /**
     * Refuses the connection request that this channel was made for. A server does so in a handler of its
     * {@link RdmaServerChannel} that finds this channel as a message and does not pass it on.
     *
     * @param privateData tells the peer why, may be empty; at most the provider's maximum
     * @throws IllegalStateException if this channel is not for a request, or has been registered
     */
    public void reject(byte[] privateData) {
        if (request == null || isRegistered() || state != State.OPEN) {
            throw new IllegalStateException("only a connection request that has not been taken up can be rejected");
        }
        request.reject(ByteBuffer.wrap(privateData));
        unsafe().closeForcibly();
    }

    /**
     * The longest message that can be sent. What the peer can receive may be less, and is for the two sides to agree on.
     *
     * @return the provider's limit in bytes
     * @throws IllegalStateException if the channel is not registered
     */
    public int maxSendBytes() {
        if (loop == null) {
            throw new IllegalStateException("the channel is not registered");
        }
        return loop.provider().capabilities().maxMessageBytes();
    }

    /**
     * How many messages have arrived and were not passed on yet. Each keeps a receive buffer, so that this many of
     * {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH} are not posted to the device. Event loop only.
     *
     * @return 0 to the depth
     * @throws IllegalStateException if the channel is not registered
     */
    public int heldMessages() {
        if (work == null) {
            throw new IllegalStateException("the channel is not registered");
        }
        assert eventLoop().inEventLoop();
        return work.receives().held();
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
     * Opens a piece of memory to the peer, until it is invalidated. Event loop only.
     *
     * @param memory in registered memory; the result takes a reference of its own
     * @param index  first byte to expose
     * @param length size in bytes, at least 1; the piece must not be divided over components
     * @param access what the peer may do
     * @return the exposed memory; its segment is what the peer must be told
     * @throws IndexOutOfBoundsException if the piece is not inside {@code memory}
     * @throws ClosedChannelException if the channel is not connected
     * @throws RdmaException if the memory is not registered or divided, or the device refuses
     */
    public ExposedMemory expose(ByteBuf memory, int index, int length, RemoteAccess access) throws IOException {
        assert eventLoop().inEventLoop();
        if (state != State.ACTIVE) {
            throw new ClosedChannelException();
        }
        return work.exposures().expose(memory, index, length, access);
    }

    /** Withdraws exposed memory. */
    void invalidate(ExposedMemory exposed) {
        if (state == State.CLOSED) {
            return; // done soon, when the queue pair is freed
        }
        try {
            work.exposures().invalidate(exposed);
        } catch (IOException e) {
            fail(e);
        }
    }

    // --- Registration

    @Override
    protected boolean isCompatible(EventLoop eventLoop) {
        return eventLoop instanceof RdmaEventLoop;
    }

    @Override
    protected void doRegister() throws Exception {
        loop = (RdmaEventLoop) eventLoop();
        config.registered(loop.registeredAllocator());
        QueuePairAttributes attributes = config.queuePairAttributes(loop.provider());
        VerbsContext context = loop.context();
        ConnectionEvents events = new ConnectionEvents();
        queuePair = request == null ? context.createQueuePair(attributes, events)
                : context.createQueuePair(attributes, events, request);
        workRequestChannelId = loop.add(this);
        work = new WorkRequests(this, loop, queuePair, workRequestChannelId);
        outboundFilter = new OutboundFilter(loop, statistics);
        // Receives come before the connection, so that the peer's first message never finds none.
        work.repost();
        if (request != null) {
            // When the pipeline has been initialised: its handlers may want to tell the peer something with the answer.
            loop.execute(this::acceptRequest);
        }
    }

    private void acceptRequest() {
        if (state != State.OPEN) {
            return; // closed by a handler
        }
        try {
            queuePair.accept(ByteBuffer.wrap(config.getPrivateData()));
            connecting();
        } catch (Throwable t) {
            fail(t);
        }
    }

    /** The id by which completions find this channel on its loop. */
    int workRequestChannelId() {
        return workRequestChannelId;
    }

    private void connecting() {
        state = State.CONNECTING;
        endPending = true;
    }

    @Override
    protected void doDeregister() {
        // A queue pair cannot move to another loop.
        unsafe().close(unsafe().voidPromise());
    }

    @Override
    protected void doBind(SocketAddress localAddress) {
        bindAddress = localAddress; // used when connecting; the device has no earlier use for it
    }

    @Override
    public boolean isOpen() {
        return state != State.CLOSED;
    }

    @Override
    public boolean isActive() {
        State current = state;
        return current == State.ACTIVE || current == State.ENDED;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    protected SocketAddress localAddress0() {
        return localSocketAddress;
    }

    @Override
    protected SocketAddress remoteAddress0() {
        return remoteSocketAddress;
    }

    @Override
    protected RdmaUnsafe newUnsafe() {
        return new RdmaUnsafe();
    }

    private RdmaUnsafe rdmaUnsafe() {
        return (RdmaUnsafe) unsafe();
    }

    // --- Inbound

    @Override
    protected void doBeginRead() {
        readPending = true;
        if (work.receives().hasMessage()) {
            schedule();
        }
    }

    /** No read is wanted any more. Any thread. */
    void clearReadPending() {
        if (isRegistered()) {
            if (eventLoop().inEventLoop()) {
                readPending = false;
            } else {
                eventLoop().execute(() -> readPending = config.isAutoRead()); // unless reads are wanted again by then
            }
        }
    }

    /** Asks for a turn, see {@link #takeTurn()}. */
    void schedule() {
        if (!scheduled) {
            scheduled = true;
            loop.schedule(this);
        }
    }

    /** What is left to do after the completions of one poll were taken up. */
    void takeTurn() {
        scheduled = false;
        try {
            if (readPending && work.receives().hasMessage()) {
                passOnMessages();
            }
            if (state == State.ACTIVE) {
                work.exposures().resume();
                if (work.sends().wasFull()) {
                    rdmaUnsafe().flush0();
                }
            }
            if (state == State.ENDED && !endPending && !work.receives().hasMessage()) {
                finish(endCause);
            }
        } catch (Throwable t) {
            fail(t);
        }
    }

    private void passOnMessages() throws IOException {
        var handle = unsafe().recvBufAllocHandle();
        handle.reset(config);
        ReceiveQueue messages = work.receives();
        do {
            ByteBuf message = messages.take();
            handle.incMessagesRead(1);
            handle.lastBytesRead(message.readableBytes());
            readPending = false;
            pipeline().fireChannelRead(message);
        } while (messages.hasMessage() && handle.continueReading());
        if (state == State.ACTIVE) {
            work.repost();
        }
        handle.readComplete();
        pipeline().fireChannelReadComplete(); // reads on if AUTO_READ is set
    }

    // --- Completions

    /** A work request has completed; {@link org.nettyrdma.verbs.CompletionHandler} tells when the values are valid. */
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        try {
            work.completed(workRequestId, status, byteLength, invalidated, invalidatedTag, vendorError);
        } catch (Throwable t) {
            fail(t);
        }
        if (draining != null) {
            draining.finishIfDrained();
        }
    }

    void messageArrived() {
        if (state == State.CLOSED) {
            work.receives().releaseMessages();
        } else if (readPending) {
            schedule();
        } else {
            statistics.increment(Counter.RECEIVES_HELD_BACK);
        }
    }

    /** The device returns what it had: the connection is over. Why will be told with the disconnect. */
    void flushed() {
        if (state == State.ACTIVE) {
            state = State.ENDED;
        }
    }

    // --- Outbound

    @Override
    protected Object filterOutboundMessage(Object message) throws Exception {
        return outboundFilter.filter(message);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        if (state == State.ENDED) {
            if (endPending) {
                return; // fails with the cause as soon as that is known
            }
            throw endCause != null ? endCause : new ClosedChannelException();
        }
        // Repost before sending: a reply makes the peer send its next request, which must find a receive posted.
        work.receives().repost();
        work.sends().postFlushed(in);
        queuePair.flush();
    }

    // --- The end

    /** The first failure is the cause of the end; what comes after it is only its consequence. Event loop only. */
    void fail(Throwable cause) {
        if (!isOpen()) {
            LOGGER.debug("{} Failure after the end", this, cause);
            return;
        }
        IOException failure = cause instanceof IOException e ? e : new RdmaException("the channel failed: " + cause, cause);
        finish(failure);
    }

    private void finish(IOException cause) {
        RdmaUnsafe unsafe = rdmaUnsafe();
        if (cause != null) {
            unsafe.failFlushed(cause);
            pipeline().fireExceptionCaught(cause);
        }
        unsafe.close(unsafe.voidPromise());
    }

    @Override
    protected void doDisconnect() {
        doClose();
    }

    @Override
    protected void doShutdownOutput() {
        unsafe().close(unsafe().voidPromise()); // one direction cannot be closed alone
    }

    @Override
    protected void doClose() {
        if (!isOpen()) {
            return;
        }
        if (state == State.CONNECTING) {
            rdmaUnsafe().abortConnect();
        }
        state = State.CLOSED;
        if (queuePair != null) {
            draining = new Draining(this, loop, queuePair, work, !endPending);
        } else if (request != null) {
            request.reject(ByteBuffer.allocate(0)); // does nothing if it was rejected before
        }
    }

    /** The loop's context is closed, and all of its channels were. */
    void contextClosed() {
        draining.contextClosed();
    }

    private void connectionEnded() {
        endPending = false;
        if (draining != null) {
            draining.connectionEnded();
        }
    }

    /** What the provider tells about the connection. */
    private final class ConnectionEvents implements QueuePair.Listener {

        @Override
        public void established(ConnectionParameters parameters) {
            if (state != State.CONNECTING) {
                return; // closed in the meantime
            }
            state = State.ACTIVE;
            localSocketAddress = queuePair.localAddress();
            remoteSocketAddress = queuePair.remoteAddress();
            if (request == null) {
                peerPrivateData = copyOf(parameters.privateData());
            }
            LOGGER.debug("{} Connected, {}", RdmaChannel.this, parameters);
            rdmaUnsafe().connected();
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer privateData) {
            connectionEnded();
            if (state == State.CONNECTING) {
                if (request == null) {
                    peerPrivateData = copyOf(privateData);
                }
                rdmaUnsafe().connectFailed(cause);
            }
        }

        @Override
        public void disconnected(IOException cause) {
            connectionEnded();
            if (state == State.CONNECTING) {
                rdmaUnsafe().connectFailed(cause != null ? cause : new ConnectException("connection lost"));
            } else if (isActive()) {
                state = State.ENDED;
                endCause = cause;
                schedule(); // what arrived before the end is read before the end is told
            }
        }
    }

    /** Connecting, with everything that can happen meanwhile. */
    private final class RdmaUnsafe extends AbstractUnsafe {

        private ConnectAttempt attempt; // null if there was none, as on the accepting side

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            if (state != State.OPEN) {
                promise.tryFailure(state == State.CONNECTING && attempt != null ? new ConnectionPendingException()
                        : new AlreadyConnectedException());
                return;
            }
            try {
                if (remoteAddress instanceof InetSocketAddress address && address.isUnresolved()) {
                    throw new UnresolvedAddressException();
                }
                queuePair.connect(remoteAddress, localAddress != null ? localAddress : bindAddress,
                        ByteBuffer.wrap(config.getPrivateData()));
                connecting();
                attempt = ConnectAttempt.start(promise, remoteAddress, config.getConnectTimeoutMillis(), this::connectFailed);
                promise.addListener(future -> {
                    if (future.isCancelled()) {
                        close(voidPromise());
                    }
                });
            } catch (Throwable t) {
                promise.tryFailure(annotateConnectException(t, remoteAddress));
                close(voidPromise());
            }
        }

        void connected() {
            // Completing the promise may close the channel; channelActive is fired all the same, because it was active.
            boolean wanted = attempt == null || attempt.succeed();
            pipeline().fireChannelActive();
            if (!wanted) {
                close(voidPromise()); // cancelled
            }
        }

        void connectFailed(IOException cause) {
            if (attempt != null) {
                attempt.fail(cause instanceof ConnectTimeoutException ? cause
                        : annotateConnectException(cause, attempt.remoteAddress()));
            } else {
                LOGGER.debug("{} Accepting failed", RdmaChannel.this, cause);
            }
            close(voidPromise());
        }

        /** The channel is being closed before there was an outcome. */
        void abortConnect() {
            if (attempt != null) {
                attempt.fail(new ClosedChannelException());
            }
        }

        @Override
        protected void flush0() {
            super.flush0(); // visible to the channel
        }

        /** Closes the channel and fails what was flushed with the cause, not with the fact that the channel is closed. */
        void failFlushed(IOException cause) {
            handleWriteError(cause);
        }
    }
}
