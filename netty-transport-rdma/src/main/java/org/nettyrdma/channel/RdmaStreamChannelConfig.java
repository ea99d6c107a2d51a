package org.nettyrdma.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.internal.ObjectUtil;
import java.util.Map;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * The settings of one {@link RdmaStreamChannel}. {@code SO_RCVBUF} is how large the receive ring may grow, and
 * {@code SO_SNDBUF} how much may be posted and not sent, in bytes; both count when the channel is registered or connected.
 * {@code SO_RCVBUF} is raised to {@value #MIN_RECEIVE_BUFFER_BYTES}, with which each ring begins, as systems do for TCP. No ring
 * grows beyond 32 MiB, as no piece of registered memory is larger than half of that.
 * The water marks are Netty's above {@code SO_SNDBUF} unless others are set: what is posted counts, too, and with TCP would be in
 * the send buffer of the socket. With many channels each has its share only, a sixteenth of the registered memory divided by
 * their number, in the place of {@code SO_SNDBUF}; so have the water marks from the registration on.
 * {@code SO_LINGER} 0 cuts the connection at the close; other values change nothing. {@code TCP_NODELAY}, {@code SO_KEEPALIVE},
 * {@code IP_TOS}, {@code SO_REUSEADDR} and {@code TCP_FASTOPEN_CONNECT} are kept and mean nothing here.
 *
 * <p>The allocator is the {@link RegisteredByteBufAllocator} of the event loop's provider unless another is set.
 */
final class RdmaStreamChannelConfig extends DefaultChannelConfig implements SocketChannelConfig {

    private static final OptionTable<RdmaStreamChannelConfig> OPTIONS = new OptionTable<RdmaStreamChannelConfig>()
            .with(ChannelOption.TCP_NODELAY, config -> config.tcpNoDelay, RdmaStreamChannelConfig::setTcpNoDelay)
            .with(ChannelOption.SO_LINGER, config -> config.soLinger, RdmaStreamChannelConfig::setSoLinger)
            .with(ChannelOption.SO_SNDBUF, config -> config.sendBufferSize, RdmaStreamChannelConfig::setSendBufferSize)
            .with(ChannelOption.SO_RCVBUF, config -> config.receiveBufferSize, RdmaStreamChannelConfig::setReceiveBufferSize)
            .with(ChannelOption.SO_KEEPALIVE, config -> config.keepAlive, RdmaStreamChannelConfig::setKeepAlive)
            .with(ChannelOption.IP_TOS, config -> config.trafficClass, RdmaStreamChannelConfig::setTrafficClass)
            .with(ChannelOption.SO_REUSEADDR, config -> config.reuseAddress, RdmaStreamChannelConfig::setReuseAddress)
            .with(ChannelOption.ALLOW_HALF_CLOSURE, config -> config.allowHalfClosure,
                    RdmaStreamChannelConfig::setAllowHalfClosure)
            .with(ChannelOption.TCP_FASTOPEN_CONNECT, config -> config.fastOpen, (config, value) -> config.fastOpen = value)
            .with(RdmaChannelOption.CHECKSUM, config -> config.checksum, (config, value) -> config.checksum = value)
            .with(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, config -> config.closeTimeoutMillis,
                    RdmaStreamChannelConfig::setCloseTimeoutMillis);

    /** Of a few bytes each message would carry as many, and take a turn of both ends. */
    static final int MIN_RECEIVE_BUFFER_BYTES = 2 * StreamRing.FIRST_BLOCK_BYTES;
    private static final int MAX_TRAFFIC_CLASS = 255;

    private final Runnable readsCleared;
    private boolean allocatorSet;
    private boolean waterMarkSet;
    private volatile boolean tcpNoDelay = true;
    private volatile int soLinger = -1;
    private volatile int sendBufferSize = 256 << 10;
    private volatile int receiveBufferSize = 256 << 10;
    private volatile boolean keepAlive;
    private volatile int trafficClass;
    private volatile boolean reuseAddress;
    private volatile boolean allowHalfClosure;
    private volatile boolean fastOpen;
    private volatile boolean checksum;
    private volatile int closeTimeoutMillis = 2000;

    /** Of a channel that is told when no read is wanted any more. Any thread. */
    RdmaStreamChannelConfig(Channel channel, Runnable readsCleared) {
        super(channel);
        this.readsCleared = readsCleared;
        waterMarkAbove(sendBufferSize);
    }

    /** Handlers that write as long as the channel is writable, as those of HTTP/2, fill the send buffer. */
    private synchronized void waterMarkAbove(int bytes) {
        if (!waterMarkSet) {
            WriteBufferWaterMark above = WriteBufferWaterMark.DEFAULT;
            int most = Math.min(bytes, Integer.MAX_VALUE - above.high());
            super.setWriteBufferWaterMark(new WriteBufferWaterMark(most + above.low(), most + above.high()));
        }
    }

    /** The channel has got its event loop, hence its provider. */
    synchronized void registered(RegisteredByteBufAllocator allocator) {
        if (!allocatorSet) {
            super.setAllocator(allocator);
        }
        waterMarkAbove(Math.min(sendBufferSize, allocator.connectionMemory().shareOf(1)));
    }

    /** What a queue pair is created with. RDMA Reads are not used; one each way as a peer in C asks for. */
    QueuePairAttributes queuePairAttributes(VerbsProvider provider) {
        int depth = Math.min(1, provider.capabilities().maxReadDepth());
        return new QueuePairAttributes(StreamMemory.SENDS + StreamRing.MAX_WITHDRAWALS, StreamMemory.RECEIVES, depth, depth,
                checksum, closeTimeoutMillis);
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

    @Override
    public boolean isTcpNoDelay() {
        return tcpNoDelay;
    }

    @Override
    public RdmaStreamChannelConfig setTcpNoDelay(boolean value) {
        tcpNoDelay = value;
        return this;
    }

    @Override
    public int getSoLinger() {
        return soLinger;
    }

    @Override
    public RdmaStreamChannelConfig setSoLinger(int value) {
        soLinger = Math.max(value, -1);
        return this;
    }

    @Override
    public int getSendBufferSize() {
        return sendBufferSize;
    }

    @Override
    public RdmaStreamChannelConfig setSendBufferSize(int value) {
        sendBufferSize = ObjectUtil.checkPositive(value, "sendBufferSize");
        waterMarkAbove(value);
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return receiveBufferSize;
    }

    @Override
    public RdmaStreamChannelConfig setReceiveBufferSize(int value) {
        receiveBufferSize = Math.max(ObjectUtil.checkPositive(value, "receiveBufferSize"), MIN_RECEIVE_BUFFER_BYTES);
        return this;
    }

    @Override
    public boolean isKeepAlive() {
        return keepAlive;
    }

    @Override
    public RdmaStreamChannelConfig setKeepAlive(boolean value) {
        keepAlive = value;
        return this;
    }

    @Override
    public int getTrafficClass() {
        return trafficClass;
    }

    @Override
    public RdmaStreamChannelConfig setTrafficClass(int value) {
        trafficClass = ObjectUtil.checkInRange(value, 0, MAX_TRAFFIC_CLASS, "trafficClass");
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public RdmaStreamChannelConfig setReuseAddress(boolean value) {
        reuseAddress = value;
        return this;
    }

    @Override
    public boolean isAllowHalfClosure() {
        return allowHalfClosure;
    }

    @Override
    public RdmaStreamChannelConfig setAllowHalfClosure(boolean value) {
        allowHalfClosure = value;
        return this;
    }

    int getCloseTimeoutMillis() {
        return closeTimeoutMillis;
    }

    private void setCloseTimeoutMillis(int value) {
        closeTimeoutMillis = ObjectUtil.checkPositive(value, "closeTimeoutMillis");
    }

    @Override
    public RdmaStreamChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this; // as with TCP on most systems
    }

    @Override
    @Deprecated
    public RdmaStreamChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public synchronized RdmaStreamChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
        super.setWriteBufferWaterMark(waterMark);
        waterMarkSet = true;
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setWriteBufferHighWaterMark(int bytes) {
        leaveDefaultWaterMark();
        super.setWriteBufferHighWaterMark(bytes);
        return this;
    }

    @Override
    public RdmaStreamChannelConfig setWriteBufferLowWaterMark(int bytes) {
        leaveDefaultWaterMark();
        super.setWriteBufferLowWaterMark(bytes);
        return this;
    }

    /** The mark that is not set is Netty's, so that one which a program has chosen for Netty's channels fits the other. */
    private synchronized void leaveDefaultWaterMark() {
        if (!waterMarkSet) {
            setWriteBufferWaterMark(WriteBufferWaterMark.DEFAULT);
        }
    }

    @Override
    public RdmaStreamChannelConfig setAutoClose(boolean autoClose) {
        super.setAutoClose(autoClose);
        return this;
    }

    @Override
    public synchronized RdmaStreamChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        allocatorSet = true;
        return this;
    }

    @Override
    protected void autoReadCleared() {
        readsCleared.run();
    }
}
