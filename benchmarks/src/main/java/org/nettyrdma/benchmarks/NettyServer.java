package org.nettyrdma.benchmarks;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.File;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

/**
 * {@link BenchmarkProgram} behind one of Netty's transports or ours, on event loops of its own.
 */
final class NettyServer implements ServerEnd {

    private final EventLoopGroup group;
    private final EventLoopThreads threads;
    /** Whether this event loop is that of the client. */
    private final boolean clientCounts;
    private final Channel channel;
    private final int port;
    private final ChannelGroup children = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

    NettyServer(Setup setup) throws InterruptedException {
        NettyTransport transport = new NettyTransport(setup);
        group = transport.newGroup();
        threads = new EventLoopThreads(group);
        clientCounts = setup.peer() == Peer.STACK;
        ServerBootstrap bootstrap = transport.server(group).handler(new Acceptance());
        int wanted = transport.freePort();
        channel = bootstrap.bind(transport.address(wanted)).sync().channel();
        if (channel.localAddress() instanceof DomainSocketAddress file) {
            new File(file.path()).deleteOnExit(); // an agent ends without closing
        }
        port = channel.localAddress() instanceof InetSocketAddress address ? address.getPort() : wanted;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public Counters counters() {
        Counters sum = Counters.ofAllocation(0, clientCounts ? 0 : threads.allocatedBytes());
        for (Channel child : children) {
            if (child instanceof RdmaChannel rdma) {
                RdmaChannelStatistics statistics = rdma.statistics();
                sum = sum.plus(new Counters(ProcessorTime.NONE, 0, 0, true, statistics.get(Counter.COPIED_BYTES), 0,
                        statistics.get(Counter.WRITTEN_BYTES), statistics.get(Counter.READ_BYTES), 0, 0, 0));
            }
        }
        return sum;
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        children.close().awaitUninterruptibly();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Remembers the connections that are accepted. */
    @ChannelHandler.Sharable
    private final class Acceptance extends ChannelInboundHandlerAdapter {

        @Override
        public void channelRead(ChannelHandlerContext context, Object msg) {
            children.add((Channel) msg);
            context.fireChannelRead(msg);
        }
    }
}
