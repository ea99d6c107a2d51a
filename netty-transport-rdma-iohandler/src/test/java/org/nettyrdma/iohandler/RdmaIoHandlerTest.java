package org.nettyrdma.iohandler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.ManualIoEventLoop;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.SingleThreadIoEventLoop;
import io.netty.channel.nio.NioIoHandle;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RdmaServerStreamChannel;
import org.nettyrdma.channel.RdmaStreamChannel;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;

class RdmaIoHandlerTest {

    private static final int TIMEOUT_SECONDS = 30;

    private final EventLoopGroup group = new MultiThreadIoEventLoopGroup(2, RdmaIoHandler.newFactory());

    @AfterEach
    void stop() {
        assertTrue(group.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(TIMEOUT_SECONDS,
                TimeUnit.SECONDS));
    }

    private Channel listen(EventLoopGroup loops, Class<? extends ServerChannel> type, ChannelInboundHandlerAdapter handler)
            throws InterruptedException {
        return new ServerBootstrap().group(loops).channel(type).childHandler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(handler);
            }
        }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    }

    private static Channel connect(EventLoopGroup loops, Class<? extends Channel> type, Channel server,
                                   ChannelInboundHandlerAdapter handler) throws InterruptedException {
        return new Bootstrap().group(loops).channel(type).handler(handler).connect(server.localAddress()).sync().channel();
    }

    /** By a task, the event loop is shut down behind its look at that, and does not prepare for its end. */
    @Test
    void shouldTellChannelsOfTheEndOfAnEventLoopThatOneOfItsTasksShutsDown() throws Exception {
        EventLoopGroup ending = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        CompletableFuture<Void> inactive = new CompletableFuture<>();
        Channel server = listen(group, RdmaServerChannel.class, new ChannelInboundHandlerAdapter());
        Channel client = connect(ending, RdmaChannel.class, server, new ChannelInboundHandlerAdapter() {
            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                inactive.complete(null);
            }
        });
        client.eventLoop().execute(() -> ending.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(ending.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(client.closeFuture().isSuccess());
        assertTrue(inactive.isDone());
    }

    private void exchange(EventLoopGroup loops, boolean stream) throws Exception {
        Channel server = listen(loops, stream ? RdmaServerStreamChannel.class : RdmaServerChannel.class, new Echo());
        var answer = new Answer(1000);
        Channel client = connect(loops, stream ? RdmaStreamChannel.class : RdmaChannel.class, server, answer);
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1000])).sync();
        answer.complete.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        client.close().sync();
        server.close().sync();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRunMessagesAndStreams(boolean stream) throws Exception {
        exchange(group, stream);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ADAPTIVE", "BLOCKING", "BUSY_POLL"})
    void shouldRunWithEachIdleStrategy(String idleStrategy) throws Exception {
        var loops = new MultiThreadIoEventLoopGroup(1,
                RdmaIoHandler.newFactory(Rdma.provider(), IdleStrategy.valueOf(idleStrategy)));
        try {
            exchange(loops, true);
        } finally {
            loops.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    /** Nobody wakes the loop but the task, or the time. */
    @Test
    void shouldWakeForTasksAndTimers() throws Exception {
        for (int i = 0; i < 100; i++) {
            group.submit(() -> { }).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            group.schedule(() -> { }, 1, TimeUnit.MILLISECONDS).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldEndThoughNothingRan() {
        group.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        stop();
        Channel late = new RdmaStreamChannel();
        Throwable cause = group.register(late).awaitUninterruptibly().cause();
        assertInstanceOf(RejectedExecutionException.class, cause);
    }

    /** As a group does that scales with its work. */
    @Test
    void shouldRestWithoutChannelsAndGoOnWithThem() throws Exception {
        var loop = (SingleThreadIoEventLoop) group.next();
        exchange(loop, true);
        Thread first = threadOf(loop);
        assertTrue(loop.trySuspend());
        first.join(TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS));
        assertFalse(first.isAlive());
        exchange(loop, false);
        assertNotEquals(first, threadOf(loop));
    }

    @Test
    void shouldNotRestWhileItHasAChannel() throws Exception {
        var loop = (SingleThreadIoEventLoop) group.next();
        Channel server = listen(loop, RdmaServerStreamChannel.class, new Echo());
        Thread thread = threadOf(loop);
        assertTrue(loop.trySuspend());
        var answer = new Answer(1000);
        Channel client = connect(group.next(), RdmaStreamChannel.class, server, answer);
        client.writeAndFlush(Unpooled.wrappedBuffer(new byte[1000])).sync();
        answer.complete.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertEquals(thread, threadOf(loop));
    }

    private static Thread threadOf(EventLoop loop) throws Exception {
        return loop.submit(Thread::currentThread).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** Netty's groups that scale add it up with the time of tasks. Waiting is not work. */
    @Test
    void shouldTellHowLongItHasWorked() throws Exception {
        assumeTrue(RdmaIoHandler.REPORTS_ACTIVE_TIME);
        var times = new LongAdder();
        var factory = RdmaIoHandler.newFactory(Rdma.provider(), IdleStrategy.BLOCKING);
        var loop = new SingleThreadIoEventLoop(null, new DefaultThreadFactory("timed"), factory) {
            @Override
            protected int runIo() {
                return ioHandler().run(new TimedContext(this, times));
            }
        };
        try {
            long startNanos = System.nanoTime();
            exchange(loop, true);
            loop.schedule(() -> { }, 200, TimeUnit.MILLISECONDS).sync();
            long nanos = System.nanoTime() - startNanos;
            assertTrue(times.sum() > 0, times::toString);
            assertTrue(times.sum() < nanos - TimeUnit.MILLISECONDS.toNanos(100), () -> times + " of " + nanos);
        } finally {
            loop.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    /** What an event loop that is measured tells its handler. */
    private record TimedContext(SingleThreadIoEventLoop loop, LongAdder times) implements IoHandlerContext {

        @Override
        public boolean canBlock() {
            return loop.pendingTasks() == 0;
        }

        @Override
        public long deadlineNanos() {
            return 0;
        }

        @Override
        public long delayNanos(long currentTimeNanos) {
            return TimeUnit.MILLISECONDS.toNanos(1);
        }

        @Override
        public boolean shouldReportActiveIoTime() {
            return true;
        }

        @Override
        public void reportActiveIoTime(long activeNanos) {
            times.add(activeNanos);
        }
    }

    @Test
    void shouldRunOnTheThreadOfItsUser() throws Exception {
        var loop = new ManualIoEventLoop(Thread.currentThread(), RdmaIoHandler.newFactory());
        Channel server = listen(group, RdmaServerStreamChannel.class, new Echo());
        var answer = new Answer(1000);
        Future<?> connected = new Bootstrap().group(loop).channel(RdmaStreamChannel.class).handler(answer)
                .connect(server.localAddress()).addListener((ChannelFuture future) ->
                        future.channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[1000])));
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!answer.complete.isDone() && System.nanoTime() < endNanos) {
            loop.run(TimeUnit.MILLISECONDS.toNanos(100));
        }
        assertTrue(connected.isSuccess(), () -> String.valueOf(connected.cause()));
        assertTrue(answer.complete.isDone());
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        while (!loop.isTerminated() && System.nanoTime() < endNanos) {
            loop.runNow();
        }
        assertTrue(loop.isTerminated());
    }

    /** Its user has work elsewhere, which the loop does not know of. */
    @ParameterizedTest
    @ValueSource(strings = {"ADAPTIVE", "BLOCKING", "BUSY_POLL"})
    void shouldNotWaitIfItWasWokenBefore(String idleStrategy) throws Exception {
        var loop = new ManualIoEventLoop(Thread.currentThread(),
                RdmaIoHandler.newFactory(Rdma.provider(), IdleStrategy.valueOf(idleStrategy)));
        loop.runNow();
        CompletableFuture.runAsync(loop::wakeup).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        long startNanos = System.nanoTime();
        loop.run(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        long nanos = System.nanoTime() - startNanos;
        assertTrue(nanos < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS) / 2, () -> "waited " + nanos);
        loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
    }

    /** Such a loop runs only tasks then. The ring of the peer is small at first, so that most is sent as answers come. */
    @Test
    void shouldSendWhatWasWrittenDuringTheQuietPeriodOfItsUser() throws Exception {
        int bytes = 200_000;
        var received = new Answer(bytes);
        Channel server = listen(group, RdmaServerStreamChannel.class, received);
        var loop = new ManualIoEventLoop(Thread.currentThread(), RdmaIoHandler.newFactory());
        ChannelFuture connected = new Bootstrap().group(loop).channel(RdmaStreamChannel.class)
                .handler(new ChannelInboundHandlerAdapter()).connect(server.localAddress());
        while (!connected.isDone()) {
            loop.run(TimeUnit.MILLISECONDS.toNanos(100));
        }
        connected.channel().writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes]));
        loop.shutdownGracefully(2500, 10_000, TimeUnit.MILLISECONDS);
        while (!loop.isTerminated()) {
            loop.runNow();
        }
        received.complete.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    /** By default peers have as long as the quiet period lasts, for most of which the event loop rests. */
    @Test
    void shouldSendAllThatWasWrittenDuringTheQuietPeriod() throws Exception {
        int bytes = 24 << 20;
        int quietMillis = 4000;
        var received = new Answer(bytes);
        Channel server = listen(group, RdmaServerStreamChannel.class, received);
        var loops = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory());
        Channel client = new Bootstrap().group(loops).channel(RdmaStreamChannel.class).option(ChannelOption.SO_SNDBUF, bytes)
                .option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, quietMillis).handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress()).sync().channel();
        client.eventLoop().submit(() -> {
            client.writeAndFlush(Unpooled.wrappedBuffer(new byte[bytes]));
            loops.shutdownGracefully(quietMillis, TimeUnit.SECONDS.toMillis(TIMEOUT_SECONDS), TimeUnit.MILLISECONDS);
        }).sync();
        assertTrue(loops.terminationFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        received.complete.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldCloseItsContextThoughThereIsNoMemoryForItsEnd() throws Exception {
        var atItsEnd = new CompletableFuture<Void>();
        var closed = new CompletableFuture<Void>();
        VerbsContext context = with(VerbsContext.class, Rdma.provider().openContext(), Map.of("isDrained", () -> {
            if (atItsEnd.isDone()) {
                throw new OutOfMemoryError("for the test");
            }
            return null;
        }, "close", () -> closed.complete(null)));
        VerbsProvider provider = with(VerbsProvider.class, Rdma.provider(), Map.of("openContext", () -> context));
        var loops = new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory(provider, IdleStrategy.BLOCKING));
        Channel channel = new RdmaStreamChannel();
        loops.register(channel).sync();
        channel.close().sync();
        atItsEnd.complete(null);
        loops.shutdownGracefully(0, 0, TimeUnit.SECONDS);
        assertTrue(loops.awaitTermination(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(closed.isDone());
    }

    /** Some methods do something else first. */
    private static <T> T with(Class<T> type, T delegate, Map<String, Callable<?>> others) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            Callable<?> other = others.get(method.getName());
            Object result = other == null ? null : other.call();
            return type == VerbsProvider.class && result != null ? result : method.invoke(delegate, arguments);
        }));
    }

    @Test
    void shouldRefuseWhatIsNoRdmaChannel() throws Exception {
        assertFalse(((IoEventLoop) group.next()).isCompatible(NioIoHandle.class));
        assertTrue(((IoEventLoop) group.next()).isIoType(RdmaIoHandler.class));
        var nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try {
            Throwable cause = nio.register(new RdmaStreamChannel()).await().cause();
            assertInstanceOf(IllegalStateException.class, cause);
            assertEquals("incompatible event loop type: io.netty.channel.SingleThreadIoEventLoop", cause.getMessage());
        } finally {
            nio.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    private static final class Echo extends ChannelInboundHandlerAdapter {

        @Override
        public boolean isSharable() {
            return true;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ctx.writeAndFlush(message);
        }
    }

    /** Waits for so many bytes. */
    private static final class Answer extends SimpleChannelInboundHandler<ByteBuf> {

        private final CompletableFuture<Void> complete = new CompletableFuture<>();
        private int missing;

        Answer(int bytes) {
            missing = bytes;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, ByteBuf message) {
            missing -= message.readableBytes();
            if (missing == 0) {
                complete.complete(null);
            }
        }
    }
}
