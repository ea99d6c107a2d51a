package org.nettyrdma.transparency;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.oncrpc.RpcUtil;
import org.apache.hadoop.portmap.PortmapAccess;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/**
 * Hadoop's portmapper over RDMA. This is what its {@code Portmap.start} does for TCP, with another event loop group, another
 * channel class and another framing entry:
 * <pre>{@code
 * bossGroup = new NioEventLoopGroup();
 * workerGroup = new NioEventLoopGroup(0, Executors.newCachedThreadPool());
 * tcpServer = new ServerBootstrap();
 * tcpServer.group(bossGroup, workerGroup)
 *     .channel(NioServerSocketChannel.class)
 *     .childHandler(new ChannelInitializer<SocketChannel>() {
 *       protected void initChannel(SocketChannel ch) throws Exception {
 *         ChannelPipeline p = ch.pipeline();
 *         p.addLast(RpcUtil.constructRpcFrameDecoder(),
 *             RpcUtil.STAGE_RPC_MESSAGE_PARSER, new IdleStateHandler(0, 0,
 *                         idleTimeMilliSeconds, TimeUnit.MILLISECONDS), handler,
 *             RpcUtil.STAGE_RPC_TCP_RESPONSE);
 *       }});
 * }</pre>
 */
final class HadoopPortmapServer implements AutoCloseable {

    private static final int IDLE_MILLIS = 5000;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    final RpcRdma rpcRdma = RpcRdma.server().handlers(this::addHandlers).build();
    private final ChannelGroup allChannels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelHandler handler = PortmapAccess.newRpcProgramPortmap(allChannels);
    private final EventLoopGroup group = new RdmaEventLoopGroup();
    private final Channel listener;

    HadoopPortmapServer() throws InterruptedException {
        ServerBootstrap server = new ServerBootstrap();
        server.group(group)
                .channel(RdmaServerChannel.class)
                .childHandler(rpcRdma);
        listener = server.bind(ANY_PORT).sync().channel();
    }

    private void addHandlers(ChannelPipeline p) {
        p.addLast(new UnmarkedRecords(),
                RpcUtil.STAGE_RPC_MESSAGE_PARSER, new IdleStateHandler(0, 0, IDLE_MILLIS, TimeUnit.MILLISECONDS), handler,
                RpcUtil.STAGE_RPC_TCP_RESPONSE);
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listener.localAddress();
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        allChannels.close().awaitUninterruptibly();
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
