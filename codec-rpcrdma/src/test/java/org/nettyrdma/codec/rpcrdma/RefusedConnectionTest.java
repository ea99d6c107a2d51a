package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.FaultyProvider;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;

/** Clients for which the device of the server has no queue pair. */
@Timeout(60)
class RefusedConnectionTest {

    /** It is built before they are refused. What fails in it is a stack trace in the log for each client. */
    @Test
    void shouldNotFailToBuildTheirPipeline() throws Exception {
        FaultyProvider faulty = new FaultyProvider();
        var group = new RdmaEventLoopGroup(1, new DefaultThreadFactory(getClass()), faulty, IdleStrategy.ADAPTIVE);
        AtomicInteger built = new AtomicInteger();
        RpcRdma server = RpcRdma.server().versions(VersionPolicy.PREFER_V2).reverse(4)
                .handlers(pipeline -> built.incrementAndGet()).build();
        RpcRdma client = RpcRdma.client().build();
        try {
            Channel listener = server.configure(new ServerBootstrap().group(group).channel(RdmaServerChannel.class))
                    .bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
            Bootstrap bootstrap = client.configure(new Bootstrap().group(group).channel(RdmaChannel.class));
            faulty.queuePairFailure = new IOException("expected");
            for (int i = 0; i < 3; i++) {
                assertFalse(bootstrap.connect(listener.localAddress()).await().isSuccess());
            }
            faulty.queuePairFailure = null;
            bootstrap.connect(listener.localAddress()).sync().channel().close().sync();
        } finally {
            group.shutdownGracefully(0, RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        }
        assertEquals(4, built.get());
        assertEquals(0, server.memory().usedBytes());
    }
}
