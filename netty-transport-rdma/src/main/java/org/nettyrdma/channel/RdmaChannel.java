package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.UnresolvedAddressException;
import java.util.concurrent.TimeUnit;
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
 * Half-closure does not exist. A channel that is closed is inactive at once, but its buffers are released only when the
 * device has returned them, a moment later.
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
        /** Closed, but the device still holds buffers or has not reported the end of the connection. */
        DRAINING,
        /** Over. */
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
    private ReceiveQueue receiveQueue;
    private SendQueue sendQueue;
    private ExposureTable exposures;
    private OutboundFilter outboundFilter;
    private SocketAddress bindAddress;
    private boolean endPending;       // a connection that stands or comes about has not been reported as ended
    private IOException endCause;
    private Future<?> drainTimeout;
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
        if (length < 1 || index < 0 || index > memory.capacity() - length) {
            throw new IndexOutOfBoundsException("index: " + index + ", length: " + length + " (expected: a piece of "
                    + memory + ')');
        }
        return exposures.expose(memory, index, length, access);
    }

    /** Withdraws exposed memory. */
    void invalidate(ExposedMemory exposed) {
        if (state == State.DRAINING) {
            return; // soon over, see closeIfDrained
        }
        try {
            exposures.invalidate(exposed);
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
        requireDepth(config.getReceiveQueueDepth(), RdmaChannelOption.RECEIVE_QUEUE_DEPTH);
        requireDepth(config.getSendQueueDepth(), RdmaChannelOption.SEND_QUEUE_DEPTH);
        VerbsContext context = loop.context();
        QueuePairAttributes attributes = new QueuePairAttributes(config.getSendQueueDepth(), config.getReceiveQueueDepth(),
                config.getInboundReadDepth(), config.getOutboundReadDepth(), config.isChecksum(), config.getCloseTimeoutMillis());
        ConnectionEvents events = new ConnectionEvents();
        queuePair = request == null ? context.createQueuePair(attributes, events)
                : context.createQueuePair(attributes, events, request);
        workRequestChannelId = loop.add(this);
        receiveQueue = new ReceiveQueue(loop, queuePair, workRequestChannelId, config);
        sendQueue = new SendQueue(loop, queuePair, workRequestChannelId, config, statistics);
        exposures = new ExposureTable(this, loop, queuePair, workRequestChannelId, sendQueue);
        outboundFilter = new OutboundFilter(loop, statistics);
        // Receives come before the connection, so that the peer's first message never finds none.
        receiveQueue.repost();
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

    private void requireDepth(int depth, ChannelOption<Integer> option) throws RdmaException {
        int limit = loop.provider().capabilities().maxQueueDepth();
        if (depth > limit) {
            throw new RdmaException(option + ": " + depth + " (provider " + loop.provider().name() + " allows " + limit + ')');
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
        return state.compareTo(State.DRAINING) < 0;
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
        if (receiveQueue.hasMessage()) {
            schedule();
        }
    }

    /** No read is wanted any more. Any thread. */
    void clearReadPending() {
        if (isRegistered()) {
            if (eventLoop().inEventLoop()) {
                readPending = false;
            } else {
                eventLoop().execute(() -> readPending = config.isAutoRead());
            }
        }
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            loop.schedule(this);
        }
    }

    /** What is left to do after the completions of one poll were taken up. */
    void takeTurn() {
        scheduled = false;
        try {
            if (readPending && receiveQueue.hasMessage()) {
                passOnMessages();
            }
            if (state == State.ACTIVE) {
                exposures.resume();
                if (sendQueue.wasFull()) {
                    rdmaUnsafe().flush0();
                }
            }
            if (state == State.ENDED && !endPending && !receiveQueue.hasMessage()) {
                finish(endCause);
            }
        } catch (Throwable t) {
            fail(t);
        }
    }

    private void passOnMessages() throws IOException {
        var handle = unsafe().recvBufAllocHandle();
        handle.reset(config);
        do {
            ByteBuf message = receiveQueue.take();
            handle.incMessagesRead(1);
            handle.lastBytesRead(message.readableBytes());
            readPending = false;
            pipeline().fireChannelRead(message);
        } while (receiveQueue.hasMessage() && handle.continueReading());
        if (state == State.ACTIVE) {
            receiveQueue.repost();
            queuePair.flush();
        }
        handle.readComplete();
        pipeline().fireChannelReadComplete(); // reads on if AUTO_READ is set
    }

    // --- Completions

    /** A work request has completed; {@link CompletionHandler} tells when the values are valid. */
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        int slot = WorkRequestId.slot(workRequestId);
        try {
            switch (WorkRequestId.kind(workRequestId)) {
                case WorkRequestId.RECEIVE -> receiveCompleted(slot, status, byteLength, invalidated, invalidatedTag);
                case WorkRequestId.SEND -> sendCompleted(slot, status);
                case WorkRequestId.INVALIDATE -> invalidateCompleted(slot, status);
                default -> throw new IllegalStateException("work request id " + Long.toHexString(workRequestId));
            }
            if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                statistics.increment(Counter.FLUSHED_WORK_REQUESTS);
                if (state == State.ACTIVE) {
                    state = State.ENDED; // why will be told with the disconnect
                }
            } else if (status != WorkCompletionStatus.SUCCESS) {
                fail(new RdmaException(nameOf(workRequestId), status, vendorError));
            }
        } catch (Throwable t) {
            fail(t);
        }
        closeIfDrained();
    }

    private static String nameOf(long workRequestId) {
        return switch (WorkRequestId.kind(workRequestId)) {
            case WorkRequestId.RECEIVE -> "receiving a message";
            case WorkRequestId.SEND -> "a Send, RDMA Write or RDMA Read";
            default -> "invalidating a steering tag";
        };
    }

    private void receiveCompleted(int slot, WorkCompletionStatus status, int byteLength, boolean invalidated,
                                  int invalidatedTag) {
        if (status != WorkCompletionStatus.SUCCESS) {
            receiveQueue.flushed(slot);
            return;
        }
        receiveQueue.completed(slot, byteLength);
        statistics.increment(Counter.RECEIVES);
        statistics.add(Counter.RECEIVED_BYTES, byteLength);
        if (invalidated) {
            exposures.invalidatedByPeer(invalidatedTag);
        }
        if (state == State.DRAINING) {
            receiveQueue.releaseMessages();
        } else if (readPending) {
            schedule();
        } else {
            statistics.increment(Counter.RECEIVES_HELD_BACK);
        }
    }

    private void sendCompleted(int slot, WorkCompletionStatus status) {
        boolean success = status == WorkCompletionStatus.SUCCESS;
        Object message = sendQueue.complete(slot, success);
        if (success) {
            confirm(message);
            resumeWhatWaits();
        }
    }

    /** Takes a completed message out of the outbound buffer, which completes its promise. */
    private void confirm(Object message) {
        ChannelOutboundBuffer in = unsafe().outboundBuffer();
        if (in == null) {
            return; // closed: Netty has failed the promise already
        }
        while (in.current() != message) {
            // Entries that were cancelled before they were flushed have become empty buffers. They were never posted.
            if (in.current() != Unpooled.EMPTY_BUFFER) {
                throw new IllegalStateException("completed: " + message + ", but the oldest message is " + in.current());
            }
            in.remove();
        }
        in.remove();
    }

    private void invalidateCompleted(int slot, WorkCompletionStatus status) {
        ExposedMemory exposed = exposures.complete(slot);
        if (status == WorkCompletionStatus.SUCCESS) {
            exposures.finish(exposed);
            resumeWhatWaits();
        } // else the end of the connection invalidates it
    }

    private void resumeWhatWaits() {
        if (sendQueue.wasFull() || exposures.isWaiting()) {
            schedule(); // once for all completions of a poll
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
        receiveQueue.repost();
        sendQueue.postFlushed(in);
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
        rdmaUnsafe().abortConnect();
        if (queuePair == null) {
            state = State.CLOSED;
            if (request != null) {
                request.reject(ByteBuffer.allocate(0)); // does nothing if it has become a queue pair or was rejected
            }
            return;
        }
        state = State.DRAINING;
        receiveQueue.releaseMessages();
        queuePair.moveToError(); // from here on the device returns every buffer it has
        drainTimeout = loop.schedule(this::giveUp, config.getCloseTimeoutMillis(), TimeUnit.MILLISECONDS);
        closeIfDrained();
    }

    /** Frees the queue pair when the device has nothing of ours any more. */
    private void closeIfDrained() {
        if (state == State.DRAINING && outstanding() == 0 && !endPending) {
            closed();
        }
    }

    private int outstanding() {
        return receiveQueue.posted() + sendQueue.outstanding() + exposures.outstanding();
    }

    private void closed() {
        state = State.CLOSED;
        drainTimeout.cancel(false);
        queuePair.close();
        exposures.closed();
        loop.remove(this);
    }

    /** The time for draining is over. Buffers that the device still has are never used again: that could be worse. */
    private void giveUp() {
        if (state != State.DRAINING) {
            return;
        }
        int leaked = receiveQueue.posted() + sendQueue.outstanding();
        if (leaked > 0) {
            statistics.add(Counter.BUFFERS_LEAKED_ON_PURPOSE, leaked);
            LOGGER.warn("{} The device has not returned {} buffers within {} ms of the close; they are given up", this, leaked,
                    config.getCloseTimeoutMillis());
        }
        closed();
    }

    /** The loop's context is closed: no completion will come any more, and the device has lost all access. */
    void contextClosed() {
        if (state == State.DRAINING) {
            receiveQueue.releasePosted();
            sendQueue.releasePosted();
            exposures.closed();
            drainTimeout.cancel(false);
            state = State.CLOSED;
            loop.remove(this);
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
            endPending = false;
            if (state == State.CONNECTING) {
                peerPrivateData = request == null ? copyOf(privateData) : peerPrivateData;
                rdmaUnsafe().connectFailed(cause);
            }
            closeIfDrained();
        }

        @Override
        public void disconnected(IOException cause) {
            endPending = false;
            switch (state) {
                case CONNECTING -> rdmaUnsafe().connectFailed(cause != null ? cause : new ConnectException("connection lost"));
                case ACTIVE, ENDED -> {
                    state = State.ENDED;
                    endCause = cause;
                    schedule(); // what arrived before the end is read before the end is told
                }
                default -> closeIfDrained();
            }
        }
    }

    /** Connecting, with everything that can happen meanwhile. */
    private final class RdmaUnsafe extends AbstractUnsafe {

        private ConnectAttempt attempt;

        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            if (state != State.OPEN) {
                promise.tryFailure(attempt != null ? new ConnectionPendingException() : new AlreadyConnectedException());
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
            ConnectAttempt succeeded = endAttempt();
            // Completing the promise may close the channel; channelActive is fired all the same, because it was active.
            boolean wanted = succeeded == null || succeeded.promise().trySuccess();
            pipeline().fireChannelActive();
            if (!wanted) {
                close(voidPromise()); // cancelled
            }
        }

        void connectFailed(IOException cause) {
            ConnectAttempt failed = endAttempt();
            if (failed != null) {
                failed.promise().tryFailure(annotateConnectException(cause, failed.remoteAddress()));
            } else {
                LOGGER.debug("{} Accepting failed", RdmaChannel.this, cause);
            }
            close(voidPromise());
        }

        /** The channel is being closed before there was an outcome. */
        void abortConnect() {
            ConnectAttempt aborted = endAttempt();
            if (aborted != null) {
                aborted.promise().tryFailure(new ClosedChannelException());
            }
        }

        private ConnectAttempt endAttempt() {
            ConnectAttempt ended = attempt;
            attempt = null;
            if (ended != null) {
                ended.end();
            }
            return ended;
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
