package org.nettyrdma.benchmarks;

import io.micrometer.core.instrument.Tags;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcCallMetrics;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.rpcrdma.RdmaMetrics;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;

/**
 * Bootstraps of the peers that are Netty transports. They differ in channel class, event loop group, framing and socket options,
 * and in nothing else.
 */
final class NettyTransport {

    /** What the software provider sets, see its {@code TcpOptions}; Linux doubles it. */
    static final int SEND_BUFFER_BYTES = 256 * 1024;
    /** Room for the header of a call or reply beside the largest opaque. */
    private static final int MESSAGE_OVERHEAD_BYTES = 1024;
    private static final int LARGE_BACKLOG = 16 * 1024;

    /** The event loop of both ends of {@link Peer#STACK}. */
    private static EventLoopGroup stack;

    private final Setup setup;

    NettyTransport(Setup setup) {
        this.setup = setup;
        if (setup.peer().epoll()) {
            Epoll.ensureAvailability();
        }
    }

    /** Event loops of one end. */
    EventLoopGroup newGroup() {
        int loops = setup.eventLoops();
        if (setup.peer().epoll()) {
            return new EpollEventLoopGroup(loops);
        }
        if (setup.peer().netty()) {
            return new NioEventLoopGroup(loops);
        }
        if (setup.peer() != Peer.STACK) {
            return newRdmaGroup(loops);
        }
        synchronized (NettyTransport.class) {
            if (stack == null || stack.isShuttingDown()) {
                stack = newRdmaGroup(1);
            }
            return stack;
        }
    }

    private EventLoopGroup newRdmaGroup(int loops) {
        return new RdmaEventLoopGroup(loops, new DefaultThreadFactory("rdma"),
                setup.peer().sharedMemory() ? Rdma.provider("shm") : Rdma.provider(),
                setup.peer().busyPoll() ? IdleStrategy.BUSY_POLL : IdleStrategy.ADAPTIVE);
    }

    ServerBootstrap server(EventLoopGroup group) {
        Peer peer = setup.peer();
        ServerBootstrap bootstrap = new ServerBootstrap().group(group).option(ChannelOption.SO_BACKLOG, LARGE_BACKLOG);
        if (peer.rdma()) {
            return built(limits(RpcRdma.server()).program(new BenchmarkProgram(setup.maxPayloadBytes())))
                    .configure(bootstrap.channel(RdmaServerChannel.class))
                    .childOption(RdmaChannelOption.CHECKSUM, peer.checksum());
        }
        if (peer.fixedSendBuffer()) {
            bootstrap.childOption(ChannelOption.SO_SNDBUF, SEND_BUFFER_BYTES);
        }
        return bootstrap.channel(serverChannel())
                .childHandler(peer.bareEcho() ? EchoFrames.server() : initializer(true));
    }

    Bootstrap client(EventLoopGroup group) {
        Peer peer = setup.peer();
        Bootstrap bootstrap = new Bootstrap().group(group);
        if (peer.rdma()) {
            return built(limits(RpcRdma.client())).configure(bootstrap.channel(RdmaChannel.class))
                    .option(RdmaChannelOption.CHECKSUM, peer.checksum());
        }
        if (peer.fixedSendBuffer()) {
            bootstrap.option(ChannelOption.SO_SNDBUF, SEND_BUFFER_BYTES);
        }
        return bootstrap.channel(channel()).handler(initializer(false));
    }

    /** What accepts connections, where RPC-over-RDMA does not. */
    Class<? extends ServerChannel> serverChannel() {
        return switch (setup.peer()) {
            case STREAM_ECHO, STREAM_GRPC -> RdmaServerStreamChannel.class;
            case DOMAIN -> EpollServerDomainSocketChannel.class;
            default -> setup.peer().epoll() ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
        };
    }

    /** What connects, where RPC-over-RDMA does not. */
    Class<? extends Channel> channel() {
        return switch (setup.peer()) {
            case STREAM_ECHO, STREAM_GRPC -> RdmaStreamChannel.class;
            case DOMAIN -> EpollDomainSocketChannel.class;
            default -> setup.peer().epoll() ? EpollSocketChannel.class : NioSocketChannel.class;
        };
    }

    /** A number for {@link #address} on which nobody listens; 0 leaves the choice to the system. */
    int freePort() {
        return setup.peer() == Peer.DOMAIN ? (int) ProcessHandle.current().pid() : 0;
    }

    /** Where the server of a port is; a domain socket has a file with the number in its name. */
    SocketAddress address(int port) {
        if (setup.peer() != Peer.DOMAIN) {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        }
        return new DomainSocketAddress(System.getProperty("java.io.tmpdir") + "/netty-rdma-" + port + ".socket");
    }

    private RpcRdmaBuilder limits(RpcRdmaBuilder builder) {
        if (setup.maxPayloadBytes() > Setup.DEFAULT_MAX_PAYLOAD_BYTES) {
            builder.maxMessageBytes(setup.maxPayloadBytes() + MESSAGE_OVERHEAD_BYTES);
        }
        if (setup.setsInlineThreshold()) {
            builder.inlineThresholdBytes(setup.inlineThresholdBytes());
        }
        return builder.credits(setup.credits())
                .versions(setup.version2() ? VersionPolicy.V2_ONLY : VersionPolicy.V1_ONLY)
                .remoteInvalidation(setup.remoteInvalidation());
    }

    private RpcRdma built(RpcRdmaBuilder builder) {
        if (setup.peer() != Peer.RDMA_METRICS) {
            return builder.build();
        }
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        RpcRdma measured = builder.callListener(new RpcCallMetrics(registry, Tags.empty())).build();
        new RdmaMetrics(measured).bindTo(registry);
        return measured;
    }

    private ChannelHandler initializer(boolean server) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(setup.maxPayloadBytes() + MESSAGE_OVERHEAD_BYTES))
                        .addLast(server ? new RpcServerHandler(new BenchmarkProgram(setup.maxPayloadBytes())) : new RpcClient());
            }
        };
    }
}
