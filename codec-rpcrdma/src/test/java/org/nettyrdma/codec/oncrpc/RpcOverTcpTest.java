package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Client and server over real sockets. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // reading from a socket cannot be interrupted
class RpcOverTcpTest {

    private static final int MAX_MESSAGE_BYTES = 2 << 20;

    private final EventLoopGroup group = new NioEventLoopGroup(2);
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

    @AfterEach
    void shutDown() throws InterruptedException {
        threads.shutdown();
        assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    @Test
    void shouldReturnResultsOfEverySize() throws Exception {
        RpcClient client = connect(listen(() -> new RpcServerHandler(TestProgram.echo())));
        for (int size : new int[] {0, 1, 3, 4, 64, 1023, 1024, 1025, 4096, 65536, 65537, 1 << 20, MAX_MESSAGE_BYTES - 40}) {
            ByteBuf arguments = randomBytes(size);
            ByteBuf results = call(client, arguments.retainedDuplicate()).get();
            assertEquals(arguments, results);
            arguments.release();
            results.release();
        }
    }

    @Test
    void shouldServeManyThreadsAtOnce() throws Exception {
        serveManyThreadsAtOnce(() -> new RpcServerHandler(TestProgram.echo()));
    }

    @Test
    void shouldServeManyThreadsAtOnceOnAnExecutor() throws Exception {
        ExecutorService programs = Executors.newFixedThreadPool(4);
        serveManyThreadsAtOnce(() -> new RpcServerHandler(List.of(TestProgram.echo()), programs));
        programs.shutdown();
        assertTrue(programs.awaitTermination(30, TimeUnit.SECONDS));
    }

    private void serveManyThreadsAtOnce(Supplier<RpcServerHandler> handler) throws Exception {
        RpcClient client = connect(listen(handler));
        List<CompletableFuture<Void>> workers = new ArrayList<>();
        for (int worker = 0; worker < 4; worker++) {
            workers.add(CompletableFuture.runAsync(() -> callWithManyOutstanding(client, 1000), threads));
        }
        for (CompletableFuture<Void> worker : workers) {
            worker.get();
        }
        assertEquals(4_000, client.statistics().calls());
        assertEquals(0, client.statistics().pendingCalls());
        assertEquals(0, client.statistics().unmatchedReplies());
    }

    /** Keeps 32 calls outstanding, as one thread of an application does. */
    private static void callWithManyOutstanding(RpcClient client, int calls) {
        Semaphore outstanding = new Semaphore(32);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        for (int i = 0; i < calls; i++) {
            outstanding.acquireUninterruptibly();
            int value = ThreadLocalRandom.current().nextInt();
            call(client, Unpooled.buffer(64).writeInt(value).writeZero(ThreadLocalRandom.current().nextInt(60)))
                    .addListener((Future<ByteBuf> done) -> {
                        if (!done.isSuccess()) {
                            failure.set(done.cause());
                        } else {
                            if (done.getNow().readInt() != value) {
                                failure.set(new AssertionError("results of another call"));
                            }
                            done.getNow().release();
                        }
                        outstanding.release();
                    });
        }
        outstanding.acquireUninterruptibly(32);
        assertEquals(null, failure.get());
    }

    @Test
    void shouldCallFromWithinACallback() throws Exception {
        RpcClient client = connect(listen(() -> new RpcServerHandler(TestProgram.echo())));
        CountDownLatch done = new CountDownLatch(1000);
        AtomicInteger failures = new AtomicInteger();
        callAgain(client, done, failures);
        done.await();
        assertEquals(0, failures.get());
    }

    private static void callAgain(RpcClient client, CountDownLatch left, AtomicInteger failures) {
        call(client, Unpooled.buffer().writeInt(1)).addListener((Future<ByteBuf> call) -> {
            if (call.isSuccess()) {
                call.getNow().release();
            } else {
                failures.incrementAndGet();
            }
            left.countDown();
            if (left.getCount() > 0) {
                callAgain(client, left, failures);
            }
        });
    }

    @Test
    void shouldFailPendingCallsWhenTheServerGoesAway() throws Exception {
        CountDownLatch received = new CountDownLatch(10);
        RpcClient client = connect(listen(() -> new RpcServerHandler(
                new TestProgram(200000, 1, 1, call -> received.countDown()))));
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            calls.add(call(client, Unpooled.EMPTY_BUFFER));
        }
        received.await();
        accepted.close().sync();
        for (Future<ByteBuf> call : calls) {
            ExecutionException e = assertThrows(ExecutionException.class, call::get);
            assertInstanceOf(RpcConnectionException.class, e.getCause());
        }
    }

    @Test
    void shouldTimeOutAndGoOn() throws Exception {
        AtomicReference<RpcCall> first = new AtomicReference<>();
        RpcClient client = connect(listen(() -> new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            if (!first.compareAndSet(null, call)) {
                first.get().reply(call.alloc().buffer().writeInt(1)); // the late one, before that of this call
                call.reply(call.alloc().buffer().writeInt(2));
            }
        }))));
        Future<ByteBuf> late = client.call(new RpcRequest(200000, 1, 1).setTimeoutMillis(20));
        assertInstanceOf(RpcTimeoutException.class, assertThrows(ExecutionException.class, late::get).getCause());
        ByteBuf results = call(client, Unpooled.EMPTY_BUFFER).get();
        assertEquals(2, results.readInt());
        results.release();
        assertEquals(1, client.statistics().unmatchedReplies());
    }

    @Test
    void shouldResetAConnectionWhoseRecordsAreTooLong() throws Exception {
        InetSocketAddress address = listen(() -> new RpcServerHandler(TestProgram.echo()));
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            socket.getOutputStream().write(new byte[] {-1, -1, -1, -1, 1, 2, 3});
            assertThrows(SocketException.class, () -> socket.getInputStream().read());
        }
        RpcClient client = connect(address);
        ByteBuf results = call(client, Unpooled.EMPTY_BUFFER).get();
        results.release();
    }

    @Test
    void shouldNotHoldEverythingForAPeerThatDoesNotReadItsReplies() throws Exception {
        byte[] results = new byte[1 << 20];
        AtomicInteger calls = new AtomicInteger();
        InetSocketAddress address = listen(() -> new RpcServerHandler(List.of(new TestProgram(200000, 1, 1, call -> {
            calls.incrementAndGet();
            call.reply(Unpooled.wrappedBuffer(results));
        })), Runnable::run, 4 << 20));
        ByteBuf call = Hex.hex("80000028 00000007 00000000 00000002 00030d40 00000001 00000005"
                + "00000000 00000000 00000000 00000000");
        byte[] wire = new byte[call.readableBytes()];
        call.readBytes(wire);
        try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(wire);
            int sent = 1;
            while (isServed(calls, sent)) {
                assertTrue(sent < 100, "served without end");
                out.write(wire);
                sent++;
            }
            byte[] sink = new byte[1 << 16];
            socket.setSoTimeout(100);
            while (calls.get() < sent) {
                readSome(socket, sink);
            }
        }
    }

    /** Waits for the last call, but not for ever, as in the end it is not read. */
    private static boolean isServed(AtomicInteger calls, int sent) {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        while (calls.get() < sent && System.nanoTime() - deadlineNanos < 0) {
            Thread.yield();
        }
        return calls.get() == sent;
    }

    /** The last bytes may have been read before the server notices that they are written; then there is nothing to wait for. */
    private static void readSome(Socket socket, byte[] sink) throws IOException {
        try {
            assertTrue(socket.getInputStream().read(sink) > 0);
        } catch (SocketTimeoutException e) {
            Thread.onSpinWait();
        }
    }

    private InetSocketAddress listen(Supplier<RpcServerHandler> handler) throws InterruptedException {
        Channel server = new ServerBootstrap().group(group).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES), handler.get(), new SilentEnd());
                        accepted.add(channel);
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        return (InetSocketAddress) server.localAddress();
    }

    private RpcClient connect(InetSocketAddress address) throws InterruptedException {
        RpcClient client = new RpcClient();
        new Bootstrap().group(group).channel(NioSocketChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(MAX_MESSAGE_BYTES), client);
            }
        }).connect(address).sync();
        return client;
    }

    private static Future<ByteBuf> call(RpcClient client, ByteBuf arguments) {
        return client.call(new RpcRequest(200000, 1, 5, arguments));
    }

    private static ByteBuf randomBytes(int size) {
        byte[] bytes = new byte[size];
        ThreadLocalRandom.current().nextBytes(bytes);
        return Unpooled.wrappedBuffer(bytes);
    }

    /** Exceptions that tests provoke end here. */
    private static final class SilentEnd extends ChannelInboundHandlerAdapter {

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) { }
    }
}
