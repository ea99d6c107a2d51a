package org.nettyrdma.benchmarks;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.rpcrdma.RpcRdma;

/**
 * What can be compared. The kinds differ in channel class, event loop group and framing, and in nothing else.
 */
enum TransportKind {
    /** RPC-over-RDMA version 1 on software iWARP. */
    RDMA("RDMA (software iWARP)", false),
    /** The same with a checksum over every byte. */
    RDMA_CRC("RDMA (software iWARP, CRC32C)", true),
    /** ONC RPC with record marking over TCP, Netty's NIO transport. */
    TCP("TCP (Netty NIO)", false);

    /** Room for a record that carries the largest opaque and its call header. */
    private static final int MAX_RECORD_BYTES = BenchmarkProgram.MAX_OPAQUE_BYTES + 1024;

    private final String title;
    private final boolean checksum;

    TransportKind(String title, boolean checksum) {
        this.title = title;
        this.checksum = checksum;
    }

    String title() {
        return title;
    }

    boolean rdma() {
        return this != TCP;
    }

    boolean checksum() {
        return checksum;
    }

    EventLoopGroup newGroup() {
        return rdma() ? new RdmaEventLoopGroup(1) : new NioEventLoopGroup(1);
    }

    Class<? extends ServerChannel> serverChannel() {
        return rdma() ? RdmaServerChannel.class : NioServerSocketChannel.class;
    }

    Class<? extends Channel> clientChannel() {
        return rdma() ? RdmaChannel.class : NioSocketChannel.class;
    }

    ChannelHandler serverPipeline(ChannelHandler... last) {
        return rdma() ? RpcRdma.server().handlers(pipeline -> pipeline.addLast(last)).build() : tcpPipeline(last);
    }

    ChannelHandler clientPipeline(ChannelHandler... last) {
        return rdma() ? RpcRdma.client().handlers(pipeline -> pipeline.addLast(last)).build() : tcpPipeline(last);
    }

    private static ChannelHandler tcpPipeline(ChannelHandler... last) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(MAX_RECORD_BYTES)).addLast(last);
            }
        };
    }
}
