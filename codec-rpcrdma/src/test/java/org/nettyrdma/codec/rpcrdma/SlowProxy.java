package org.nettyrdma.codec.rpcrdma;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Stands between peers and a server, over TCP. What the server says passes at once; of what each peer says only the first bytes
 * do, and then nothing, or a little now and then: so the peer's device answers RDMA Reads, and it takes as long as the test
 * wants.
 */
final class SlowProxy implements AutoCloseable {

    /** Enough for a handshake and some calls. */
    private static final int FREE_BYTES = 8 << 10;
    private static final int TRICKLE_BYTES = 128;

    private final EventLoopGroup group = new NioEventLoopGroup(1);
    private final int trickleMillis;
    private final Channel listener;

    /**
     * @param trickleMillis how long each piece is held back, 0 for ever
     * @param from          the addresses that the server sees
     */
    SlowProxy(SocketAddress server, int trickleMillis, Supplier<InetSocketAddress> from) throws InterruptedException {
        this.trickleMillis = trickleMillis;
        this.listener = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(TRICKLE_BYTES).maxMessagesPerRead(1))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel peer) {
                        connect(peer, server, from.get());
                    }
                }).bind(RawPeer.loopback()).sync().channel();
    }

    Channel listener() {
        return listener;
    }

    private void connect(Channel peer, SocketAddress server, InetSocketAddress from) {
        ChannelFuture connected = new Bootstrap().group(peer.eventLoop()).channel(NioSocketChannel.class)
                .handler(new Forward(peer)).connect(server, from);
        connected.addListener(done -> {
            if (done.isSuccess()) {
                peer.pipeline().addLast(new ForwardSlowly(connected.channel()));
                peer.read();
            } else {
                peer.close();
            }
        });
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        group.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static class Forward extends ChannelInboundHandlerAdapter {

        final Channel other;

        Forward(Channel other) {
            this.other = other;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            other.writeAndFlush(msg);
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            other.close();
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            ctx.close();
        }
    }

    private final class ForwardSlowly extends Forward {

        private int passed;

        ForwardSlowly(Channel other) {
            super(other);
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            passed += ((ByteBuf) msg).readableBytes();
            super.channelRead(ctx, msg);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (passed < FREE_BYTES) {
                ctx.read();
            } else if (trickleMillis > 0) {
                ctx.executor().schedule(() -> ctx.read(), trickleMillis, TimeUnit.MILLISECONDS);
            }
        }
    }
}
