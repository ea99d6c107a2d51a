package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.DefaultEventLoopGroup;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.group.ChannelGroupException;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of a server over TCP, as a client without this library sees it. */
@Timeout(60)
class GracefulShutdownTest {

    private static final int PROGRAM = 200_000;
    private static final int REPLY_BYTES = 4 + RpcReplyHeader.SUCCESS_BYTES + 4;

    private final EventLoopGroup group = new NioEventLoopGroup(1);
    private final GracefulShutdown shutdown = new GracefulShutdown();
    private final BlockingQueue<RpcCall> held = new LinkedBlockingQueue<>();
    private final AtomicBoolean first = new AtomicBoolean();
    private Channel listener;

    @BeforeEach
    void listen() throws Exception {
        listener = shutdown.collect(new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        first.set(true);
                        ctx.fireChannelActive();
                    }
                })).childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new RecordMarkingCodec(1 << 20))
                                .addLast(new RpcServerHandler(new TestProgram(PROGRAM, 1, 1, held::add)));
                    }
                }).bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel();
    }

    @AfterEach
    void shutDown() throws Exception {
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    private Socket connect() throws IOException {
        InetSocketAddress address = (InetSocketAddress) listener.localAddress();
        Socket socket = new Socket(address.getAddress(), address.getPort());
        socket.setTcpNoDelay(true);
        return socket;
    }

    private static void call(Socket client, int xid) throws IOException {
        ByteBuf record = Unpooled.buffer().writeInt(0);
        new RpcCallHeader(xid, PROGRAM, 1, 1, OpaqueAuth.NONE, OpaqueAuth.NONE).write(record);
        record.setInt(0, 0x8000_0000 | record.readableBytes() - 4);
        client.getOutputStream().write(ByteBufUtil.getBytes(record));
    }

    private RpcCall held() throws InterruptedException {
        RpcCall call = held.poll(30, TimeUnit.SECONDS);
        assertTrue(call != null, "the call has not arrived");
        return call;
    }

    /** Waits until the event loop has done what it was given. */
    private void settle(Channel channel) {
        channel.eventLoop().submit(() -> { }).syncUninterruptibly();
    }

    /** The system may take connections until the event loop has looked at its sockets again, and resets them then. */
    private void assertNobodyListens() throws IOException {
        boolean refused = false;
        while (!refused) {
            try (Socket late = connect()) {
                call(late, 9);
                assertEquals(-1, late.getInputStream().read());
            } catch (ConnectException e) {
                refused = true;
            } catch (SocketException e) {
                // Reset.
            }
        }
    }

    private static int xidOfReply(Socket client) throws IOException {
        byte[] reply = new DataInputStream(client.getInputStream()).readNBytes(REPLY_BYTES);
        assertEquals(REPLY_BYTES, reply.length);
        return Unpooled.wrappedBuffer(reply).getInt(4);
    }

    @Test
    void shouldAnswerWhatHasComeAndLeaveTheEndToTheClient() throws Exception {
        try (Socket client = connect()) {
            call(client, 1);
            call(client, 2);
            RpcCall one = held();
            RpcCall two = held();
            Channel connection = one.channel();
            connection.eventLoop().submit(connection.pipeline().get(RpcServerHandler.class)::drain).sync();
            call(client, 3);
            two.reply(Unpooled.buffer().writeInt(2));
            assertEquals(2, xidOfReply(client));
            call(client, 4);
            one.reply(Unpooled.buffer().writeInt(1));
            assertEquals(1, xidOfReply(client));
            assertEquals(-1, client.getInputStream().read(), "the end of the stream behind the last reply");
            for (int xid = 5; xid < 1000; xid++) {
                call(client, xid); // a close would be answered with a reset
            }
            settle(connection);
            assertTrue(connection.isOpen());
            client.shutdownOutput();
            assertTrue(connection.closeFuture().await(30, TimeUnit.SECONDS));
            assertTrue(held.isEmpty(), () -> "executed: " + held);
        }
    }

    @Test
    void shouldEndConnectionsWithoutCallsAndTakeNoMore() throws Exception {
        try (Socket idle = connect(); Socket busy = connect()) { // accepted in this order
            call(busy, 1);
            RpcCall call = held();
            assertTrue(first.get(), "the handler that the bootstrap had");
            Future<Integer> ended = shutdown.start(60_000);
            assertEquals(-1, idle.getInputStream().read());
            idle.shutdownOutput();
            assertNobodyListens();
            assertFalse(ended.isDone());
            call.reply(Unpooled.buffer().writeInt(1));
            assertEquals(1, xidOfReply(busy));
            assertEquals(-1, busy.getInputStream().read());
            assertFalse(ended.isDone());
            busy.shutdownOutput();
            assertEquals(0, ended.get(30, TimeUnit.SECONDS));
            assertSame(ended, shutdown.start(0));
        }
    }

    @Test
    void shouldCloseWhatIsLeftWhenTheTimeIsOver() throws Exception {
        try (Socket silent = connect(); Socket client = connect()) { // accepted in this order
            call(client, 1);
            held();
            assertEquals(2, shutdown.start(20).get(30, TimeUnit.SECONDS), "one with a call, one whose client does not close");
            assertEquals(-1, client.getInputStream().read());
            assertEquals(-1, silent.getInputStream().read());
        }
    }

    @Test
    void shouldCloseAllAtOnceWithoutTime() throws Exception {
        try (Socket client = connect()) {
            call(client, 1);
            held();
            assertEquals(1, shutdown.start(0).get(30, TimeUnit.SECONDS));
            assertEquals(-1, client.getInputStream().read());
        }
        assertThrows(IllegalArgumentException.class, () -> shutdown.start(-1));
    }

    /** The others would have been left alone otherwise, too, until the time is over. */
    @Test
    void shouldEndConnectionsWhoseEventLoopDoesNotTakeThatAtOnce() throws Exception {
        ExhaustedEventLoop loop = new ExhaustedEventLoop();
        LocalAddress address = new LocalAddress("shouldEndConnectionsWhoseEventLoopDoesNotTakeThatAtOnce");
        GracefulShutdown exhausted = new GracefulShutdown();
        DefaultEventLoopGroup others = new DefaultEventLoopGroup(1);
        BlockingQueue<Channel> accepted = serve(exhausted, others, loop, address);
        for (int i = 0; i < 3; i++) {
            new Bootstrap().group(others).channel(LocalChannel.class).handler(new ChannelInboundHandlerAdapter())
                    .connect(address).sync();
            assertNotNull(accepted.poll(30, TimeUnit.SECONDS));
        }
        GlobalEventExecutor.INSTANCE.submit(() -> loop.refuseTasks(1)).sync();
        loop.submit(() -> loop.refuseTasks(1)).sync(); // there it is the handler's executor
        assertEquals(0, exhausted.start(TimeUnit.HOURS.toMillis(1)).get(30, TimeUnit.SECONDS));
        assertEquals(0, loop.submit(loop::tasksToRefuse).get());
        others.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        loop.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    /** Listens with a program that answers nothing by itself. Returns the connections that were accepted. */
    private BlockingQueue<Channel> serve(GracefulShutdown shutdownOfServer, EventLoopGroup listenLoops, EventLoopGroup loops,
            LocalAddress address) throws InterruptedException {
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        shutdownOfServer.collect(new ServerBootstrap().group(listenLoops, loops).channel(LocalServerChannel.class))
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new RpcServerHandler(new TestProgram(PROGRAM, 1, 1, held::add)));
                        accepted.add(channel);
                    }
                }).bind(address).sync();
        return accepted;
    }

    /** A server with a connection that has a call, and a shutdown on an executor that has no memory for something. */
    private GracefulShutdown shutdownOn(ExhaustedEventLoop executor, EventLoopGroup loops, String name) throws Exception {
        LocalAddress address = new LocalAddress(name);
        GracefulShutdown exhausted = new GracefulShutdown(executor);
        BlockingQueue<Channel> accepted = serve(exhausted, loops, loops, address);
        Channel client = new Bootstrap().group(loops).channel(LocalChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(address).sync().channel();
        assertNotNull(accepted.poll(30, TimeUnit.SECONDS));
        ByteBuf call = Unpooled.buffer();
        new RpcCallHeader(1, PROGRAM, 1, 1, OpaqueAuth.NONE, OpaqueAuth.NONE).write(call);
        client.writeAndFlush(call).sync();
        return exhausted;
    }

    @Test
    void shouldEndWhereThereIsNoMemoryForItsTimerOrTasks() throws Exception {
        ExhaustedEventLoop executor = new ExhaustedEventLoop();
        DefaultEventLoopGroup loops = new DefaultEventLoopGroup(1);
        GracefulShutdown exhausted = shutdownOn(executor, loops, "shouldEndWhereThereIsNoMemoryForItsTimerOrTasks");
        RpcCall call = held();
        Future<Integer> ended = loops.submit(() -> {
            executor.refuseTasks(1); // of this thread, which closes the listener, and sets the timer then
            executor.refuseTimers(1);
            return exhausted.start(TimeUnit.HOURS.toMillis(1));
        }).get();
        assertEquals(1, ended.get(30, TimeUnit.SECONDS));
        assertEquals(0, loops.submit(executor::tasksToRefuse).get());
        call.reply(Unpooled.buffer().writeInt(1));
        loops.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        executor.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    private static void assertNoMemory(Future<Integer> ended) throws Exception {
        assertTrue(ended.await(30, TimeUnit.SECONDS));
        assertInstanceOf(OutOfMemoryError.class, ended.cause());
    }

    /** It could be told that all is closed, and the server would accept on. */
    @Test
    void shouldFailWhereAListenerIsLeft() throws Exception {
        ExhaustedEventLoop loop = new ExhaustedEventLoop();
        LocalAddress address = new LocalAddress("shouldFailWhereAListenerIsLeft");
        DefaultEventLoopGroup others = new DefaultEventLoopGroup(1);
        GracefulShutdown exhausted = new GracefulShutdown();
        BlockingQueue<Channel> accepted = serve(exhausted, loop, others, address);
        new Bootstrap().group(others).channel(LocalChannel.class).handler(new ChannelInboundHandlerAdapter()).connect(address)
                .sync();
        Channel connection = accepted.poll(30, TimeUnit.SECONDS);
        loop.refuseTasks(1); // of this thread, which closes the listener
        Future<Integer> ended = exhausted.start(TimeUnit.HOURS.toMillis(1));
        assertTrue(ended.await(30, TimeUnit.SECONDS));
        assertInstanceOf(OutOfMemoryError.class, assertInstanceOf(ChannelGroupException.class, ended.cause()).iterator().next()
                .getValue());
        assertFalse(connection.isOpen());
        others.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        loop.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    @Test
    void shouldFailWhereThereIsNoMemoryToCloseTheListeners() throws Exception {
        GracefulShutdown exhausted = new GracefulShutdown();
        Channel unclosable = new LocalServerChannel() {
            @Override
            public ChannelFuture close() {
                throw new OutOfMemoryError("expected");
            }
        };
        unclosable.pipeline().addLast(exhausted);
        DefaultEventLoopGroup loops = new DefaultEventLoopGroup(1);
        loops.register(unclosable).sync();
        assertNoMemory(exhausted.start(0));
        assertNoMemory(exhausted.start(0));
        loops.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    @Test
    void shouldFailWhereThereIsNoMemoryToCloseWhatIsLeft() throws Exception {
        GracefulShutdown exhausted = new GracefulShutdown();
        EmbeddedChannel accepting = new EmbeddedChannel(exhausted);
        accepting.writeInbound(new LocalChannel() {
            @Override
            public ChannelFuture close() {
                throw new OutOfMemoryError("expected");
            }
        });
        assertNoMemory(exhausted.start(0));
    }

    @Test
    void shouldFailWhereThereIsNoMemoryToWaitForWhatIsLeft() throws Exception {
        GracefulShutdown exhausted = new GracefulShutdown();
        AtomicBoolean full = new AtomicBoolean();
        new EmbeddedChannel(exhausted).writeInbound(new LocalChannel() {
            @Override
            public ChannelFuture closeFuture() {
                if (full.get()) {
                    throw new OutOfMemoryError("expected");
                }
                return super.closeFuture();
            }
        });
        full.set(true);
        assertNoMemory(exhausted.start(0));
    }

    /** It would keep the server until then. */
    @Test
    void shouldCancelItsTimerAtTheEnd() throws Exception {
        AtomicReference<ScheduledFuture<?>> timer = new AtomicReference<>();
        DefaultEventLoop executor = new DefaultEventLoop() {
            @Override
            public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
                timer.set(super.schedule(task, delay, unit));
                return timer.get();
            }
        };
        new GracefulShutdown(executor).start(TimeUnit.HOURS.toMillis(1)).sync();
        executor.submit(() -> { }).sync(); // behind the listeners of that
        assertTrue(timer.get().isCancelled());
        executor.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }
}
