package org.nettyrdma.streamtests.grpc;

import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.ServerCredentials;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.grpc.testing.integration.ListenAddress;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.nettyrdma.streamtests.StreamTransport;

/** gRPC's own test of what implementations agree on, over the stream. */
public class GrpcOverStreamTest extends AbstractInteropTest {

    static EventLoopGroup group;

    @BeforeClass
    public static void startGroup() {
        group = StreamTransport.newGroup(2, "grpc-stream");
    }

    @AfterClass
    public static void stopGroup() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        return serverBuilder(InsecureServerCredentials.create());
    }

    /** With the suite's own statistics in place of gRPC's, as the suite asks for it. */
    final NettyServerBuilder serverBuilder(ServerCredentials credentials) {
        NettyServerBuilder builder = NettyServerBuilder
                .forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), credentials)
                .channelType(StreamTransport.serverChannelClass())
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        InternalNettyServerBuilder.setStatsEnabled(builder, false);
        builder.addStreamTracerFactory(createCustomCensusTracerFactory());
        return builder;
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        return channelBuilder(InsecureChannelCredentials.create());
    }

    final NettyChannelBuilder channelBuilder(ChannelCredentials credentials) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(ListenAddress.of(this), credentials)
                .channelType(StreamTransport.channelClass())
                .eventLoopGroup(group)
                .flowControlWindow(TEST_FLOW_CONTROL_WINDOW)
                .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        InternalNettyChannelBuilder.setStatsEnabled(builder, false);
        builder.intercept(createCensusStatsClientInterceptor());
        return builder;
    }
}
