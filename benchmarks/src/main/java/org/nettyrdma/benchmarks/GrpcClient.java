package org.nettyrdma.benchmarks;

import io.grpc.CallOptions;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;

/** One connection of gRPC. Small payloads go call by call, large ones as messages of one stream for each that is under way. */
final class GrpcClient implements ClientEnd {

    private static final int STREAMED_BYTES = 1 << 16;

    private final EventLoopGroup group;
    private final EventLoopThreads threads;
    private final ManagedChannel channel;
    private final String description;

    GrpcClient(Setup setup, int port) {
        NettyTransport transport = new NettyTransport(setup);
        group = transport.newGroup();
        threads = new EventLoopThreads(group);
        description = "gRPC on " + transport.channel().getSimpleName();
        channel = NettyChannelBuilder
                .forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), InsecureChannelCredentials.create())
                .channelType(transport.channel()).eventLoopGroup(group)
                .directExecutor().maxInboundMessageSize(setup.maxPayloadBytes()).build();
    }

    @Override
    public void verify(Load load) throws Exception {
        run(load, 0);
    }

    @Override
    public LoadResult run(Load load, long durationNanos) throws Exception {
        if (load.operation() != Operation.ECHO) {
            throw new IllegalArgumentException("load: " + load);
        }
        ByteBuffer payload = ByteBuffer.allocate(load.payloadBytes());
        Payload.fill(payload);
        Histogram latencies = Histograms.newHistogram();
        long startNanos = System.nanoTime();
        Run run = new Run(payload.array(), latencies, startNanos + durationNanos, load.outstanding());
        for (int i = 0; i < load.outstanding(); i++) {
            if (load.payloadBytes() < STREAMED_BYTES) {
                run.new Unary().start();
            } else {
                run.new Streamed().start();
            }
        }
        run.finished.get();
        return new LoadResult(latencies, System.nanoTime() - startNanos);
    }

    /** All that is under way; its parts run on the one event loop of the connection, but may begin elsewhere. */
    private final class Run {

        private final byte[] payload;
        private final Histogram latencies;
        private final long deadlineNanos;
        private final AtomicInteger left;
        private final CompletableFuture<Void> finished = new CompletableFuture<>();

        private Run(byte[] payload, Histogram latencies, long deadlineNanos, int outstanding) {
            this.payload = payload;
            this.latencies = latencies;
            this.deadlineNanos = deadlineNanos;
            this.left = new AtomicInteger(outstanding);
        }

        /** Whether another one is to follow. */
        private boolean received(byte[] reply, long startedNanos) {
            long nowNanos = System.nanoTime();
            if (!Arrays.equals(reply, payload)) {
                finished.completeExceptionally(new IllegalStateException("a reply has the wrong content"));
            }
            Histograms.record(latencies, nowNanos - startedNanos);
            return nowNanos < deadlineNanos && !finished.isDone();
        }

        private void ended() {
            if (left.decrementAndGet() == 0) {
                finished.complete(null);
            }
        }

        /** One call after the other. */
        private final class Unary implements StreamObserver<byte[]> {

            private long startedNanos;
            private boolean another;

            private void start() {
                startedNanos = System.nanoTime();
                ClientCalls.asyncUnaryCall(channel.newCall(GrpcEcho.UNARY, CallOptions.DEFAULT), payload, this);
            }

            @Override
            public void onNext(byte[] reply) {
                another = received(reply, startedNanos);
            }

            @Override
            public void onError(Throwable cause) {
                finished.completeExceptionally(cause);
            }

            @Override
            public void onCompleted() {
                if (another) {
                    start();
                } else {
                    ended();
                }
            }
        }

        /** A stream with one message under way. */
        private final class Streamed implements StreamObserver<byte[]> {

            private StreamObserver<byte[]> requests;
            private long startedNanos;

            private void start() {
                requests = ClientCalls.asyncBidiStreamingCall(channel.newCall(GrpcEcho.STREAM, CallOptions.DEFAULT), this);
                startedNanos = System.nanoTime();
                requests.onNext(payload);
            }

            @Override
            public void onNext(byte[] reply) {
                if (received(reply, startedNanos)) {
                    startedNanos = System.nanoTime();
                    requests.onNext(payload);
                } else {
                    requests.onCompleted();
                }
            }

            @Override
            public void onError(Throwable cause) {
                finished.completeExceptionally(cause);
            }

            @Override
            public void onCompleted() {
                ended();
            }
        }
    }

    @Override
    public Counters counters() {
        return Counters.ofAllocation(threads.allocatedBytes(), 0);
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public void close() {
        channel.shutdownNow();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
