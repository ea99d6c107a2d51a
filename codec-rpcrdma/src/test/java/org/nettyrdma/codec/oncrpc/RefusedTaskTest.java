package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.util.concurrent.Future;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;

/** What a turn of the event loop leaves to a later one, and the queue has no memory for. */
class RefusedTaskTest {

    private static final int SECONDS = 20;
    private static final int NEVER_ANSWERED = 2;

    private final ExhaustedEventLoop loop = new ExhaustedEventLoop();
    private final ExhaustedEventLoop serverLoop = new ExhaustedEventLoop();
    private final RpcClient client = new RpcClient();
    private Channel channel;

    @BeforeEach
    void connect() {
        LocalAddress address = new LocalAddress(getClass().getName());
        TestProgram program = new TestProgram(1, 1, 1, call -> {
            if (call.procedure() != NEVER_ANSWERED) {
                call.reply(Unpooled.EMPTY_BUFFER);
            }
        });
        new ServerBootstrap().group(serverLoop).channel(LocalServerChannel.class).childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel accepted) {
                accepted.pipeline().addLast(new RpcServerHandler(program));
            }
        }).bind(address).syncUninterruptibly();
        channel = new Bootstrap().group(loop).channel(LocalChannel.class).handler(client).connect(address).syncUninterruptibly()
                .channel();
    }

    @AfterEach
    void end() {
        channel.close().syncUninterruptibly();
        loop.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
        serverLoop.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private <T> T inOneTurn(Callable<T> turn) throws Exception {
        return loop.submit(turn).get(SECONDS, TimeUnit.SECONDS);
    }

    private static void assertAnswered(Future<ByteBuf> call) throws Exception {
        call.get(SECONDS, TimeUnit.SECONDS).release();
    }

    @Test
    void shouldFlushCallsWhereTheFlushCannotWait() throws Exception {
        Future<ByteBuf> call = inOneTurn(() -> {
            loop.refuseTasks(1);
            return client.call(new RpcRequest(1, 1, 1));
        });
        assertAnswered(call);
        assertEquals(0, inOneTurn(loop::tasksToRefuse));
        assertAnswered(client.call(new RpcRequest(1, 1, 1)));
    }

    @Test
    void shouldFailACallThatCannotHaveATimeOutAndArmThatOfTheNext() throws Exception {
        Future<ByteBuf> slow = client.call(new RpcRequest(1, 1, NEVER_ANSWERED));
        Future<ByteBuf> call = inOneTurn(() -> {
            loop.refuseTimers(1);
            return client.call(new RpcRequest(1, 1, NEVER_ANSWERED).setTimeoutMillis(1));
        });
        assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
        assertFalse(assertInstanceOf(RpcConnectionException.class, call.cause()).mayHaveBeenSent(), "not flushed yet");
        assertInstanceOf(OutOfMemoryError.class, call.cause().getCause());
        Future<ByteBuf> next = client.call(new RpcRequest(1, 1, NEVER_ANSWERED).setTimeoutMillis(2));
        assertTrue(next.await(SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(RpcTimeoutException.class, next.cause());
        assertFalse(slow.isDone());
    }

    @Test
    void shouldCancelACallThatTheEventLoopIsNotTold() throws Exception {
        Future<ByteBuf> call = client.call(new RpcRequest(1, 1, NEVER_ANSWERED).setTimeoutMillis(1000));
        assertEquals(1, inOneTurn(() -> client.statistics().pendingCalls()));
        loop.refuseTasks(1);
        assertTrue(call.cancel(false));
        assertEquals(0, loop.tasksToRefuse());
        while (inOneTurn(client::statistics).pendingCalls() > 0) {
            Thread.onSpinWait(); // until its time is over
        }
    }

    @Test
    void shouldPauseReadingWhereAutoReadCannotComeBackInTheNextTurn() throws Exception {
        ReadPause pause = new ReadPause(channel.pipeline().firstContext());
        assertNull(inOneTurn(() -> {
            loop.refuseTasks(1);
            pause.pause();
            return null;
        }));
        assertEquals(0, inOneTurn(loop::tasksToRefuse));
        assertFalse(channel.config().isAutoRead());
        assertTrue(inOneTurn(() -> {
            pause.resume();
            return channel.config().isAutoRead();
        }));
    }

    @Test
    void shouldLookAtTheClockAgainWhereTheEndOfTheTurnCannotBeSeen() throws Exception {
        AtomicLong nowNanos = new AtomicLong();
        RpcCallTimer.watch(channel, (side, program, version, procedure, outcome, elapsedNanos) -> { }, nowNanos::get);
        RpcCallTimer timer = RpcCallTimer.of(channel.pipeline().firstContext(), Side.CLIENT);
        assertEquals(0, inOneTurn(() -> {
            timer.sinceNanos(0);
            loop.refuseTasks(1);
            return timer.sinceNanos(0);
        }));
        assertEquals(0, inOneTurn(loop::tasksToRefuse));
        nowNanos.set(7);
        assertEquals(7, inOneTurn(() -> timer.sinceNanos(0)));
    }
}
