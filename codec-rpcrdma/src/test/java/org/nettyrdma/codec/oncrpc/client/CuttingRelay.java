package org.nettyrdma.codec.oncrpc.client;

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
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Stands between clients and a server, over TCP. Each connection is cut, with a reset at both ends, when so many bytes have
 * passed in both directions as the test says of it. Some connections may be slow.
 */
public final class CuttingRelay implements AutoCloseable {

    private final EventLoopGroup group = new NioEventLoopGroup(1);
    private final Channel listener;
    private final AtomicInteger cuts = new AtomicInteger();

    /**
     * @param server      where the server is, asked for each connection; {@code null} cuts it at once
     * @param bytesToPass how many bytes may pass on the next connection
     */
    public CuttingRelay(Supplier<? extends SocketAddress> server, LongSupplier bytesToPass) throws InterruptedException {
        this(server, bytesToPass, () -> 0);
    }

    /**
     * @param delayMillis how long the next connection rests after each piece that it forwards, 0 for not at all
     */
    public CuttingRelay(Supplier<? extends SocketAddress> server, LongSupplier bytesToPass, LongSupplier delayMillis)
            throws InterruptedException {
        listener = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.SO_LINGER, 0)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel client) {
                        connect(client, server.get(), new Budget(bytesToPass.getAsLong(), delayMillis.getAsLong()));
                    }
                }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
    }

    public SocketAddress address() {
        return listener.localAddress();
    }

    /** How many connections have been cut. */
    public int cuts() {
        return cuts.get();
    }

    private void connect(Channel client, SocketAddress server, Budget budget) {
        if (server == null) {
            client.close();
            return;
        }
        ChannelFuture connected = new Bootstrap().group(client.eventLoop()).channel(NioSocketChannel.class)
                .option(ChannelOption.SO_LINGER, 0).option(ChannelOption.AUTO_READ, false)
                .handler(new Forward(client, budget)).connect(server);
        connected.addListener(done -> {
            if (done.isSuccess()) {
                client.pipeline().addLast(new Forward(connected.channel(), budget));
                client.read();
                connected.channel().read();
            } else {
                client.close();
            }
        });
    }

    @Override
    public void close() {
        listener.close().syncUninterruptibly();
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** What may still pass on one connection. All its channels are on one event loop. */
    private static final class Budget {

        private final long delayMillis;
        private long bytes;

        Budget(long bytes, long delayMillis) {
            this.bytes = bytes;
            this.delayMillis = delayMillis;
        }
    }

    private final class Forward extends ChannelInboundHandlerAdapter {

        private final Channel other;
        private final Budget budget;

        Forward(Channel other, Budget budget) {
            this.other = other;
            this.budget = budget;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            if (budget.bytes <= 0) {
                ReferenceCountUtil.release(msg); // cut before
                return;
            }
            ByteBuf bytes = (ByteBuf) msg;
            int passed = (int) Math.min(budget.bytes, bytes.readableBytes());
            budget.bytes -= passed;
            ChannelFuture written = other.writeAndFlush(bytes.readRetainedSlice(passed));
            bytes.release();
            if (budget.bytes == 0) {
                cuts.incrementAndGet();
                written.addListener(done -> other.close());
                ctx.close();
            } else if (budget.delayMillis == 0) {
                written.addListener(done -> ctx.read());
            } else {
                written.addListener(done -> ctx.executor().schedule(ctx::read, budget.delayMillis, TimeUnit.MILLISECONDS));
            }
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
}
