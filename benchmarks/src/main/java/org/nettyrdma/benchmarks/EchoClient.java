package org.nettyrdma.benchmarks;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** One connection that sends frames without an RPC layer. */
final class EchoClient implements ClientEnd {

    private final EventLoopGroup group;
    private final EventLoopThreads threads;
    private final EchoLoad load = new EchoLoad();
    private final Channel channel;

    EchoClient(Setup setup, int port) throws InterruptedException {
        NettyTransport transport = new NettyTransport(setup);
        group = transport.newGroup();
        threads = new EventLoopThreads(group);
        channel = transport.client(group).handler(load)
                .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)).sync().channel();
    }

    @Override
    public void verify(Load wanted) throws Exception {
        run(wanted, 0);
    }

    @Override
    public LoadResult run(Load wanted, long durationNanos) throws Exception {
        Histogram latencies = Histograms.newHistogram();
        long startNanos = System.nanoTime();
        load.run(channel, wanted, latencies, durationNanos).sync();
        return new LoadResult(latencies, System.nanoTime() - startNanos);
    }

    @Override
    public Counters counters() {
        return Counters.ofAllocation(threads.allocatedBytes(), 0);
    }

    @Override
    public String description() {
        return channel.getClass().getSimpleName() + ", frames without RPC";
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
