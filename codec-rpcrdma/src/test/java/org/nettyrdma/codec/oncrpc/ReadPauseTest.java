package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.local.LocalChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an application does with {@code AUTO_READ} in the turn in which it is off to take the pending read back. */
class ReadPauseTest {

    private int reads;
    private ReadPause pause;
    private final EventLoopGroup group = new DefaultEventLoopGroup(1);
    private final Channel channel = new LocalChannel();

    @BeforeEach
    void start() {
        channel.pipeline().addLast(new ChannelOutboundHandlerAdapter() {
            @Override
            public void read(ChannelHandlerContext ctx) {
                reads++;
            }
        }, new ChannelOutboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                pause = new ReadPause(ctx);
            }

            @Override
            public void read(ChannelHandlerContext ctx) {
                if (!pause.keepsRead()) {
                    ctx.read();
                }
            }
        });
        group.register(channel).syncUninterruptibly();
    }

    @AfterEach
    void end() {
        channel.close().syncUninterruptibly();
        group.shutdownGracefully(0, 20, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private void inOneTurn(Runnable turn) {
        group.next().submit(turn).syncUninterruptibly();
    }

    @Test
    void shouldLeaveAutoReadOffThatWasTurnedOnAndOffMeanwhile() {
        inOneTurn(() -> {
            pause.pause();
            channel.config().setAutoRead(true);
            channel.config().setAutoRead(false);
        });
        inOneTurn(() -> {
            assertFalse(channel.config().isAutoRead());
            pause.resume();
            assertFalse(channel.config().isAutoRead());
            assertEquals(0, reads);
        });
    }

    @Test
    void shouldKeepAutoReadThatWasTurnedOnMeanwhile() {
        inOneTurn(() -> {
            pause.pause();
            channel.config().setAutoRead(true);
        });
        inOneTurn(() -> {
            assertTrue(channel.config().isAutoRead());
            assertEquals(0, reads);
            pause.resume();
            assertEquals(1, reads);
        });
    }

    @Test
    void shouldReadOnceWhereThePauseEndsMeanwhile() {
        inOneTurn(() -> {
            channel.config().setAutoRead(false);
            pause.pause();
            channel.read();
            channel.config().setAutoRead(true);
            pause.messageRead();
            pause.resume();
        });
        inOneTurn(() -> {
            assertTrue(channel.config().isAutoRead());
            assertEquals(1, reads);
        });
    }
}
