package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** Promises of other executors than the gate's, and void ones. */
@Timeout(60)
class CreditGateExecutorsTest {

    private final DefaultEventLoop loop = new DefaultEventLoop();
    private final DefaultEventExecutor other = new DefaultEventExecutor();
    private final CreditGate gate = new CreditGate(16, 4, 8);
    private Channel channel;

    @BeforeEach
    void connect() throws Exception {
        LocalAddress address = new LocalAddress(CreditGateExecutorsTest.class);
        new ServerBootstrap().group(loop).channel(LocalServerChannel.class).childHandler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object msg) {
                ReferenceCountUtil.release(msg);
            }
        }).bind(address).sync();
        channel = new Bootstrap().group(loop).channel(LocalChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel made) {
                made.pipeline().addLast(gate);
            }
        }).connect(address).sync().channel();
    }

    @AfterEach
    void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        other.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void awaitEventLoop() throws Exception {
        loop.submit(() -> { }).get(30, TimeUnit.SECONDS);
    }

    @Test
    void shouldDropACancelledRequestOnItsEventLoop() throws Exception {
        channel.writeAndFlush(new TestMessage(Role.REQUEST, 1, 0)).sync();
        CompletableFuture<Thread> dropped = new CompletableFuture<>();
        TestMessage waiting = new TestMessage(Role.REQUEST, 2, 0);
        waiting.released = () -> dropped.complete(Thread.currentThread());
        ChannelPromise promise = new DefaultChannelPromise(channel, other);
        channel.writeAndFlush(waiting, promise);
        awaitEventLoop();
        assertFalse(channel.isWritable());
        assertTrue(promise.cancel(false));
        Thread thread = dropped.get(30, TimeUnit.SECONDS);
        assertSame(loop.submit(Thread::currentThread).get(), thread);
        awaitEventLoop();
        assertTrue(channel.isWritable());
        assertEquals(0, gate.statistics().requests().waiting());
    }

    /** A void promise does not tell that its write has failed. */
    @Test
    void shouldGiveTheCreditOfAFailedWriteBackWhateverItsPromiseIs() throws Exception {
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                promise.tryFailure(new IllegalStateException("refused"));
            }
        });
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) { } // what a void promise makes of it
        });
        channel.write(new TestMessage(Role.REQUEST, 1, 0), channel.voidPromise());
        channel.write(new TestMessage(Role.REQUEST, 2, 0), new DefaultChannelPromise(channel, other));
        awaitEventLoop();
        assertEquals(0, gate.statistics().requests().inProgress());
    }
}
