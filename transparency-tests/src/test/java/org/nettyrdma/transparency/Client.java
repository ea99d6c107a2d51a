package org.nettyrdma.transparency;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.codec.rpcrdma.RpcRdmaBuilder;

/** A connection over RDMA on an event loop of its own. */
final class Client implements AutoCloseable {

    private static final int TIMEOUT_SECONDS = 30;

    final RpcRdma rpcRdma;
    final RdmaChannel channel;
    private final EventLoopGroup group = new RdmaEventLoopGroup(1);

    Client(RpcRdmaBuilder builder, InetSocketAddress server) throws InterruptedException {
        rpcRdma = builder.build();
        Channel connected = rpcRdma.configure(new Bootstrap().group(group).channel(RdmaChannel.class)).connect(server).sync()
                .channel();
        channel = (RdmaChannel) connected;
    }

    /** The results, which the caller releases. */
    ByteBuf call(RpcRequest request) throws Exception {
        return rpc().call(request).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    RpcClient rpc() {
        return channel.pipeline().get(RpcClient.class);
    }

    @Override
    public void close() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
