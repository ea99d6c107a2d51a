package org.nettyrdma.channel;

import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.DefaultChannelConfig;
import io.netty.channel.MessageSizeEstimator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.ServerSocketChannelConfig;
import io.netty.util.NetUtil;
import io.netty.util.internal.ObjectUtil;
import java.util.Map;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.verbs.ListenAttributes;

/**
 * The settings of one {@link RdmaServerChannel} or {@link RdmaServerStreamChannel}: {@code SO_BACKLOG}
 * (default: the system's, as with 0), {@code SO_REUSEADDR} (default {@code true}, as for Netty's server sockets on Linux),
 * {@code SO_RCVBUF} (bytes, of the connections that will be accepted;
 * default 0, the system's choice), {@link RdmaChannelOption#REQUEST_TIMEOUT_MILLIS},
 * {@link RdmaChannelOption#MAX_PENDING_REQUESTS}, {@link RdmaChannelOption#MAX_PENDING_REQUESTS_PER_ADDRESS},
 * {@link RdmaChannelOption#MAX_CONNECTIONS} and {@link RdmaChannelOption#MAX_CONNECTIONS_PER_ADDRESS}. All take effect when the
 * channel is bound; the setters throw {@link IllegalStateException} afterwards.
 */
final class RdmaServerChannelConfig extends DefaultChannelConfig implements ServerSocketChannelConfig {

    private static final OptionTable<RdmaServerChannelConfig> OPTIONS = new OptionTable<RdmaServerChannelConfig>()
            .with(ChannelOption.SO_BACKLOG, config -> config.backlog, RdmaServerChannelConfig::setBacklog)
            .with(ChannelOption.SO_REUSEADDR, config -> config.reuseAddress, RdmaServerChannelConfig::setReuseAddress)
            .with(ChannelOption.SO_RCVBUF, config -> config.receiveBufferBytes, RdmaServerChannelConfig::setReceiveBufferSize)
            .with(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, config -> config.requestTimeoutMillis,
                    (config, value) -> config.requestTimeoutMillis = config.positive(value, "requestTimeoutMillis"))
            .with(RdmaChannelOption.MAX_PENDING_REQUESTS, config -> config.maxPendingRequests,
                    (config, value) -> config.maxPendingRequests = config.positive(value, "maxPendingRequests"))
            .with(RdmaChannelOption.MAX_PENDING_REQUESTS_PER_ADDRESS, config -> config.maxPendingRequestsPerAddress,
                    (config, value) -> config.maxPendingRequestsPerAddress =
                            config.positive(value, "maxPendingRequestsPerAddress"))
            .with(RdmaChannelOption.MAX_CONNECTIONS, config -> config.maxConnections,
                    (config, value) -> config.maxConnections = config.positive(value, "maxConnections"))
            .with(RdmaChannelOption.MAX_CONNECTIONS_PER_ADDRESS, config -> config.maxConnectionsPerAddress,
                    (config, value) -> config.maxConnectionsPerAddress = config.positive(value, "maxConnectionsPerAddress"));

    private final Runnable readsCleared;
    private volatile int backlog = NetUtil.SOMAXCONN;
    private volatile boolean reuseAddress = true;
    private volatile int receiveBufferBytes;
    private volatile int requestTimeoutMillis = 5000;
    private volatile int maxPendingRequests = 4096;
    private volatile int maxPendingRequestsPerAddress = 2048;
    private volatile int maxConnections = 16384;
    private volatile int maxConnectionsPerAddress = 12288;

    /** Of a channel that is told when no read is wanted any more. Any thread. */
    RdmaServerChannelConfig(Channel channel, Runnable readsCleared) {
        super(channel, new ServerChannelRecvByteBufAllocator());
        this.readsCleared = readsCleared;
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
    public int getBacklog() {
        return backlog;
    }

    @Override
    public RdmaServerChannelConfig setBacklog(int requests) {
        requireUnbound("backlog");
        backlog = ObjectUtil.checkPositiveOrZero(requests, "backlog");
        return this;
    }

    @Override
    public boolean isReuseAddress() {
        return reuseAddress;
    }

    @Override
    public RdmaServerChannelConfig setReuseAddress(boolean reuse) {
        requireUnbound("reuseAddress");
        reuseAddress = reuse;
        return this;
    }

    @Override
    public int getReceiveBufferSize() {
        return receiveBufferBytes;
    }

    @Override
    public RdmaServerChannelConfig setReceiveBufferSize(int bytes) {
        requireUnbound("receiveBufferBytes");
        receiveBufferBytes = ObjectUtil.checkPositiveOrZero(bytes, "receiveBufferBytes");
        return this;
    }

    /** What the channel listens with. */
    ListenAttributes listenAttributes() {
        return new ListenAttributes(requestTimeoutMillis, maxPendingRequests, maxPendingRequestsPerAddress, receiveBufferBytes,
                reuseAddress);
    }

    ConnectionCounts newCounts() {
        return new ConnectionCounts(maxConnections, maxConnectionsPerAddress);
    }

    /**
     * The peer of a channel, if its address may have only a part of the memory for receives; {@code null} if it may have all. It
     * may have all where this side has asked for the connection, and where the server leaves all connections to one address.
     */
    static PeerAddress limitedPeer(Channel channel) {
        boolean isLimited = channel.parent() != null && channel.parent().config() instanceof RdmaServerChannelConfig server
                && server.maxConnectionsPerAddress < server.maxConnections;
        return isLimited ? PeerAddress.of(channel.remoteAddress()) : null;
    }

    private int positive(int value, String option) {
        requireUnbound(option);
        return ObjectUtil.checkPositive(value, option);
    }

    private void requireUnbound(String option) {
        if (channel.isActive()) {
            throw new IllegalStateException(option + ": can be set only before the channel is bound");
        }
    }

    @Override
    protected void autoReadCleared() {
        readsCleared.run();
    }

    // --- What ServerSocketChannelConfig narrows

    @Override
    public RdmaServerChannelConfig setPerformancePreferences(int connectionTime, int latency, int bandwidth) {
        return this; // as with TCP on most systems
    }

    @Override
    @Deprecated
    public RdmaServerChannelConfig setMaxMessagesPerRead(int maxMessagesPerRead) {
        super.setMaxMessagesPerRead(maxMessagesPerRead);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setConnectTimeoutMillis(int connectTimeoutMillis) {
        super.setConnectTimeoutMillis(connectTimeoutMillis);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setWriteSpinCount(int writeSpinCount) {
        super.setWriteSpinCount(writeSpinCount);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setAllocator(ByteBufAllocator allocator) {
        super.setAllocator(allocator);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setRecvByteBufAllocator(RecvByteBufAllocator allocator) {
        super.setRecvByteBufAllocator(allocator);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setAutoRead(boolean autoRead) {
        super.setAutoRead(autoRead);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setMessageSizeEstimator(MessageSizeEstimator estimator) {
        super.setMessageSizeEstimator(estimator);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setWriteBufferHighWaterMark(int highWaterMark) {
        super.setWriteBufferHighWaterMark(highWaterMark);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setWriteBufferLowWaterMark(int lowWaterMark) {
        super.setWriteBufferLowWaterMark(lowWaterMark);
        return this;
    }

    @Override
    public RdmaServerChannelConfig setWriteBufferWaterMark(WriteBufferWaterMark waterMark) {
        super.setWriteBufferWaterMark(waterMark);
        return this;
    }
}
