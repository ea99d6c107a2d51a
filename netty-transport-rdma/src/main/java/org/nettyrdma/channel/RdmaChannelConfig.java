package org.nettyrdma.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.internal.ObjectUtil;
import java.util.Map;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * The settings of one {@link RdmaChannel}; {@link RdmaChannelOption} describes each. The setters throw
 * {@link IllegalStateException} once the channel is registered, except those that say that they can be called later.
 *
 * <p>The allocator is the {@link RegisteredByteBufAllocator} of the event loop's provider unless another is set. Messages are
 * always received into memory of that allocator, because the device can reach no other memory.
 */
public final class RdmaChannelConfig extends DefaultChannelConfig {

    private static final OptionTable<RdmaChannelConfig> OPTIONS = new OptionTable<RdmaChannelConfig>()
            .with(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, config -> config.receiveQueueDepth,
                    RdmaChannelConfig::setReceiveQueueDepth)
            .with(RdmaChannelOption.RECEIVE_BUFFER_SIZE, config -> config.receiveBufferSize,
                    RdmaChannelConfig::setReceiveBufferSize)
            .with(RdmaChannelOption.SHARED_RECEIVES, config -> config.sharedReceives, RdmaChannelConfig::setSharedReceives)
            .with(RdmaChannelOption.LONG_RECEIVES, config -> config.longReceives, RdmaChannelConfig::setLongReceives)
            .with(RdmaChannelOption.SEND_QUEUE_DEPTH, config -> config.sendQueueDepth, RdmaChannelConfig::setSendQueueDepth)
            .with(RdmaChannelOption.MAX_OUTBOUND_MESSAGES, config -> config.maxOutboundMessages,
                    RdmaChannelConfig::setMaxOutboundMessages)
            .with(RdmaChannelOption.INBOUND_READ_DEPTH, config -> config.inboundReadDepth,
                    RdmaChannelConfig::setInboundReadDepth)
            .with(RdmaChannelOption.OUTBOUND_READ_DEPTH, config -> config.outboundReadDepth,
                    RdmaChannelConfig::setOutboundReadDepth)
            .with(RdmaChannelOption.PRIVATE_DATA, RdmaChannelConfig::getPrivateData, RdmaChannelConfig::setPrivateData)
            .with(RdmaChannelOption.CHECKSUM, config -> config.checksum, RdmaChannelConfig::setChecksum)
            .with(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, config -> config.closeTimeoutMillis,
                    RdmaChannelConfig::setCloseTimeoutMillis);

    /** A receive is one message; how long it may get is decided when it is posted, not guessed when it is read. */
    private static final int ONE_MESSAGE = 1;

    private static final byte[] NO_PRIVATE_DATA = {};

    private volatile int receiveQueueDepth = 128;
    private volatile int receiveBufferSize = 4096;
    private volatile boolean sharedReceives = true;
    private volatile boolean longReceives;
    private volatile int sendQueueDepth = 256;
    private volatile int maxOutboundMessages = Integer.MAX_VALUE;
    private volatile int inboundReadDepth = 16;
    private volatile int outboundReadDepth = 16;
    private volatile byte[] privateData = NO_PRIVATE_DATA;
    private volatile boolean checksum;
    private volatile int closeTimeoutMillis = 2000;
    private boolean allocatorSet;
    private final Runnable readsCleared;
    private final Runnable receiveBufferSizeSet;

    /** Of a channel that is told when no read is wanted any more, and of another size of receives. Any thread. */
    RdmaChannelConfig(Channel channel, Runnable readsCleared, Runnable receiveBufferSizeSet) {
        super(channel, new FixedRecvByteBufAllocator(ONE_MESSAGE).respectMaybeMoreData(false));
        this.readsCleared = readsCleared;
        this.receiveBufferSizeSet = receiveBufferSizeSet;
        setMessageSizeEstimator(new OperationSizeEstimator());
    }

    /** The channel has got its event loop, hence its provider. */
    synchronized void registered(RegisteredByteBufAllocator allocator) {
        if (!allocatorSet) {
            super.setAllocator(allocator);
        }
    }

    /** What a queue pair is created with. */
    QueuePairAttributes queuePairAttributes(VerbsProvider provider, SharedReceiveQueue shared, int queuePairNumber)
            throws RdmaException {
        requireDepth(receiveQueueDepth, RdmaChannelOption.RECEIVE_QUEUE_DEPTH, provider);
        requireDepth(sendQueueDepth, RdmaChannelOption.SEND_QUEUE_DEPTH, provider);
        int mostReads = provider.capabilities().maxReadDepth();
        return new QueuePairAttributes(sendQueueDepth, receiveQueueDepth, Math.min(inboundReadDepth, mostReads),
                Math.min(outboundReadDepth, mostReads), checksum, closeTimeoutMillis, shared, queuePairNumber);
    }

    private static void requireDepth(int depth, ChannelOption<Integer> option, VerbsProvider provider) throws RdmaException {
        int limit = provider.capabilities().maxQueueDepth();
        if (depth > limit) {
            throw new RdmaException(option + ": " + depth + " (provider " + provider.name() + " allows " + limit + ')');
        }
    }

    @Override
    public Map<ChannelOption<?>, Object> getOptions() {
        return getOptions(super.getOptions(), OPTIONS.options());
    }

    @Override
    public <T> T getOption(ChannelOption<T> option) {
        T value = OPTIONS.get(this, option);
        return value != null ? value : super.getOption(option);
    }

    @Override
    public <T> boolean setOption(ChannelOption<T> option, T value) {
        validate(option, value);
        return OPTIONS.set(this, option, value) || super.setOption(option, value);
    }

    /**
     * See {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH}.
     *
     * @return receives kept posted, in buffers
     */
    public int getReceiveQueueDepth() {
        return receiveQueueDepth;
    }

    /**
     * See {@link RdmaChannelOption#RECEIVE_QUEUE_DEPTH}.
     *
     * @param buffers receives kept posted, 1 to 16777216
     * @return this
     * @throws IllegalArgumentException if the value is out of range
     */
    public RdmaChannelConfig setReceiveQueueDepth(int buffers) {
        requireUnregistered("receiveQueueDepth");
        receiveQueueDepth = ObjectUtil.checkInRange(buffers, 1, WorkRequestId.MAX_SLOT + 1, "receiveQueueDepth");
        return this;
    }

    /**
     * See {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE}.
     *
     * @return largest message that can be received, in bytes
     */
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    /**
     * See {@link RdmaChannelOption#RECEIVE_BUFFER_SIZE}. At any time, by any thread.
     *
     * @param bytes largest message that can be received, 1 to {@link RegisteredByteBufAllocator#MAX_POOLED_BYTES}
     * @return this
     * @throws IllegalArgumentException if the value is out of range
     */
    public RdmaChannelConfig setReceiveBufferSize(int bytes) {
        receiveBufferSize =
                ObjectUtil.checkInRange(bytes, 1, RegisteredByteBufAllocator.MAX_POOLED_BYTES, "receiveBufferSize");
        receiveBufferSizeSet.run();
        return this;
    }

    /**
     * See {@link RdmaChannelOption#SHARED_RECEIVES}.
     *
     * @return whether the channel may use the receives of its event loop
     */
    public boolean isSharedReceives() {
        return sharedReceives;
    }

    /**
     * See {@link RdmaChannelOption#SHARED_RECEIVES}.
     *
     * @param shared whether the channel may use the receives of its event loop
     * @return this
     */
    public RdmaChannelConfig setSharedReceives(boolean shared) {
        requireUnregistered("sharedReceives");
        sharedReceives = shared;
        return this;
    }

    /**
     * See {@link RdmaChannelOption#LONG_RECEIVES}.
     *
     * @return whether the channel may have longer receives
     */
    public boolean isLongReceives() {
        return longReceives;
    }

    /**
     * See {@link RdmaChannelOption#LONG_RECEIVES}.
     *
     * @param wanted whether the channel may have longer receives
     * @return this
     */
    public RdmaChannelConfig setLongReceives(boolean wanted) {
        requireUnregistered("longReceives");
        longReceives = wanted;
        return this;
    }

    /**
     * See {@link RdmaChannelOption#SEND_QUEUE_DEPTH}.
     *
     * @return Sends, RDMA Writes and RDMA Reads that can be outstanding
     */
    public int getSendQueueDepth() {
        return sendQueueDepth;
    }

    /**
     * See {@link RdmaChannelOption#SEND_QUEUE_DEPTH}.
     *
     * @param workRequests Sends, RDMA Writes and RDMA Reads that can be outstanding, 1 to 16777216
     * @return this
     * @throws IllegalArgumentException if the value is out of range
     */
    public RdmaChannelConfig setSendQueueDepth(int workRequests) {
        requireUnregistered("sendQueueDepth");
        sendQueueDepth = ObjectUtil.checkInRange(workRequests, 1, WorkRequestId.MAX_SLOT + 1, "sendQueueDepth");
        return this;
    }

    /**
     * See {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES}. Any thread.
     *
     * @return messages not completed beyond which nothing is passed on
     */
    public int getMaxOutboundMessages() {
        return maxOutboundMessages;
    }

    /**
     * See {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES}. At any time, by any thread; a change takes effect with the next
     * message of the peer.
     *
     * @param messages messages not completed beyond which nothing is passed on, at least 1
     * @return this
     * @throws IllegalArgumentException if the value is not positive
     */
    public RdmaChannelConfig setMaxOutboundMessages(int messages) {
        maxOutboundMessages = ObjectUtil.checkPositive(messages, "maxOutboundMessages");
        return this;
    }

    /**
     * See {@link RdmaChannelOption#INBOUND_READ_DEPTH}.
     *
     * @return RDMA Reads that the peer may have outstanding
     */
    public int getInboundReadDepth() {
        return inboundReadDepth;
    }

    /**
     * See {@link RdmaChannelOption#INBOUND_READ_DEPTH}.
     *
     * @param reads RDMA Reads that the peer may have outstanding, not negative
     * @return this
     * @throws IllegalArgumentException if the value is negative
     */
    public RdmaChannelConfig setInboundReadDepth(int reads) {
        requireUnregistered("inboundReadDepth");
        inboundReadDepth = ObjectUtil.checkPositiveOrZero(reads, "inboundReadDepth");
        return this;
    }

    /**
     * See {@link RdmaChannelOption#OUTBOUND_READ_DEPTH}.
     *
     * @return RDMA Reads that this side keeps outstanding
     */
    public int getOutboundReadDepth() {
        return outboundReadDepth;
    }

    /**
     * See {@link RdmaChannelOption#OUTBOUND_READ_DEPTH}.
     *
     * @param reads RDMA Reads that this side keeps outstanding, not negative
     * @return this
     * @throws IllegalArgumentException if the value is negative
     */
    public RdmaChannelConfig setOutboundReadDepth(int reads) {
        requireUnregistered("outboundReadDepth");
        outboundReadDepth = ObjectUtil.checkPositiveOrZero(reads, "outboundReadDepth");
        return this;
    }

    /**
     * See {@link RdmaChannelOption#PRIVATE_DATA}.
     *
     * @return a copy of the bytes sent with the connection request or its answer
     */
    public byte[] getPrivateData() {
        return privateData.clone();
    }

    /**
     * See {@link RdmaChannelOption#PRIVATE_DATA}. Until the channel connects, by any thread; later it changes nothing.
     *
     * @param bytes sent with the connection request or its answer; copied
     * @return this
     */
    public RdmaChannelConfig setPrivateData(byte[] bytes) {
        privateData = bytes.clone();
        return this;
    }

    /**
     * See {@link RdmaChannelOption#CHECKSUM}.
     *
     * @return whether this side asks for a checksum
     */
    public boolean isChecksum() {
        return checksum;
    }

    /**
     * See {@link RdmaChannelOption#CHECKSUM}.
     *
     * @param ask whether to ask for a checksum
     * @return this
     */
    public RdmaChannelConfig setChecksum(boolean ask) {
        requireUnregistered("checksum");
        checksum = ask;
        return this;
    }

    /**
     * See {@link RdmaChannelOption#CLOSE_TIMEOUT_MILLIS}.
     *
     * @return how long a closed channel waits for its buffers, in milliseconds
     */
    public int getCloseTimeoutMillis() {
        return closeTimeoutMillis;
    }

    /**
     * See {@link RdmaChannelOption#CLOSE_TIMEOUT_MILLIS}.
     *
     * @param millis how long a closed channel waits for its buffers, at least 1
     * @return this
     * @throws IllegalArgumentException if the value is not positive
     */
    public RdmaChannelConfig setCloseTimeoutMillis(int millis) {
        requireUnregistered("closeTimeoutMillis");
        closeTimeoutMillis = ObjectUtil.checkPositive(millis, "closeTimeoutMillis");
        return this;
    }

    private void requireUnregistered(String option) {
        if (channel.isRegistered()) {
            throw new IllegalStateException(option + ": can be set only before the channel is registered");
        }
    }

    @Override
    public synchronized RdmaChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        allocatorSet = true;
        return this;
    }

    @Override
    protected void autoReadCleared() {
        readsCleared.run();
    }
}
