package org.nettyrdma.testing.stream;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaEventLoopGroup;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;

/**
 * What the programs of this package run over.
 *
 * @param loops   one event loop
 * @param client  class of the channels that connect
 * @param server  class of the channels that listen
 */
record StreamTransport(EventLoopGroup loops, Class<? extends SocketChannel> client, Class<? extends ServerSocketChannel> server) {

    /** The byte stream over the best provider that there is, or over the one that {@code org.nettyrdma.provider} names. */
    static StreamTransport rdma() {
        IdleStrategy idleStrategy = IdleStrategy.valueOf(System.getProperty("stream.idleStrategy", "ADAPTIVE"));
        return new StreamTransport(new RdmaEventLoopGroup(1, new DefaultThreadFactory("peer", true), Rdma.provider(),
                idleStrategy), RdmaStreamChannel.class, RdmaServerStreamChannel.class);
    }

    /** TCP, to tell a fault of the byte stream from one of the programs. */
    static StreamTransport tcp() {
        return new StreamTransport(new NioEventLoopGroup(1, new DefaultThreadFactory("peer", true)), NioSocketChannel.class,
                NioServerSocketChannel.class);
    }
}
