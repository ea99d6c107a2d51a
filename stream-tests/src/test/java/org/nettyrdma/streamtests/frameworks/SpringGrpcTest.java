package org.nettyrdma.streamtests.frameworks;

import static io.grpc.stub.ServerCalls.asyncUnaryCall;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;
import org.springframework.context.support.StaticApplicationContext;
import org.springframework.grpc.client.ClientInterceptorsConfigurer;
import org.springframework.grpc.client.GrpcChannelBuilderCustomizer;
import org.springframework.grpc.client.NettyGrpcChannelFactory;
import org.springframework.grpc.server.NettyGrpcServerFactory;
import org.springframework.grpc.server.ServerBuilderCustomizer;

/** The factories that Spring Boot makes, with the customizers that it finds as beans. */
class SpringGrpcTest extends Framework {

    @Test
    void shouldCarryCalls() throws Exception {
        ServerBuilderCustomizer<NettyServerBuilder> forServer = builder -> builder
                .channelType(RdmaServerStreamChannel.class)
                .bossEventLoopGroup(group)
                .workerEventLoopGroup(group);
        GrpcChannelBuilderCustomizer<NettyChannelBuilder> forClient = (name, builder) -> builder
                .channelType(RdmaStreamChannel.class)
                .eventLoopGroup(group);
        MethodDescriptor<String, String> echo = MethodDescriptor.newBuilder(new Text(), new Text())
                .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("Test/echo").build();
        NettyGrpcServerFactory servers =
                new NettyGrpcServerFactory(address.getHostString() + ":0", List.of(forServer), null, null, null);
        servers.addService(ServerServiceDefinition.builder("Test")
                .addMethod(echo, asyncUnaryCall((request, answer) -> {
                    answer.onNext(request);
                    answer.onCompleted();
                })).build());
        Server server = servers.createServer().start();
        NettyGrpcChannelFactory channels = new NettyGrpcChannelFactory(List.of(forClient),
                new ClientInterceptorsConfigurer(new StaticApplicationContext()));
        try {
            ManagedChannel channel = channels.createChannel("dns:///" + address.getHostString() + ":" + server.getPort());
            assertEquals(text, ClientCalls.blockingUnaryCall(channel, echo, CallOptions.DEFAULT, text));
        } finally {
            channels.destroy();
            server.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    private static final class Text implements MethodDescriptor.Marshaller<String> {

        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
