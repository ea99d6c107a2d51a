package org.nettyrdma.streamtests.testsuite;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.testsuite.transport.socket.AbstractSocketShutdownOutputByPeerTest;
import java.net.SocketAddress;
import java.util.List;

/** The peer that the suite's own subclass makes of a socket is a stream here. */
class StreamShutdownOutputByPeerTest extends AbstractSocketShutdownOutputByPeerTest<Channel> {

    @Override
    protected List<BootstrapFactory<ServerBootstrap>> newFactories() {
        return StreamPermutation.servers();
    }

    @Override
    protected Channel newSocket() {
        return StreamPermutation.client().option(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .handler(new ChannelInboundHandlerAdapter()).register().syncUninterruptibly().channel();
    }

    @Override
    protected void connect(Channel socket, SocketAddress address) {
        socket.connect(address).syncUninterruptibly();
    }

    @Override
    protected void write(Channel socket, int data) {
        socket.writeAndFlush(Unpooled.wrappedBuffer(new byte[] {(byte) data})).syncUninterruptibly();
    }

    @Override
    protected void shutdownOutput(Channel socket) {
        ((SocketChannel) socket).shutdownOutput().syncUninterruptibly();
    }

    @Override
    protected void close(Channel socket) {
        socket.close().syncUninterruptibly();
    }
}
