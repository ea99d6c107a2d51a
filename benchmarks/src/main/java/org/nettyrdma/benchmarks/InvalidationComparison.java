package org.nettyrdma.benchmarks;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs the same calls with and without remote invalidation, in both versions, and prints calls per second and who has withdrawn the memory
 * that the calls exposed. The four take turns window by window, so that a change of the machine's speed hits all of them.
 */
@Command(name = "invalidation", mixinStandardHelpOptions = true, sortOptions = false,
        description = "Compares RPC over RDMA (software iWARP) with and without remote invalidation.")
public final class InvalidationComparison implements Callable<Integer> {

    /** Calls with one exposed piece of memory each, in the first because nobody says how large the reply can get. */
    private static final List<Workload> WORKLOADS = List.of(Workload.CALLS_32, Workload.READ_64K, Workload.WRITE_64K);

    @Option(names = "--windows", defaultValue = "5", description = "Windows per row; default ${DEFAULT-VALUE}.")
    private int windows;

    @Option(names = "--seconds", defaultValue = "1", description = "Length of a window in seconds; default ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(names = "--warm-up", defaultValue = "2",
            description = "Seconds of each workload before the first window; default ${DEFAULT-VALUE}.")
    private double warmUpSeconds;

    /** Created by the command line parser. */
    public InvalidationComparison() {
    }

    /**
     * The program.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new InvalidationComparison()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        List<Endpoints> subjects = new ArrayList<>();
        try {
            for (VersionPolicy version : List.of(VersionPolicy.V1_ONLY, VersionPolicy.V2_ONLY)) {
                subjects.add(new Endpoints(version, false));
                subjects.add(new Endpoints(version, true));
            }
            print("medians of %d windows of %.1f s%n%n", windows, seconds);
            print("| | version | remote invalidation | calls/s | remote per call | local per call |%n|---|---|---|---|---|---|%n");
            for (Workload workload : WORKLOADS) {
                measure(workload, subjects);
            }
        } finally {
            for (Endpoints subject : subjects) {
                subject.close();
            }
        }
        return CommandLine.ExitCode.OK;
    }

    private void measure(Workload workload, List<Endpoints> subjects) throws Exception {
        double[][] callsPerSecond = new double[subjects.size()][windows];
        List<Invalidations> invalidations = new ArrayList<>();
        for (Endpoints subject : subjects) {
            subject.run(workload, warmUpSeconds);
            invalidations.add(subject.run(workload, seconds).invalidations());
        }
        for (int window = 0; window < windows; window++) {
            for (int i = 0; i < subjects.size(); i++) {
                callsPerSecond[i][window] = subjects.get(i).run(workload, seconds).callsPerSecond();
            }
        }
        for (int i = 0; i < subjects.size(); i++) {
            Arrays.sort(callsPerSecond[i]);
            print("| %s | %s | %s | %.0f | %.2f | %.2f |%n", workload.title(),
                    subjects.get(i).version == VersionPolicy.V1_ONLY ? "1" : "2", subjects.get(i).remote ? "yes" : "no",
                    callsPerSecond[i][windows / 2], invalidations.get(i).remote(), invalidations.get(i).local());
        }
    }

    private static void print(String format, Object... arguments) {
        System.out.printf(Locale.ROOT, format, arguments);
    }

    /** Handles withdrawn per call, by the server and by the client. */
    private record Invalidations(double remote, double local) {
    }

    private record Run(double callsPerSecond, Invalidations invalidations) {
    }

    /** A server and one connection to it, each on an event loop of its own. */
    private static final class Endpoints implements AutoCloseable {

        private final VersionPolicy version;
        private final boolean remote;
        private final RdmaEventLoopGroup serverGroup = new RdmaEventLoopGroup(1);
        private final RdmaEventLoopGroup clientGroup = new RdmaEventLoopGroup(1);
        private final RdmaChannel channel;
        private final RpcClient client;

        private Endpoints(VersionPolicy version, boolean remote) throws Exception {
            this.version = version;
            this.remote = remote;
            Channel listener = RpcRdma.server().program(new BenchmarkProgram()).versions(version).remoteInvalidation(remote).build()
                    .configure(new ServerBootstrap().group(serverGroup).channel(RdmaServerChannel.class))
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
            channel = (RdmaChannel) RpcRdma.client().versions(version).remoteInvalidation(remote).build()
                    .configure(new Bootstrap().group(clientGroup).channel(RdmaChannel.class))
                    .connect(listener.localAddress()).sync().channel();
            client = channel.pipeline().get(RpcClient.class);
            client.call(new RpcRequest(BenchmarkProgram.PROGRAM, BenchmarkProgram.VERSION, 0, channel.alloc().directBuffer(0)))
                    .sync().getNow().release(); // settles the version
        }

        private Run run(Workload workload, double forSeconds) throws Exception {
            try (LoadGenerator load = new LoadGenerator(client, channel, workload)) {
                long remoteBefore = channel.statistics().get(Counter.REMOTE_INVALIDATIONS_RECEIVED);
                long localBefore = channel.statistics().get(Counter.LOCAL_INVALIDATIONS);
                long startNanos = System.nanoTime();
                double calls = load.run((long) (forSeconds * TimeUnit.SECONDS.toNanos(1))).sync().getNow().getTotalCount();
                long elapsedNanos = System.nanoTime() - startNanos;
                return new Run(calls * TimeUnit.SECONDS.toNanos(1) / elapsedNanos, new Invalidations(
                        (channel.statistics().get(Counter.REMOTE_INVALIDATIONS_RECEIVED) - remoteBefore) / calls,
                        (channel.statistics().get(Counter.LOCAL_INVALIDATIONS) - localBefore) / calls));
            }
        }

        @Override
        public void close() {
            channel.close().syncUninterruptibly();
            clientGroup.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            serverGroup.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
