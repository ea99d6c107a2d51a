package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.internal.ObjectUtil;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * A channel whose connection is an RDMA queue pair. It carries messages, not a stream: the peer reads each message as it was
 * written, as one.
 *
 * <h2>Inbound</h2>
 * Every message of the peer is passed on as one {@link ByteBuf}, reader index 0, in registered memory. The pipeline owns its one
 * reference. While no read is wanted ({@code AUTO_READ}) messages stay in their receive buffers, at most
 * {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH}, and the peer is slowed down. Where
 * {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES} is set, they also stay there while the peer does not take what this side sends.
 *
 * <h2>Outbound</h2>
 * {@link ByteBuf} and {@link RdmaSend} send a message, {@link RdmaWrite} and {@link RdmaRead} move bulk data; any other type
 * fails with {@link UnsupportedOperationException}. Messages are sent in the order in which they were written. Their promises
 * complete in this order, each when the device has completed its message. Until then a message counts towards the water marks.
 * Data outside of registered memory ({@link RegisteredByteBufAllocator}) is copied into it and counted. A message that is too
 * long fails alone, and so does an {@link RdmaRead} where {@link RdmaConnectionInfo#outboundReadDepth} is 0, or one of more than
 * {@link RegisteredByteBufAllocator#MAX_POOLED_BYTES} into memory that is not registered. A work request that fails ends the
 * connection, as RDMA demands. The cause is fired as {@code exceptionCaught} and fails everything that was flushed. What is
 * written to an accepted channel before it is active goes out when it becomes active.
 *
 * <h2>Memory exposed to the peer</h2>
 * {@link #expose} opens memory to the peer of this channel until it is invalidated. Where a message of the peer invalidates
 * memory, the user event {@link RemoteInvalidation} says so directly before the message.
 *
 * <h2>Life</h2>
 * The queue pair belongs to the event loop that the channel is registered with. A channel that is deregistered is closed.
 * Half-closure does not exist. When the peer ends the connection, the messages that arrived before are read first. So a channel
 * that has some and does not read stays active until it reads or writes; what it had flushed before fails. One that has none is
 * inactive at once, though it does not read, as a socket would have to. A closed channel is inactive at once. Its buffers are
 * released a moment later, when the device has returned them. Until {@link #releaseFuture} succeeds messages whose promises the
 * close has failed may still be sent, with what is in their memory then.
 */
public final class RdmaChannel extends QueuePairChannel {

    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 128);
    private static final byte[] NO_DATA = {};

    private final RdmaChannelConfig config;

    // Everything below belongs to the event loop, and is there from registration on.
    private QueuePair queuePair;
    private WorkRequests work;
    private InboundDelivery inbound;
    private OutboundFilter outboundFilter;
    private IOException endCause;

    /**
     * A channel to connect with, for {@code Bootstrap.channel(RdmaChannel.class)}.
     */
    public RdmaChannel() {
        this(null, null);
    }

    /** A channel for a connection that a peer asked for; {@code null} without. */
    RdmaChannel(Channel parent, ConnectionRequest request) {
        super(parent, request);
        config = new RdmaChannelConfig(this, this::autoReadCleared, this::receiveBufferSizeSet);
    }

    // --- What users see

    @Override
    public RdmaChannelConfig config() {
        return config;
    }

    /**
     * The private data that the peer sent with its connection request or with its answer, also with a rejection.
     *
     * @return read-only bytes, which need not be released; empty if there were none or the peer has not answered yet
     */
    public ByteBuf peerPrivateData() {
        return connection.peerPrivateData().duplicate();
    }

    /**
     * Refuses the connection request that this channel was made for. A server does so in a handler of its
     * {@link RdmaServerChannel} that finds this channel as a message and does not pass it on.
     *
     * @param privateData tells the peer why, may be empty; at most the provider's maximum
     * @throws IllegalStateException if this channel is not for a request, or has been registered, rejected or closed
     * @throws IllegalArgumentException if there is more data than that; the request still waits for its answer
     */
    public void reject(byte[] privateData) {
        if (!connection.isRequested() || isRegistered() || state() != ChannelState.OPEN) {
            throw new IllegalStateException("only a connection request that has not been taken up can be rejected");
        }
        connection.reject(privateData);
        unsafe().closeForcibly();
    }

    /**
     * The capabilities of the provider of this channel's event loop, which need not be {@link Rdma#provider()}.
     *
     * @return the limits and features, constant
     * @throws IllegalStateException if the channel is not registered
     */
    public Capabilities capabilities() {
        if (io == null) {
            throw new IllegalStateException("the channel is not registered");
        }
        return io.provider().capabilities();
    }

    /**
     * The longest message that can be sent. The peer may be able to receive less; the two sides have to agree on that.
     *
     * @return the provider's limit in bytes
     * @throws IllegalStateException if the channel is not registered
     */
    public int maxSendBytes() {
        return capabilities().maxMessageBytes();
    }

    /**
     * What this side and the peer agreed on when they connected. Any thread.
     *
     * @return the agreement, which stays after the end of the connection; {@code null} until the channel has become active
     */
    public RdmaConnectionInfo connectionInfo() {
        return connection.info();
    }

    /**
     * What the connection has moved in both directions, with the part that has moved of messages, RDMA Reads and Writes which are
     * not complete: {@link #statistics} count them when they are. Event loop only.
     *
     * @return bytes so far; -1 where the device tells of whole ones only, or there is no connection
     */
    public long movedBytes() {
        return queuePair == null ? -1 : queuePair.movedBytes();
    }

    /**
     * How many messages have arrived and were not passed on yet. Each keeps a receive buffer. Event loop only.
     *
     * @return 0 to {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH}
     * @throws IllegalStateException if the channel is not registered
     */
    public int heldMessages() {
        return isRefused() ? 0 : registeredWork().receives().held();
    }

    /**
     * How many messages of {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE}, the largest that it was, this channel may have in
     * memory besides its receives, as its share of a sixteenth of the registered memory of all channels. Where
     * {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES} is set, and larger, this takes its place. Event loop only.
     *
     * @return {@value ConnectionMemory#FEWEST_MESSAGES} or more, less when there are more channels
     * @throws IllegalStateException if the channel is not registered
     */
    public int fairMessages() {
        return isRefused() ? ConnectionMemory.FEWEST_MESSAGES : registeredWork().receives().fairMessages();
    }

    /**
     * How long a message of the peer may be: {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE}, but less while the option was raised
     * and smaller receives are still posted; {@link ReceiveBuffersReplaced} tells their end. Event loop only.
     *
     * @return the size in bytes that every message may have until the option is set again
     * @throws IllegalStateException if the channel is not registered
     */
    public int receivableBytes() {
        return isRefused() ? config.getReceiveBufferSize() : registeredWork().receives().receivableBytes();
    }

    /**
     * Asks how many messages the peer may be allowed to send, and keeps receives for so many until this is called again. With
     * {@link RdmaChannelOption#SHARED_RECEIVES} it is a part of what other channels of the event loop leave, and 1 when the
     * channel is over, for which nothing is kept. Event loop only.
     *
     * @param wanted  so many would do, 1 or more
     * @param besides so many more receives are kept in any case, for messages that nobody is asked for; 0 or more
     * @return 1 to {@code wanted}
     * @throws IllegalStateException    if the channel is not registered
     * @throws IllegalArgumentException if {@code wanted} is not positive, or {@code besides} is negative
     */
    public int reserveReceives(int wanted, int besides) {
        ObjectUtil.checkPositive(wanted, "wanted");
        ObjectUtil.checkPositiveOrZero(besides, "besides");
        return isRefused() ? 1 : registeredWork().receives().reserve(wanted, besides);
    }

    /** Whether there was nothing to make this of. Its handlers are told to begin all the same, and then that it is closed. */
    private boolean isRefused() {
        return work == null && isRegistered() && connection.isRequested();
    }

    private WorkRequests registeredWork() {
        if (work == null) {
            throw new IllegalStateException("the channel is not registered");
        }
        assert eventLoop().inEventLoop();
        return work;
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
     * @throws IllegalArgumentException if the peer may write, and {@code memory} is read-only
     * @throws ClosedChannelException if the channel is not connected
     * @throws RdmaException if the memory is not registered or divided, or the device refuses
     */
    public ExposedMemory expose(ByteBuf memory, int index, int length, RemoteAccess access) throws IOException {
        assert eventLoop().inEventLoop();
        if (state() != ChannelState.ACTIVE) {
            throw new ClosedChannelException();
        }
        return work.exposures().expose(memory, index, length, access);
    }

    // --- Registration

    @Override
    void open() throws IOException {
        config.registered(io.postingTools().registeredAllocator());
        ReceivePool pool = io.joinReceives(config);
        try {
            queuePair = connection.open(io, config.queuePairAttributes(io.provider(), pool == null ? null : pool.queue(),
                    workRequestChannelId()));
            work = new WorkRequests(this, config, io.postingTools(), queuePair, pool,
                    () -> inbound.messageArrived());
            draining = new Draining(this, queuePair, work);
            inbound = new InboundDelivery(this, config, work);
            outboundFilter = new OutboundFilter(io.postingTools(), statistics());
        } catch (Throwable t) {
            try {
                if (queuePair != null) {
                    queuePair.close();
                    queuePair = null;
                }
            } finally {
                if (work != null) {
                    work.receives().close();
                    work = null;
                } else if (pool != null) {
                    pool.leave();
                }
            }
            throw t;
        }
    }

    @Override
    void postReceives() throws IOException {
        work.repost();
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    /**
     * Where this side of the connection is. Any thread.
     *
     * @return the address; before there is a connection the one that was bound to, {@code null} without either
     */
    @Override
    public SocketAddress localAddress() {
        return localAddress0(); // the superclass would keep the address that was bound to, though its port may have been 0
    }

    // --- Inbound

    @Override
    protected void doBeginRead() {
        if (!isRefused()) {
            inbound.beginRead();
        }
    }

    @Override
    void readsCleared() {
        if (!isRefused()) {
            inbound.readsCleared();
        }
    }

    /** What is set before the registration is in time for it. Any thread. */
    private void receiveBufferSizeSet() {
        if (isRegistered() && !isRefused()) {
            onLoop(inbound::receiveBufferSizeSet);
        }
    }

    @Override
    void takeTurn() {
        if (!isOpen()) {
            draining.limitTime();
        }
        try {
            inbound.passOn(io.maxMessagesPerTurn());
            if (state() == ChannelState.ACTIVE) {
                inbound.tellReplacement();
            }
            if (state() == ChannelState.ACTIVE) {
                work.resumeInvalidations();
                if (work.sends().wasFull()) {
                    queuePairUnsafe().flush0();
                }
            }
            if (state() == ChannelState.ENDED && !connection.isEndPending()) {
                if (!work.receives().hasMessage()) {
                    finish(endCause);
                } else if (!inbound.isReadPending()) {
                    failWrites();
                }
            }
        } catch (Throwable t) {
            fail(t);
        }
    }

    /** Who wants no read may be waiting for what it has written, and want one then. What has arrived is kept for it. */
    private void failWrites() {
        work.sends().hold(); // the device may not have returned them yet
        IOException cause = endOfWrites();
        ChannelOutboundBuffer outbound = unsafe().outboundBuffer();
        boolean isLeft = outbound != null;
        while (isLeft) {
            isLeft = outbound.remove(cause);
        }
    }

    private IOException endOfWrites() {
        return endCause != null ? endCause : new ClosedChannelException();
    }

    @Override
    void completed(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                   int vendorError) {
        try {
            work.completed(workRequestId, status, byteLength, invalidated, invalidatedTag, vendorError);
        } catch (Throwable t) {
            fail(t);
        }
        afterCompletion();
    }

    @Override
    void received(ByteBuf buffer, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                  int vendorError) {
        try {
            work.received(buffer, status, byteLength, invalidated, invalidatedTag, vendorError);
        } catch (Throwable t) {
            fail(t);
        }
        afterCompletion();
    }

    private void afterCompletion() {
        if (inbound.isWaitingForCompletions()) {
            schedule();
        }
        if (!isOpen()) {
            proceedWithEnd();
        }
    }

    // --- Outbound

    @Override
    protected Object filterOutboundMessage(Object message) throws Exception {
        if (isRefused()) {
            throw new ClosedChannelException();
        }
        return outboundFilter.filter(message, connection.info());
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        if (state() == ChannelState.ENDED) {
            if (connection.isEndPending()) {
                return; // fails with the cause as soon as that is known
            }
            throw endOfWrites();
        }
        // Repost before sending: a reply makes the peer send its next request, which must find a receive posted.
        work.receives().repost();
        work.sends().postFlushed(in, connection.info().outboundReadDepth() > 0);
        if (isOpen()) { // who hears that an RdmaRead has failed may close it
            queuePair.flush();
        }
    }

    // --- The end

    @Override
    protected void doShutdownOutput() {
        closeNow(); // one direction cannot be closed alone
    }

    @Override
    protected void doClose() {
        if (!isOpen()) {
            return;
        }
        try {
            if (work != null) {
                work.sends().hold();
            }
        } finally {
            end();
        }
    }

    /** Where a step fails, for instance for want of memory, the queue pair ends all the same. */
    private void end() {
        boolean wasConnecting = state() == ChannelState.CONNECTING;
        try {
            connectionIs(ChannelState.CLOSED);
            uncounted();
            if (wasConnecting) {
                connection.abort();
            }
            if (draining == null && connection.isRequested()) {
                connection.reject(NO_DATA); // does nothing if it was rejected before
            }
        } finally {
            if (draining != null) {
                draining.start();
            } else {
                released();
            }
        }
    }

    @Override
    void released() {
        try {
            if (work != null) {
                work.receives().close();
            }
        } finally { // what is shared cannot be closed where the queue pair could not
            super.released();
        }
    }

    // --- What the connection tells

    @Override
    void disconnected(IOException cause) {
        if (isActive()) {
            connectionIs(ChannelState.ENDED);
            endCause = cause;
            schedule(); // what arrived before the end is read before the end is told
        }
    }

    @Override
    int closeTimeoutMillis() {
        return config.getCloseTimeoutMillis();
    }

    @Override
    byte[] privateData() {
        return config.getPrivateData();
    }
}
