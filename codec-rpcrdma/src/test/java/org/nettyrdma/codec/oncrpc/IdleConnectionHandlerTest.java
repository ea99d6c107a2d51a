package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class IdleConnectionHandlerTest {

    private static final long TIMEOUT_MILLIS = 1000;

    private boolean busy;
    private final EmbeddedChannel channel = new EmbeddedChannel();

    private void start() {
        channel.freezeTime();
        channel.pipeline().addFirst(new IdleConnectionHandler(TIMEOUT_MILLIS, () -> busy));
    }

    private void pass(long millis) {
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    private void passQuarters(int count) {
        for (int i = 0; i < count; i++) {
            pass(TIMEOUT_MILLIS / 4);
        }
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldCloseWhatWasNeverUsed() {
        start();
        passQuarters(3);
        assertTrue(channel.isActive());
        passQuarters(1);
        assertFalse(channel.isActive());
    }

    @Test
    void shouldKeepAConnectionForTheWholeTimeAfterItsLastMessage() {
        start();
        for (int i = 0; i < 10; i++) {
            passQuarters(3);
            pass(TIMEOUT_MILLIS / 4 - 1);
            ByteBuf message = Unpooled.buffer();
            channel.writeInbound(message);
            pass(1);
        }
        passQuarters(3);
        assertTrue(channel.isActive());
        passQuarters(1);
        assertFalse(channel.isActive());
    }

    @Test
    void shouldKeepAConnectionWhileACallIsInProgress() {
        start();
        busy = true;
        passQuarters(100);
        assertTrue(channel.isActive());
        busy = false;
        passQuarters(4);
        assertFalse(channel.isActive());
    }

    @Test
    void shouldKeepAConnectionThatIsNotReadFrom() {
        start();
        channel.config().setAutoRead(false);
        passQuarters(100);
        assertTrue(channel.isActive());
    }

    @Test
    void shouldCloseAConnectionWhosePeerTakesNothing() {
        start();
        channel.write(Unpooled.buffer().writeLong(1)); // not flushed: it lies in the channel
        passQuarters(4);
        assertTrue(channel.isActive());
        passQuarters(1);
        assertFalse(channel.isActive());
    }

    @Test
    void shouldDoNothingAfterTheEnd() {
        int[] closes = new int[1];
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                closes[0]++;
                ctx.close(promise);
            }
        });
        channel.freezeTime();
        channel.pipeline().addLast(new IdleConnectionHandler(TIMEOUT_MILLIS, () -> busy));
        channel.close();
        passQuarters(10);
        assertEquals(1, closes[0]);
    }

    @Test
    void shouldRefuseATimeOutThatIsNone() {
        assertThrows(IllegalArgumentException.class, () -> new IdleConnectionHandler(0, () -> busy));
    }

    /** A close may take longer than the time-out. */
    @Test
    void shouldCloseOnce() {
        start();
        AtomicInteger closes = new AtomicInteger();
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                closes.incrementAndGet();
            }
        });
        passQuarters(12);
        assertEquals(1, closes.get());
        channel.pipeline().removeFirst();
    }

    @Test
    void shouldCloseAlsoWhereThereIsNoMemoryForAnotherTimer() throws Exception {
        ExhaustedEventLoop loop = new ExhaustedEventLoop();
        LocalAddress address = new LocalAddress("shouldCloseAlsoWhereThereIsNoMemoryForAnotherTimer");
        new ServerBootstrap().group(loop).channel(LocalServerChannel.class).childHandler(new ChannelInboundHandlerAdapter())
                .bind(address).sync();
        Channel idle = new Bootstrap().group(loop).channel(LocalChannel.class).handler(new IdleConnectionHandler(4, () -> {
            loop.refuseTimers(1);
            return false;
        })).connect(address).sync().channel();
        assertTrue(idle.closeFuture().await(30, TimeUnit.SECONDS));
        loop.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }
}
