package org.nettyrdma.example.nfs.client;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.util.NetUtil;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.example.nfs.ConnectionLimits;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.Transport;

/** A server of a test's own programs and of nothing else, over one transport, on a port of loopback that the system chose. */
final class ProgramServer implements AutoCloseable {

    private final Transport transport;
    private final EventLoopGroup group;
    private final Channel listener;

    ProgramServer(Transport transport, RpcProgram... programs) {
        this.transport = transport;
        group = transport.newEventLoopGroup(1, "server", IdleStrategy.ADAPTIVE, Rdma::provider);
        listener = transport.newServerBootstrap(group, () -> new RpcServerHandler(programs), new SimpleMeterRegistry(),
                RdmaSettings.DEFAULTS, ConnectionLimits.DEFAULTS, new MemoryBudget(MemoryBudget.DEFAULT_MAX_BYTES))
                .bind(new InetSocketAddress(NetUtil.LOCALHOST, 0)).syncUninterruptibly().channel();
    }

    NfsEndpoint endpoint(String path) {
        return new NfsEndpoint(transport, NetUtil.toAddressString(NetUtil.LOCALHOST),
                ((InetSocketAddress) listener.localAddress()).getPort(), path);
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
