package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.local.LocalChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ScheduledFuture;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.channel.RdmaEventLoopGroup;

/** Event loops run tasks and timers beside their connections, and stop. A part of {@link RdmaTransportContract}. */
public abstract class EventLoopContract extends TransportFixture {

    private static final int SENT_BYTES = 64 * 1024;

    @ParameterizedTest
    @EnumSource(IdleStrategy.class)
    void shouldCarryMessagesWithEveryIdleStrategy(IdleStrategy idleStrategy) throws Exception {
        EventLoopGroup other = startGroup(1, idleStrategy);
        Connection connection = connect(serverBootstrap(other), bootstrap(other));
        for (int i = 0; i < 100; i++) {
            connection.client().send("ping " + i);
            assertEquals("ping " + i, connection.server().awaitText());
            connection.server().send("pong " + i);
            assertEquals("pong " + i, connection.client().awaitText());
        }
    }

    @ParameterizedTest
    @EnumSource(IdleStrategy.class)
    void shouldRunTasksAndTimersOfOtherThreads(IdleStrategy idleStrategy) throws Exception {
        EventLoopGroup other = startGroup(1, idleStrategy);
        EventLoop loop = other.next();
        for (int i = 0; i < 500; i++) {
            int number = i;
            assertEquals(number, Endpoint.await(loop.submit(() -> number)).getNow());
        }
        assertEquals(List.of(1, 2, 3), orderOfTimers(loop));
        AtomicInteger ticks = new AtomicInteger();
        var ticker = loop.scheduleAtFixedRate(ticks::incrementAndGet, 1, 1, TimeUnit.MILLISECONDS);
        awaitTrue(() -> ticks.get() >= 20, "the timer repeats");
        ticker.cancel(false);
    }

    @ParameterizedTest
    @CsvSource({"BLOCKING, 1000, 40", "BUSY_POLL, 1000, 16", "BLOCKING, 7, 7"})
    void shouldPassOnTogetherWhatHasArrived(IdleStrategy idleStrategy, int maxMessagesPerRead, int expected) throws Exception {
        EventLoopGroup other = startGroup(1, idleStrategy);
        Queue<Integer> turns = new ConcurrentLinkedQueue<>();
        ServerBootstrap server = serverBootstrap(other).childHandler(recording(new TurnCounter(turns)))
                .childOption(ChannelOption.AUTO_READ, false).childOption(ChannelOption.RCVBUF_ALLOCATOR,
                        new FixedRecvByteBufAllocator(1024).maxMessagesPerRead(maxMessagesPerRead));
        Connection connection = connect(server, bootstrap(other));
        for (int i = 0; i < 40; i++) {
            connection.client().send("message " + i);
        }
        awaitTrue(() -> connection.server().count(Counter.RECEIVES_HELD_BACK) == 40, "all messages arrive");
        connection.server().channel().config().setAutoRead(true);
        for (int i = 0; i < 40; i++) {
            assertEquals("message " + i, connection.server().awaitText());
        }
        awaitTrue(() -> !turns.isEmpty(), "a turn ends");
        assertEquals(expected, turns.element());
    }

    /** Counts the messages from one {@code channelReadComplete} to the next. */
    private static final class TurnCounter extends ChannelInboundHandlerAdapter {

        private final Queue<Integer> turns;
        private int messages;

        TurnCounter(Queue<Integer> turns) {
            this.turns = turns;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            messages++;
            ctx.fireChannelRead(message);
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext ctx) {
            if (messages > 0) {
                turns.add(messages);
                messages = 0;
            }
            ctx.fireChannelReadComplete();
        }
    }

    /**
     * Runs three timers. Netty runs a timer at once that is late when the loop first sees it, whatever others are due; so only a
     * round counts in which all three still wait when the loop has seen them, in the order of their deadlines although they were
     * submitted in another.
     */
    private static List<Integer> orderOfTimers(EventLoop loop) throws Exception {
        for (long millis = 10; millis < 10_000; millis *= 2) {
            List<Integer> order = new CopyOnWriteArrayList<>();
            ScheduledFuture<?> third = loop.schedule(() -> order.add(3), 3 * millis, TimeUnit.MILLISECONDS);
            ScheduledFuture<?> first = loop.schedule(() -> order.add(1), millis, TimeUnit.MILLISECONDS);
            ScheduledFuture<?> second = loop.schedule(() -> order.add(2), 2 * millis, TimeUnit.MILLISECONDS);
            Endpoint.await(loop.submit(() -> { }));
            boolean counts = first.getDelay(TimeUnit.NANOSECONDS) > 0 && first.compareTo(second) < 0
                    && second.compareTo(third) < 0;
            for (Future<?> timer : List.of(first, second, third)) {
                Endpoint.await(timer);
            }
            if (counts) {
                return order;
            }
        }
        throw new AssertionError("this machine stands still for seconds");
    }

    @ParameterizedTest
    @EnumSource(value = IdleStrategy.class, names = {"ADAPTIVE", "BLOCKING"})
    void shouldUseNoCpuWhenIdle(IdleStrategy idleStrategy) throws Exception {
        EventLoopGroup other = startGroup(1, idleStrategy);
        Connection connection = connect(serverBootstrap(other), bootstrap(other));
        connection.client().send("warm up");
        connection.server().awaitText();
        var threads = ManagementFactory.getThreadMXBean();
        long threadId = Endpoint.await(other.next().submit((Callable<Long>) () -> Thread.currentThread().getId())).getNow();
        long before = threads.getThreadCpuTime(threadId);
        TimeUnit.MILLISECONDS.sleep(500); // measures, does not synchronise
        long usedNanos = threads.getThreadCpuTime(threadId) - before;
        assertTrue(usedNanos < 50_000_000, usedNanos + " ns of CPU in 500 ms");
    }

    @Test
    void shouldServeChannelsWhileTasksFlood() throws Exception {
        EventLoopGroup other = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(other), bootstrap(other));
        EventLoop loop = other.next();
        AtomicInteger runs = new AtomicInteger();
        Runnable again = new Runnable() {
            @Override
            public void run() {
                if (runs.incrementAndGet() >= 0) {
                    loop.execute(this);
                }
            }
        };
        for (int i = 0; i < 100; i++) {
            loop.execute(again);
        }
        for (int i = 0; i < 10; i++) {
            connection.client().send("ping " + i);
            assertEquals("ping " + i, connection.server().awaitText());
        }
        runs.set(Integer.MIN_VALUE);
    }

    @Test
    void shouldRunTailTasks() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        SingleThreadEventLoop loop = (SingleThreadEventLoop) group.next();
        loop.executeAfterEventLoopIteration(ran::countDown);
        loop.execute(() -> { });
        assertTrue(ran.await(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void shouldRefuseOtherTransports() throws Exception {
        assertInstanceOf(IllegalStateException.class, Endpoint.awaitFailure(
                group.register(new io.netty.channel.socket.nio.NioSocketChannel())));
        assertFalse(new LocalChannel().isRegistered());
    }

    @Test
    void shouldKnowItsChannels() throws Exception {
        EventLoopGroup other = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(other), bootstrap(other));
        SingleThreadEventLoop loop = (SingleThreadEventLoop) other.next();
        assumeTrue(loop.registeredChannels() >= 0, "these loops do not count");
        assertEquals(3, loop.registeredChannels());
        List<Object> channels = connection.client().call(() -> {
            List<Object> found = new CopyOnWriteArrayList<>();
            loop.registeredChannelsIterator().forEachRemaining(found::add);
            return found;
        });
        assertTrue(channels.containsAll(List.of(connection.client().channel(), connection.server().channel(),
                connection.server().channel().parent())));
        connection.client().channel().close();
        connection.server().awaitInactive();
        awaitTrue(() -> loop.registeredChannels() == 1, "closed channels are forgotten");
    }

    @Test
    void shouldRejectTasksAfterTheShutdown() throws Exception {
        EventLoopGroup other = newGroup(1, IdleStrategy.ADAPTIVE);
        EventLoop loop = other.next();
        stop(other);
        assertThrows(RejectedExecutionException.class, () -> loop.execute(() -> { }));
    }

    /** Whatever the connections would wait for: a peer that takes nothing, and a close time-out that is longer than this test. */
    @ParameterizedTest
    @CsvSource({"0, 300", "0, 0", "100, 300"})
    void shouldEndWithinTheTimeThatItIsGiven(long quietMillis, long timeoutMillis) throws Exception {
        EventLoopGroup other = newGroup(1, IdleStrategy.BLOCKING);
        assumeTrue(other instanceof RdmaEventLoopGroup, "other loops are not told the time");
        Connection connection = connect(serverBootstrap(other).childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 600_000),
                bootstrap());
        CountDownLatch free = new CountDownLatch(1);
        connection.client().channel().eventLoop().execute(() -> {
            try {
                free.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            connection.server().channel().writeAndFlush(connection.server().channel().alloc().buffer(100).writeZero(100));
            other.shutdownGracefully(quietMillis, timeoutMillis, TimeUnit.MILLISECONDS);
            assertTrue(other.awaitTermination(Endpoint.TIMEOUT_SECONDS / 3, TimeUnit.SECONDS), "event loops did not stop");
        } finally {
            free.countDown();
        }
        connection.client().awaitInactive();
        assertTrue(connection.server().channel().closeFuture().isDone());
    }

    @Test
    void shouldDeliverWhatItHasSentBeforeItEnds() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits(), "the connection would end for want of a receive");
        EventLoopGroup other = newGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(other).childOption(ChannelOption.AUTO_READ, false)
                        .childOption(RdmaChannelOption.SHARED_RECEIVES, false)
                        .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1)
                        .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, 1024)
                        .childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 30_000),
                bootstrap().option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, SENT_BYTES));
        for (int i = 0; i < 10; i++) {
            connection.client().send("that nobody will read " + i); // input that is left over makes TCP send a reset
        }
        CountDownLatch free = new CountDownLatch(1);
        connection.client().channel().eventLoop().execute(() -> {
            try {
                free.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        int sent = 0;
        while (sent < 100) {
            ByteBuf message = connection.server().channel().alloc().buffer(SENT_BYTES).writeZero(SENT_BYTES);
            if (!connection.server().channel().writeAndFlush(message).await(100)) {
                break; // the provider has taken all it can
            }
            sent++;
        }
        Endpoint.await(connection.server().channel().close());
        other.shutdownGracefully(0, Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        other.awaitTermination(300, TimeUnit.MILLISECONDS); // it may, where nothing can be lost any more
        free.countDown();
        for (int i = 0; i < sent; i++) {
            ByteBuf message = connection.client().awaitMessage();
            assertEquals(SENT_BYTES, message.readableBytes());
            message.release();
        }
        connection.client().awaitInactive();
        assertTrue(other.awaitTermination(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS), "event loops did not stop");
    }
}
