package org.nettyrdma.benchmarks;

import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** {@link GrpcEcho} on one of Netty's transports or our byte stream. It answers on the event loops. */
final class GrpcServer implements ServerEnd {

    private final EventLoopGroup group;
    private final EventLoopThreads threads;
    private final Server server;

    GrpcServer(Setup setup) throws IOException {
        NettyTransport transport = new NettyTransport(setup);
        group = transport.newGroup();
        threads = new EventLoopThreads(group);
        server = NettyServerBuilder
                .forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), InsecureServerCredentials.create())
                .channelType(transport.serverChannel()).bossEventLoopGroup(group).workerEventLoopGroup(group)
                .directExecutor().maxInboundMessageSize(setup.maxPayloadBytes())
                .addService(GrpcEcho.service()).build().start();
    }

    @Override
    public int port() {
        return server.getPort();
    }

    @Override
    public Counters counters() {
        return Counters.ofAllocation(0, threads.allocatedBytes());
    }

    @Override
    public void close() {
        server.shutdownNow();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
