package org.nettyrdma.benchmarks;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

/**
 * Connections of one of Netty's transports or ours, on event loops of their own.
 */
final class NettyClient implements ClientEnd {

    /** Connections that are being opened or closed at once where there are many. */
    private static final int CHANGING_AT_ONCE = 64;

    /** Up to so many are opened one after the other, where it matters which event loops they connect. */
    private static final int FEW = 16;

    private final Setup setup;
    private final EventLoopGroup group;
    private final EventLoopThreads threads;
    private final List<Channel> channels = new ArrayList<>();

    NettyClient(Setup setup, int port, int connections) throws Exception {
        this.setup = setup;
        NettyTransport transport = new NettyTransport(setup);
        group = transport.newGroup();
        threads = new EventLoopThreads(group);
        try {
            if (setup.eventLoops() > 1 && connections <= FEW) {
                connectLoops(transport.client(group), transport.address(port), connections);
            } else {
                connect(transport.client(group), transport.address(port), connections);
            }
            channels.forEach(this::checkIdentity);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Gives each event loop a part of the connections in a row. The server spreads them in the order of their arrival, so that
     * each loop has connections to as many loops of the server as can be, in each run. If each had its own loop there, a call
     * would take less time.
     */
    private void connectLoops(Bootstrap bootstrap, SocketAddress address, int connections) throws InterruptedException {
        List<EventLoop> loops = new ArrayList<>();
        group.forEach(loop -> loops.add((EventLoop) loop));
        for (int i = 0; i < connections; i++) {
            EventLoop loop = loops.get(i * loops.size() / connections);
            channels.add(bootstrap.clone(loop).connect(address).sync().channel());
        }
    }

    private void connect(Bootstrap bootstrap, SocketAddress address, int connections) throws InterruptedException {
        Queue<ChannelFuture> connecting = new ArrayDeque<>();
        for (int i = 0; i < connections; i++) {
            if (connecting.size() == CHANGING_AT_ONCE) {
                channels.add(connecting.remove().sync().channel());
            }
            connecting.add(bootstrap.connect(address));
        }
        for (ChannelFuture future : connecting) {
            channels.add(future.sync().channel());
        }
    }

    /** A figure for the wrong transport would be worse than none. */
    private void checkIdentity(Channel channel) {
        Peer peer = setup.peer();
        if (channel instanceof RdmaChannel != peer.rdma()) {
            throw new IllegalStateException(peer + " runs on " + channel);
        }
        if (channel instanceof RdmaChannel rdma && rdma.connectionInfo().provider().equals("shm") != peer.sharedMemory()) {
            throw new IllegalStateException(peer + " runs on " + rdma.connectionInfo());
        }
        if (channel instanceof RdmaChannel rdma && rdma.connectionInfo().checksum() != peer.checksum()) {
            throw new IllegalStateException(peer + " has the checksum " + (peer.checksum() ? "off" : "on"));
        }
    }

    @Override
    public void verify(Load load) throws Exception {
        try (LoadGenerator generator = new LoadGenerator(channels.get(0), load, Histograms.newHistogram())) {
            generator.verify().sync();
        }
    }

    @Override
    public LoadResult run(Load load, long durationNanos) throws Exception {
        List<LoadGenerator> generators = new ArrayList<>();
        try {
            Map<EventLoop, Histogram> latencies = new HashMap<>(); // those of one thread share one
            for (Channel channel : channels) {
                generators.add(new LoadGenerator(channel, load,
                        latencies.computeIfAbsent(channel.eventLoop(), loop -> Histograms.newHistogram())));
            }
            long startNanos = System.nanoTime();
            List<Future<Void>> runs = new ArrayList<>();
            for (LoadGenerator generator : generators) {
                runs.add(generator.run(durationNanos));
            }
            for (Future<Void> run : runs) {
                run.sync();
            }
            long elapsedNanos = System.nanoTime() - startNanos;
            Histogram sum = Histograms.newHistogram();
            latencies.values().forEach(sum::add);
            return new LoadResult(sum, elapsedNanos);
        } finally {
            generators.forEach(LoadGenerator::close);
        }
    }

    @Override
    public Counters counters() {
        Counters sum = Counters.ofAllocation(threads.allocatedBytes(), 0);
        for (Channel channel : channels) {
            if (channel instanceof RdmaChannel rdma) {
                RdmaChannelStatistics statistics = rdma.statistics();
                sum = sum.plus(new Counters(ProcessorTime.NONE, 0, 0, true, statistics.get(Counter.COPIED_BYTES),
                        statistics.get(Counter.SENDS), 0, 0,
                        statistics.get(Counter.EXPOSURES), statistics.get(Counter.REMOTE_INVALIDATIONS_RECEIVED),
                        statistics.get(Counter.LOCAL_INVALIDATIONS)));
            }
        }
        return sum;
    }

    @Override
    public String description() {
        Channel channel = channels.get(0);
        if (channel instanceof RdmaChannel rdma) {
            return rdma.connectionInfo().toString();
        }
        return channel.getClass().getSimpleName() + (setup.peer().fixedSendBuffer() ? ", SO_SNDBUF set to "
                + NettyTransport.SEND_BUFFER_BYTES : ", SO_SNDBUF not set");
    }

    @Override
    public void close() {
        Queue<ChannelFuture> closing = new ArrayDeque<>();
        for (Channel channel : channels) {
            if (closing.size() == CHANGING_AT_ONCE) {
                closing.remove().syncUninterruptibly();
            }
            closing.add(channel.close());
        }
        closing.forEach(ChannelFuture::syncUninterruptibly);
        if (setup.peer() != Peer.STACK) { // the server is on it, too, and ends it
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
