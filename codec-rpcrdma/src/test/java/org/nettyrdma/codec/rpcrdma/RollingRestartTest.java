package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.DuplicateRequestCache;
import org.nettyrdma.codec.oncrpc.GracefulShutdown;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;
import org.nettyrdma.codec.oncrpc.client.ReconnectPolicy;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient;

/** Two servers, one of which is always being started again, under a client that never pauses. */
@Timeout(120)
class RollingRestartTest {

    private static final int PROGRAM = 0x20000097;
    private static final int RESTARTS = 100;
    private static final int OUTSTANDING = 32;
    private static final int CALLS_BETWEEN_RESTARTS = 50;

    /** Where the servers are now. */
    private final List<SocketAddress> addresses = new CopyOnWriteArrayList<>();
    private final Semaphore answered = new Semaphore(0);
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger outstanding = new AtomicInteger(OUTSTANDING);
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopping;
    private ReconnectingRpcClient client;

    /** Writes the number of each call to a file, and answers, now or a little later. Forgets everything with each restart. */
    private record Ledger(FileChannel file) implements SingleVersionProgram {

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public void call(RpcCall call) throws IOException {
            int number = call.arguments().readInt();
            file.write(ByteBuffer.allocate(Integer.BYTES).putInt(0, number));
            if (number % 4 == 3) {
                GlobalEventExecutor.INSTANCE.schedule(() -> answer(call, number), 2, TimeUnit.MILLISECONDS);
            } else {
                answer(call, number);
            }
        }

        private static void answer(RpcCall call, int number) {
            call.reply(call.alloc().buffer().writeInt(number));
        }
    }

    private final class Server {

        private final GracefulShutdown shutdown = new GracefulShutdown();
        private final SocketAddress address;

        Server(TestTransport transport, EventLoopGroup group, Ledger ledger) throws InterruptedException {
            address = shutdown.collect(transport.server(group, new DuplicateRequestCache().guard(ledger)))
                    .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).sync().channel().localAddress();
            addresses.add(address);
        }

        void stop() throws Exception {
            addresses.remove(address);
            assertEquals(0, shutdown.start(30_000).get(60, TimeUnit.SECONDS), "connections that were cut");
        }
    }

    /** Makes a call, and another one when it has ended. */
    private void call() {
        if (stopping) {
            outstanding.decrementAndGet();
            answered.release(CALLS_BETWEEN_RESTARTS);
            return;
        }
        int number = calls.getAndIncrement();
        client.call(new RpcRequest(PROGRAM, 1, 1, ByteBufAllocator.DEFAULT.buffer().writeInt(number))
                .setReplySpace(new ReplySpace(RpcReplyHeader.SUCCESS_BYTES + 4))).addListener((Future<ByteBuf> call) -> {
                    if (!call.isSuccess()) {
                        failures.add(call.cause());
                    } else {
                        ByteBuf results = call.getNow();
                        if (results.readInt() != number) {
                            failures.add(new AssertionError("another call's answer"));
                        }
                        results.release();
                    }
                    answered.release();
                    call();
                });
    }

    @ParameterizedTest
    @EnumSource
    void shouldLoseNoCallAndExecuteNoneTwice(TestTransport transport, @TempDir Path directory) throws Exception {
        Path file = directory.resolve("ledger");
        EventLoopGroup group = transport.newGroup(2);
        try (FileChannel ledger = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            List<Server> servers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                servers.add(new Server(transport, group, new Ledger(ledger)));
            }
            client = ReconnectingRpcClient.builder(transport.client(group), () -> addresses).connections(2)
                    .policy(ReconnectPolicy.DEFAULT.withDelayMillis(1, 5).withCallTimeoutMillis(30_000)).connect();
            for (int i = 0; i < OUTSTANDING; i++) {
                call();
            }
            for (int i = 0; i < RESTARTS; i++) {
                assertTrue(answered.tryAcquire(CALLS_BETWEEN_RESTARTS, 30, TimeUnit.SECONDS), "calls are not answered");
                servers.set(i % 2, restarted(servers.get(i % 2), transport, group, ledger));
            }
            stopping = true;
            while (outstanding.get() > 0) {
                assertTrue(answered.tryAcquire(1, 30, TimeUnit.SECONDS), "calls are not answered");
            }
            client.close();
            for (Server server : servers) {
                server.stop();
            }
        } finally {
            client.close();
            group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        }
        assertEquals(List.of(), List.copyOf(failures));
        assertTrue(client.statistics().lostConnections() >= RESTARTS / 2, () -> client.statistics().toString());
        assertWritesEachOnce(file);
    }

    private Server restarted(Server server, TestTransport transport, EventLoopGroup group, FileChannel ledger) throws Exception {
        server.stop();
        return new Server(transport, group, new Ledger(ledger));
    }

    private void assertWritesEachOnce(Path file) throws IOException {
        int[] times = new int[calls.get()];
        ByteBuffer numbers = ByteBuffer.wrap(Files.readAllBytes(file));
        while (numbers.hasRemaining()) {
            times[numbers.getInt()]++;
        }
        for (int number = 0; number < times.length; number++) {
            assertEquals(1, times[number], "executions of call " + number);
        }
    }
}
