package org.nettyrdma.benchmarks;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;

/**
 * {@link BenchmarkProgram} behind one transport, on an event loop of its own.
 */
final class BenchmarkServer implements AutoCloseable {

    private final EventLoopGroup group;
    private final Channel channel;

    private BenchmarkServer(EventLoopGroup group, Channel channel) {
        this.group = group;
        this.channel = channel;
    }

    static BenchmarkServer start(TransportKind kind) throws Exception {
        EventLoopGroup group = kind.newGroup();
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(group)
                .channel(kind.serverChannel())
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        child.pipeline().addLast(kind.serverPipeline(new RpcServerHandler(new BenchmarkProgram())));
                    }
                });
        if (kind.checksum()) {
            bootstrap.childOption(RdmaChannelOption.CHECKSUM, true);
        }
        return new BenchmarkServer(group,
                bootstrap.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel());
    }

    int port() {
        return ((InetSocketAddress) channel.localAddress()).getPort();
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
