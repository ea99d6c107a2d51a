package org.nettyrdma.benchmarks;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.codec.oncrpc.RpcClient;

/**
 * One transport under measurement: a server, in this process or in one of its own, and one connection to it.
 */
final class Subject implements AutoCloseable {

    private final TransportKind kind;
    /** {@code null} where the server is in this process. */
    private final ServerProcess serverProcess;
    /** {@code null} where the server is in another process. */
    private final BenchmarkServer localServer;
    private final EventLoopGroup group;
    private final Channel channel;
    private final RpcClient client = new RpcClient();

    Subject(TransportKind kind, boolean separateProcess) throws Exception {
        this.kind = kind;
        serverProcess = separateProcess ? ServerProcess.start(kind) : null;
        localServer = separateProcess ? null : BenchmarkServer.start(kind);
        int port = separateProcess ? serverProcess.port() : localServer.port();
        group = kind.newGroup();
        Bootstrap bootstrap = new Bootstrap()
                .group(group)
                .channel(kind.clientChannel())
                .handler(kind.clientPipeline(client));
        if (kind.checksum()) {
            bootstrap.option(RdmaChannelOption.CHECKSUM, true);
        }
        channel = bootstrap.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).sync().channel();
        checkIdentity();
    }

    /** A figure for the wrong transport would be worse than none. */
    private void checkIdentity() {
        if (channel instanceof RdmaChannel != kind.rdma()) {
            throw new IllegalStateException(kind + " runs on " + channel);
        }
        if (channel instanceof RdmaChannel rdma && rdma.connectionInfo().checksum() != kind.checksum()) {
            throw new IllegalStateException(kind + " has the checksum " + (kind.checksum() ? "off" : "on"));
        }
    }

    TransportKind kind() {
        return kind;
    }

    /** Runs a workload for a while and returns what it saw; the event loops are idle before and after. */
    Window measure(Workload workload, long durationNanos) throws Exception {
        try (LoadGenerator load = new LoadGenerator(client, channel, workload)) {
            long cpuBefore = cpuNanos();
            long startNanos = System.nanoTime();
            Histogram latencies = load.run(durationNanos).sync().getNow();
            long elapsedNanos = System.nanoTime() - startNanos;
            long cpuNanos = cpuNanos() - cpuBefore;
            checkMovement(workload, latencies.getTotalCount());
            return new Window(latencies.getTotalCount(), latencies.getTotalCount() * workload.payloadBytes(), elapsedNanos,
                    cpuNanos, latencies);
        }
    }

    /** Bulk data that took the inline path, or was copied, would make the figure one of something else. */
    private void checkMovement(Workload workload, long calls) {
        if (channel instanceof RdmaChannel rdma && workload.measuresBytes()) {
            long copied = rdma.statistics().get(Counter.COPIED_BYTES);
            if (copied > calls * (workload.payloadBytes() / 2)) {
                throw new IllegalStateException(workload + " over " + kind + " copied " + copied + " bytes");
            }
        }
    }

    private long cpuNanos() {
        long own = ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
        return serverProcess == null ? own : own + serverProcess.cpuNanos();
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        if (serverProcess != null) {
            serverProcess.close();
        }
        if (localServer != null) {
            localServer.close();
        }
    }
}
