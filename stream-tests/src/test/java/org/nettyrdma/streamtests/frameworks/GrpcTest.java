package org.nettyrdma.streamtests.frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/** The suite of gRPC is in another package; this is what the page shows. */
class GrpcTest extends Framework {

    @Test
    void shouldCarryCalls() throws Exception {
        BindableService service = new HealthStatusManager().getHealthService();
        Server server = NettyServerBuilder.forAddress(address)
                .channelType(RdmaServerStreamChannel.class)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group)
                .addService(service)
                .build()
                .start();
        SocketAddress serverAddress = server.getListenSockets().get(0);
        ManagedChannel channel = NettyChannelBuilder.forAddress(serverAddress)
                .channelType(RdmaStreamChannel.class)
                .eventLoopGroup(group)
                .usePlaintext()
                .build();
        try {
            assertEquals(ServingStatus.SERVING,
                    HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance()).getStatus());
        } finally {
            channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
            server.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
    }
}
