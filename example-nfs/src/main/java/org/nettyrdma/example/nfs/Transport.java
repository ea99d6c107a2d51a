package org.nettyrdma.example.nfs;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.util.Locale;
import java.util.function.Supplier;
import org.nettyrdma.channel.ConnectionLimitHandler;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RegisteredByteBufAllocator;
import org.nettyrdma.codec.oncrpc.IdleConnectionHandler;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcCallListener;
import org.nettyrdma.codec.oncrpc.RpcCallMetrics;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.oncrpc.rpcbind.Netid;
import org.nettyrdma.codec.rpcrdma.RdmaMetrics;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.example.nfs.protocol.MountUpperLayerBinding;
import org.nettyrdma.example.nfs.protocol.Nfs;
import org.nettyrdma.example.nfs.protocol.NfsUpperLayerBinding;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * What carries RPC messages. The constants hold all that differs between the two: the event loop group, the channel classes,
 * and the handlers between the bytes and whole RPC messages. Whatever stands above them serves both.
 */
public enum Transport {

    /** RPC-over-RDMA on an {@link RdmaChannel}, with the bindings of NFS and MOUNT. */
    RDMA(Nfs.RDMA_PORT) {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads, String name, IdleStrategy idleStrategy,
                Supplier<VerbsProvider> provider) {
            return new RdmaEventLoopGroup(threads, new DefaultThreadFactory(name, true), provider.get(), idleStrategy);
        }

        @Override
        public Bootstrap newBootstrap(EventLoopGroup group, Supplier<? extends ChannelHandler> handler, MeterRegistry registry,
                RdmaSettings settings) {
            RpcRdma rpcRdma = withBindings(RpcRdma.client().callObserver(new CallRoutes(registry)), handler, settings,
                    new ConnectionMeters(registry, "client"), callTimes(registry));
            new RdmaMetrics(rpcRdma, Tags.of(ROLE_TAG, "client")).bindTo(registry);
            return rpcRdma.configure(new Bootstrap().group(group).channel(RdmaChannel.class))
                    .option(RdmaChannelOption.CHECKSUM, settings.checksum());
        }

        @Override
        public ServerBootstrap newServerBootstrap(EventLoopGroup group, Supplier<? extends ChannelHandler> handler,
                MeterRegistry registry, RdmaSettings settings, ConnectionLimits connections, MemoryBudget memory) {
            ConnectionLimits limits = connections.resolved(receiveBytes(settings));
            RpcRdma rpcRdma = withBindings(RpcRdma.server().memory(memory).idleTimeoutMillis(limits.idleTimeoutMillis()), handler,
                    settings, new ConnectionMeters(registry, "server"), callTimes(registry));
            new RdmaMetrics(rpcRdma, Tags.of(ROLE_TAG, "server")).bindTo(registry);
            return rpcRdma.configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                    .option(RdmaChannelOption.MAX_CONNECTIONS, limits.maxConnections())
                    .option(RdmaChannelOption.MAX_CONNECTIONS_PER_ADDRESS, limits.maxConnectionsPerAddress())
                    .childOption(RdmaChannelOption.CHECKSUM, settings.checksum());
        }

        @Override
        public ByteBufAllocator allocator(Supplier<VerbsProvider> provider) {
            return RegisteredByteBufAllocator.of(provider.get());
        }

        @Override
        public Netid netid(InetAddress address) {
            return Netid.rdma(address);
        }

        @Override
        int receiveBytes(RdmaSettings settings) {
            return settings.credits() * RpcRdmaLimits.DEFAULT.inlineThresholdBytes();
        }

        private static RpcRdma withBindings(RpcRdmaBuilder builder, Supplier<? extends ChannelHandler> handler,
                RdmaSettings settings, ConnectionMeters meters, RpcCallListener times) {
            return builder.binding(new NfsUpperLayerBinding()).binding(new MountUpperLayerBinding())
                    .maxMessageBytes(MAX_MESSAGE_BYTES).credits(settings.credits()).versions(settings.versions())
                    .handlers(pipeline -> {
                        pipeline.addLast(meters);
                        RpcCallListener.addTo(pipeline, times);
                        pipeline.addLast(handler.get());
                    }).build();
        }
    },

    /** Record marking over TCP (RFC 5531, section 11). */
    TCP(Nfs.TCP_PORT) {
        @Override
        public EventLoopGroup newEventLoopGroup(int threads, String name, IdleStrategy idleStrategy,
                Supplier<VerbsProvider> provider) {
            return new NioEventLoopGroup(threads, new DefaultThreadFactory(name, true));
        }

        @Override
        public Bootstrap newBootstrap(EventLoopGroup group, Supplier<? extends ChannelHandler> handler, MeterRegistry registry,
                RdmaSettings settings) {
            return new Bootstrap().group(group).channel(NioSocketChannel.class)
                    .option(ChannelOption.TCP_NODELAY, true).handler(recordMarking(handler, 0, null, callTimes(registry)));
        }

        @Override
        public ServerBootstrap newServerBootstrap(EventLoopGroup group, Supplier<? extends ChannelHandler> handler,
                MeterRegistry registry, RdmaSettings settings, ConnectionLimits connections, MemoryBudget memory) {
            ConnectionLimits limits = connections.resolved(receiveBytes(settings));
            return new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                    .handler(new ConnectionLimitHandler(limits.maxConnections(), limits.maxConnectionsPerAddress()))
                    .childOption(ChannelOption.TCP_NODELAY, true).childOption(ChannelOption.SO_KEEPALIVE, true)
                    .childHandler(recordMarking(handler, limits.idleTimeoutMillis(), memory, callTimes(registry)));
        }

        @Override
        public ByteBufAllocator allocator(Supplier<VerbsProvider> provider) {
            return ByteBufAllocator.DEFAULT;
        }

        @Override
        public Netid netid(InetAddress address) {
            return Netid.tcp(address);
        }

        @Override
        int receiveBytes(RdmaSettings settings) {
            return MAX_TCP_RECEIVE_BYTES;
        }

        private static ChannelHandler recordMarking(Supplier<? extends ChannelHandler> handler, long idleTimeoutMillis,
                MemoryBudget memory, RpcCallListener times) {
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    ChannelHandler last = handler.get();
                    if (idleTimeoutMillis > 0) {
                        channel.pipeline().addLast(new IdleConnectionHandler(idleTimeoutMillis,
                                () -> last instanceof RpcServerHandler server && server.callsInProgress() > 0));
                    }
                    channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES, memory, TransferLimits.DEFAULT));
                    RpcCallListener.addTo(channel.pipeline(), times);
                    channel.pipeline().addLast(last);
                }
            };
        }
    };

    /** Most bytes of data in one READ or WRITE call. */
    public static final int MAX_DATA_BYTES = 1 << 20;

    /** Most bytes of an RPC message: the data, and room for all that surrounds it. */
    public static final int MAX_MESSAGE_BYTES = MAX_DATA_BYTES + (1 << 16);

    /** The largest buffer that Netty reads from a TCP connection into. */
    private static final int MAX_TCP_RECEIVE_BYTES = 1 << 16;

    /** The tag of all meters that says which side they measure: {@code client} or {@code server}. */
    public static final String ROLE_TAG = "role";

    private final int defaultPort;

    Transport(int defaultPort) {
        this.defaultPort = defaultPort;
    }

    /**
     * Returns the port where NFS is usually served.
     *
     * @return a port number
     */
    public int defaultPort() {
        return defaultPort;
    }

    /**
     * Returns the name of this transport in addresses.
     *
     * @return {@code rdma} or {@code tcp}
     */
    public String scheme() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * Returns the name of this transport in rpcbind.
     *
     * @param address where a server answers
     * @return the name for the address's version of IP
     */
    public abstract Netid netid(InetAddress address);

    /**
     * Returns the allocator of all channels; messages built from its buffers are sent without a copy.
     *
     * @param provider what carries RDMA; only with {@link #RDMA}
     * @return the allocator
     */
    public abstract ByteBufAllocator allocator(Supplier<VerbsProvider> provider);

    /** What a connection may hold of the direct memory, besides what is counted for its calls. */
    abstract int receiveBytes(RdmaSettings settings);

    /** Keeps how long calls take; {@code null} if nobody would see it. */
    final RpcCallListener callTimes(MeterRegistry registry) {
        return registry instanceof CompositeMeterRegistry meters && meters.getRegistries().isEmpty() ? null
                : new RpcCallMetrics(registry, Tags.of("transport", scheme()));
    }

    /**
     * Creates event loops on daemon threads.
     *
     * @param threads number of event loops
     * @param name beginning of the threads' names
     * @param idleStrategy what an idle event loop does; only with {@link #RDMA}
     * @param provider what carries RDMA; only with {@link #RDMA}
     * @return a group that the caller shuts down
     */
    public abstract EventLoopGroup newEventLoopGroup(int threads, String name, IdleStrategy idleStrategy,
            Supplier<VerbsProvider> provider);

    /**
     * Returns a bootstrap that has all but what to connect to.
     *
     * @param group a group that this transport made
     * @param handler makes the last handler of a channel, which reads and writes whole RPC messages
     * @param registry where the meters of the connections go
     * @param settings what connections agree on; only with {@link #RDMA}
     * @return a new bootstrap
     */
    public abstract Bootstrap newBootstrap(EventLoopGroup group, Supplier<? extends ChannelHandler> handler,
            MeterRegistry registry,
            RdmaSettings settings);

    /**
     * Returns a bootstrap that has all but what to bind to.
     *
     * @param group a group that this transport made
     * @param handler makes the last handler of each accepted channel, which reads and writes whole RPC messages
     * @param registry where the meters of the connections go
     * @param settings what connections agree on; only with {@link #RDMA}
     * @param connections how many there may be, and for how long they may be idle
     * @param memory what the calls of all connections may take
     * @return a new bootstrap
     */
    public abstract ServerBootstrap newServerBootstrap(EventLoopGroup group, Supplier<? extends ChannelHandler> handler,
            MeterRegistry registry, RdmaSettings settings, ConnectionLimits connections, MemoryBudget memory);
}
