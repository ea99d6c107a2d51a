package org.nettyrdma.examples.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/** A service of gRPC and its client, over RDMA. Prints what the service answers. */
public final class Grpc {

    private static final MethodDescriptor<String, String> GREET = MethodDescriptor.<String, String>newBuilder()
            .setType(MethodType.UNARY)
            .setFullMethodName(MethodDescriptor.generateFullMethodName("Greeter", "Greet"))
            .setRequestMarshaller(new Text())
            .setResponseMarshaller(new Text())
            .build();

    private Grpc() {
    }

    /**
     * Runs server and client.
     *
     * @param arguments whom to greet; nothing for the world
     * @throws Exception if the call fails
     */
    public static void main(String[] arguments) throws Exception {
        String name = arguments.length == 0 ? "world" : arguments[0];
        RdmaEventLoopGroup group = new RdmaEventLoopGroup(2);
        try {
            Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .channelType(RdmaServerStreamChannel.class)
                    .bossEventLoopGroup(group)
                    .workerEventLoopGroup(group)
                    .addService(greeter())
                    .build()
                    .start();
            try {
                System.out.println(ask(group, server.getListenSockets().get(0), name));
            } finally {
                server.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
            }
        } finally {
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static String ask(RdmaEventLoopGroup group, SocketAddress server, String name) throws InterruptedException {
        ManagedChannel channel = NettyChannelBuilder.forAddress(server)
                .channelType(RdmaStreamChannel.class)
                .eventLoopGroup(group)
                .usePlaintext()
                .build();
        try {
            return ClientCalls.blockingUnaryCall(channel, GREET, CallOptions.DEFAULT, name);
        } finally {
            channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    private static ServerServiceDefinition greeter() {
        return ServerServiceDefinition.builder("Greeter").addMethod(GREET, ServerCalls.asyncUnaryCall((name, answer) -> {
            if (name.isBlank()) {
                answer.onError(Status.INVALID_ARGUMENT.withDescription("nobody to greet").asRuntimeException());
                return;
            }
            answer.onNext("Hello, " + name);
            answer.onCompleted();
        })).build();
    }

    private static final class Text implements MethodDescriptor.Marshaller<String> {

        @Override
        public InputStream stream(String text) {
            return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream bytes) {
            try {
                return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw Status.INTERNAL.withCause(e).asRuntimeException();
            }
        }
    }
}
