package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.verbs.VerbsProvider;

/** Streams between two ends in this process. */
abstract class StreamFixture {

    static final int TIMEOUT_SECONDS = 30;

    RdmaEventLoopGroup group;
    private final BlockingQueue<End> accepted = new LinkedBlockingQueue<>();

    VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    @BeforeEach
    void startGroup() {
        group = new RdmaEventLoopGroup(2, new DefaultThreadFactory("stream-test"), provider(), IdleStrategy.ADAPTIVE);
    }

    @AfterEach
    void stopGroup() throws InterruptedException {
        group.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(group.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS), "event loops did not stop");
    }

    /** One end of a connection: keeps what arrives, and the names of what happens, in order. */
    static class End extends ChannelInboundHandlerAdapter {

        final ByteArrayOutputStream received = new ByteArrayOutputStream(); // this and the next are guarded by this
        final List<String> events = new ArrayList<>();
        final List<Integer> reads = new ArrayList<>();
        volatile RdmaStreamChannel channel;

        @Override
        public void handlerAdded(ChannelHandlerContext ctx) {
            channel = (RdmaStreamChannel) ctx.channel();
        }

        @Override
        public void channelActive(ChannelHandlerContext ctx) {
            event("active");
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
            ByteBuf buffer = (ByteBuf) message;
            synchronized (this) {
                reads.add(buffer.readableBytes());
                buffer.readBytes(received, buffer.readableBytes());
                notifyAll();
            }
            buffer.release();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            event(event.getClass().getSimpleName());
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            event(cause.getMessage());
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            event("inactive");
        }

        private synchronized void event(String name) {
            events.add(name);
            notifyAll();
        }

        synchronized void await(String what, BooleanSupplier condition) throws InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
            while (!condition.getAsBoolean()) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                assertTrue(left > 0, () -> "waited in vain for " + what
                        + ", there are " + received.size() + " bytes and " + events);
                wait(left);
            }
        }

        byte[] awaitBytes(int count) throws InterruptedException {
            await(count + " bytes", () -> received.size() >= count);
            synchronized (this) {
                return received.toByteArray();
            }
        }

        void awaitEvent(String name) throws InterruptedException {
            await(name, () -> events.contains(name));
        }

        synchronized List<String> events() {
            return List.copyOf(events);
        }

        /** Writes bytes from the channel's allocator. */
        ChannelFuture write(byte[] bytes) {
            return channel.writeAndFlush(channel.alloc().buffer(bytes.length).writeBytes(bytes));
        }
    }

    ServerBootstrap serverBootstrap() {
        return serverBootstrap(channel -> { });
    }

    ServerBootstrap serverBootstrap(Consumer<Channel> before) {
        return serverBootstrap(group, before);
    }

    ServerBootstrap serverBootstrap(EventLoopGroup loops, Consumer<Channel> before) {
        return new ServerBootstrap().group(loops).channel(RdmaServerStreamChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel child) {
                        before.accept(child);
                        End end = new End() {
                            @Override
                            public void channelActive(ChannelHandlerContext ctx) {
                                super.channelActive(ctx);
                                accepted.add(this);
                            }
                        };
                        child.pipeline().addLast(end);
                    }
                });
    }

    RdmaServerStreamChannel listen(ServerBootstrap server) throws InterruptedException {
        return (RdmaServerStreamChannel) server.bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    }

    Bootstrap bootstrap() {
        return new Bootstrap().group(group).channel(RdmaStreamChannel.class);
    }

    End connect(Bootstrap client, InetSocketAddress address) throws InterruptedException {
        End end = new End();
        await(client.clone().handler(end).connect(address));
        return end;
    }

    /** A client and its server's end. */
    record Pair(End client, End server) {
    }

    Pair pair() throws InterruptedException {
        return pair(false);
    }

    Pair pair(boolean allowHalfClosure) throws InterruptedException {
        RdmaServerStreamChannel server = listen(serverBootstrap()
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure));
        End client = connect(bootstrap().option(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure), server.localAddress());
        return new Pair(client, awaitAccepted());
    }

    End awaitAccepted() throws InterruptedException {
        End end = accepted.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(end, "no connection was accepted");
        return end;
    }

    static void await(ChannelFuture future) throws InterruptedException {
        assertTrue(future.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        if (!future.isSuccess()) {
            throw new AssertionError(future.cause());
        }
    }

    static byte[] bytes(int count, int seed) {
        byte[] bytes = new byte[count];
        new java.util.Random(seed).nextBytes(bytes);
        return bytes;
    }
}
