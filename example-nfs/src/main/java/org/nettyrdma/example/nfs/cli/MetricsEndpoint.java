package org.nettyrdma.example.nfs.cli;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.ConnectionLimitHandler;

/**
 * Shows the meters of this process to Prometheus, at {@code http://ADDRESS:PORT/metrics}. One event loop serves all, so that
 * whoever is slow takes no thread.
 */
final class MetricsEndpoint implements AutoCloseable {

    /** Whoever has not sent the request and taken the answer after these seconds loses the connection. */
    private static final int MAX_SECONDS = 5;
    /**
     * Of more the oldest is closed, so that whoever connects here leaves file descriptors to the clients of the server, and a
     * place to others: Prometheus needs one for a moment.
     */
    private static final int MAX_CONNECTIONS = 64;
    /** What was asked for meanwhile gets the same text: making it costs far more than asking for it. */
    private static final long MAX_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int CLOSE_SECONDS = 5;

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final EventLoopGroup group = new NioEventLoopGroup(1, new DefaultThreadFactory("nfs-metrics", true));
    private Channel server;

    /** The oldest is the first. Event loop only, as all below. */
    private final Set<Channel> connections = new LinkedHashSet<>();
    /** What was shown last, not changed any more. */
    private byte[] text;
    private long textNanos;

    private MetricsEndpoint() {
    }

    static MetricsEndpoint start(InetSocketAddress address) throws IOException {
        MetricsEndpoint endpoint = new MetricsEndpoint();
        ChannelFuture bound = endpoint.newBootstrap().bind(address).awaitUninterruptibly();
        endpoint.server = bound.channel();
        if (!bound.isSuccess()) {
            endpoint.close();
            throw new IOException("cannot show metrics on " + NetUtil.toSocketAddressString(address) + ": "
                    + bound.cause().getMessage(), bound.cause());
        }
        return endpoint;
    }

    /** The calls of clients may have used up the direct memory, so all buffers are on the heap. */
    private ServerBootstrap newBootstrap() {
        return new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .handler(new ConnectionLimitHandler(Integer.MAX_VALUE, Integer.MAX_VALUE)) // for how it tells of failures
                .childOption(ChannelOption.ALLOCATOR, new UnpooledByteBufAllocator(false))
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true) // a peer may have ended its output before it is answered
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new HeapReceiveAllocator())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        MetricsRequestHandler.addTo(channel.pipeline(), MetricsEndpoint.this::text);
                        connected(channel);
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        ctx.close(); // no memory; Netty would write a stack trace, as often as somebody connects
                    }
                });
    }

    private void connected(Channel channel) {
        Future<?> timeout = channel.eventLoop().schedule(() -> drop(channel), MAX_SECONDS, TimeUnit.SECONDS);
        channel.closeFuture().addListener(closed -> {
            timeout.cancel(false);
            connections.remove(channel);
        });
        connections.add(channel);
        if (connections.size() > MAX_CONNECTIONS) {
            drop(connections.iterator().next());
        }
    }

    /** By a reset: else the system keeps what the peer has not taken. */
    private static void drop(Channel channel) {
        channel.config().setOption(ChannelOption.SO_LINGER, 0);
        channel.close();
    }

    private byte[] text() {
        if (text == null || System.nanoTime() - textNanos > MAX_AGE_NANOS) {
            text = registry.scrape().getBytes(StandardCharsets.UTF_8);
            textNanos = System.nanoTime();
        }
        return text;
    }

    PrometheusMeterRegistry registry() {
        return registry;
    }

    InetSocketAddress address() {
        return (InetSocketAddress) server.localAddress();
    }

    @Override
    public void close() {
        server.close().awaitUninterruptibly();
        group.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS);
        registry.close();
    }
}
