package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What calls over TCP take of a budget: clients are sockets that send what is written out by hand, and a well-behaved one. */
@Execution(ExecutionMode.CONCURRENT) // its tests share nothing, and most wait
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // reading from a socket cannot be interrupted
class TcpMemoryTest {

    private static final int MIB = 1 << 20;
    /** Program 200000: procedure 1 returns as many bytes as its argument says, another one its arguments. */
    private static final int LOAD = 1;
    private static final int ECHO = 5;
    private static final TransferLimits PATIENT = TransferLimits.DEFAULT;
    private static final TransferLimits STRICT = new TransferLimits(500, 4 * MIB);

    private final EventLoopGroup servers = new NioEventLoopGroup(1);
    private final EventLoopGroup clients = new NioEventLoopGroup(1);
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final MemoryBudget budget = new MemoryBudget(32 * MIB);
    private final AtomicInteger loads = new AtomicInteger();
    private final ConcurrentLinkedQueue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private InetSocketAddress address;

    private final class Program implements SingleVersionProgram {

        @Override
        public int program() {
            return 200000;
        }

        @Override
        public int maxResultBytes(RpcCall call) {
            return call.procedure() == LOAD ? call.arguments().getInt(call.arguments().readerIndex()) : 0;
        }

        @Override
        public void call(RpcCall call) {
            if (call.procedure() == LOAD) {
                loads.incrementAndGet();
                int bytes = call.arguments().readInt();
                call.reply(call.alloc().buffer(bytes).writeZero(bytes));
            } else {
                call.reply(call.arguments().retainedSlice());
            }
        }
    }

    private void start(TransferLimits limits) throws InterruptedException {
        start(limits, NioServerSocketChannel.class);
    }

    private void start(TransferLimits limits, Class<? extends NioServerSocketChannel> type) throws InterruptedException {
        Channel server = new ServerBootstrap().group(servers).channel(type)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new RecordMarkingCodec(2 * MIB, budget, limits),
                                new RpcServerHandler(List.of(new Program()), threads,
                                        RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 0, budget, limits));
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
        address = (InetSocketAddress) server.localAddress();
    }

    /** Else each of its calls would be carried out for nobody when there is memory, and hold up those of others. */
    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    void shouldDropTheCallsOfAClientThatEndsWhileTheyWait(int calls) throws Exception {
        start(PATIENT);
        MemoryBudget.Share other = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        assertTrue(other.tryTake(budget.maxBytes()));
        Socket client = socket();
        for (int xid = 0; xid < calls; xid++) {
            client.getOutputStream().write(call(xid, LOAD, MIB));
        }
        await(() -> budget.waiting() == 1);
        client.close();
        await(() -> budget.waiting() == 0);
        other.close();
        assertEquals(0, loads.get());
    }

    /** With one such fragment now and then it would never be idle. */
    @Test
    void shouldEndAConnectionWhoseRecordHasBegunWithAnEmptyFragment() throws Exception {
        start(STRICT);
        Socket client = socket();
        client.getOutputStream().write(new byte[Integer.BYTES]);
        awaitEnd(client.getInputStream());
    }

    @AfterEach
    void shutDown() throws Exception {
        for (Socket socket : sockets) {
            socket.close();
        }
        clients.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        for (MemoryBudget each : List.of(budget, budget.records())) {
            await(() -> each.usedBytes() == 0 && each.waiting() == 0);
        }
        servers.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
        threads.shutdown();
        assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS));
    }

    @Test
    void shouldNotRunCallsWhoseRepliesHaveNoMemory() throws Exception {
        start(PATIENT);
        RpcClient client = client();
        Socket attacker = socket();
        ByteBuffer burst = ByteBuffer.allocate(1000 * 48);
        for (int i = 0; i < 1000; i++) {
            burst.put(call(i, LOAD, MIB));
        }
        attacker.getOutputStream().write(burst.array());
        await(() -> budget.waiting() == 1);
        for (int i = 0; i < 20; i++) {
            load(client, MIB);
        }
        assertTrue(loads.get() < 20 + 20, () -> loads + " calls have run");
        assertTrue(budget.usedBytes() <= budget.maxBytes() / 4, () -> budget.usedBytes() + " bytes in use");

        DataInputStream replies = new DataInputStream(attacker.getInputStream());
        for (int i = 0; i < 1000; i++) {
            assertEquals(0x8000_0000 | 24 + MIB, replies.readInt());
            replies.readInt(); // its XID: calls on an executor end in any order
            replies.skipNBytes(20 + MIB);
        }
    }

    /** Far more than there is memory for, and everybody else is served. */
    @Test
    void shouldServeOthersWhileRecordsAreNotFinished() throws Exception {
        start(PATIENT);
        byte[] begun = Arrays.copyOf(new byte[] {(byte) 0x80, 0x10, 0, 0}, 64 << 10); // one of 1 MiB
        for (int i = 0; i < 40; i++) {
            socket().getOutputStream().write(begun);
        }
        await(() -> budget.records().waiting() > 0);
        RpcClient client = client();
        for (int i = 0; i < 10; i++) {
            load(client, 1000);
            load(client, MIB);
        }
        ByteBuf large = Unpooled.buffer(MIB / 2).writeZero(MIB / 2); // waits until those who send nothing are gone
        ByteBuf echoed = client.call(new RpcRequest(200000, 1, ECHO, large.retainedDuplicate())).get();
        assertEquals(large, echoed);
        echoed.release();
        large.release();
    }

    @Test
    void shouldDropAPeerThatDoesNotFinishItsRecord() throws Exception {
        start(STRICT);
        Socket silent = socket();
        silent.getOutputStream().write(new byte[] {(byte) 0x80, 0x10, 0, 0, 1, 2, 3});
        Socket trickling = socket();
        trickling.getOutputStream().write(new byte[] {(byte) 0x80, 0x10, 0, 0, 1, 2, 3});
        Thread trickle = new Thread(() -> {
            try {
                while (true) {
                    trickling.getOutputStream().write(1);
                    Thread.sleep(10);
                }
            } catch (IOException | InterruptedException e) {
                // the end of the connection
            }
        });
        trickle.start();
        awaitEnd(silent.getInputStream());
        awaitEnd(trickling.getInputStream());
        trickle.join();
    }

    @Test
    void shouldDropAPeerThatDoesNotTakeItsReplies() throws Exception {
        start(STRICT);
        Socket silent = socket();
        for (int i = 0; i < 16; i++) {
            silent.getOutputStream().write(call(i, LOAD, MIB)); // more than what sockets buffer
        }
        await(() -> budget.usedBytes() > 0);
        await(() -> budget.usedBytes() == 0);
        // what the system still had for it is gone: in order, everything would come, and then the end
        assertThrows(SocketException.class, () -> silent.getInputStream().readAllBytes());
    }

    /** Each of them has its share, and together they have all. */
    @Test
    void shouldServeOthersWhileManyAddressesDoNotTakeTheirReplies() throws Exception {
        start(PATIENT);
        for (int host = 1; host <= 40; host++) {
            Socket silent = new Socket(address.getAddress(), address.getPort(), InetAddress.getByName("127.0.1." + host), 0);
            sockets.add(silent);
            for (int xid = 0; xid < 16; xid++) {
                silent.getOutputStream().write(call(xid, LOAD, MIB)); // more than what sockets buffer
            }
        }
        await(() -> budget.isGone());
        RpcClient client = client();
        for (int i = 0; i < 10; i++) {
            load(client, MIB);
        }
    }

    /** Twenty times the least rate; but a socket that was full is writable again only when a third of it is free. */
    @Test
    void shouldNotDropASteadyReaderWhileMemoryIsGone() throws Exception {
        start(PATIENT);
        Socket steady = socket();
        steady.setReceiveBufferSize(64 << 10); // so that it tells of all that it takes
        for (int i = 0; i < 16; i++) {
            steady.getOutputStream().write(call(i, LOAD, MIB));
        }
        await(() -> loads.get() > 4);
        MemoryBudget.Share waiting = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        try {
            waiting.claim(budget.maxBytes());
            DataInputStream replies = new DataInputStream(steady.getInputStream());
            for (int i = 0; i < 40; i++) {
                replies.skipNBytes(32 << 10);
                servers.next().schedule(() -> { }, 100, TimeUnit.MILLISECONDS).sync();
            }
        } finally {
            waiting.close();
        }
    }

    /** Of its connections, each is full at first and has room when it is asked again, of which it does not tell. */
    public static final class FullAtFirst extends NioServerSocketChannel {

        @Override
        protected int doReadMessages(List<Object> accepted) throws Exception {
            SocketChannel socket = javaChannel().accept();
            accepted.add(new NioSocketChannel(this, socket) {
                private boolean hasRoom;

                @Override
                protected void doWrite(ChannelOutboundBuffer in) throws Exception {
                    if (hasRoom) {
                        super.doWrite(in);
                    }
                    hasRoom = true;
                }
            });
            return 1;
        }
    }

    /** It is less than the least rate, and all that there is. */
    @Test
    void shouldNotDropAPeerThatTakesTheRestWhileMemoryIsGone() throws Exception {
        start(PATIENT, FullAtFirst.class);
        Socket reader = socket();
        reader.getOutputStream().write(call(1, LOAD, 1000));
        await(() -> loads.get() == 1);
        MemoryBudget.Share waiting = budget.open(new InetSocketAddress("192.0.2.1", 1), Runnable::run, () -> { });
        try {
            waiting.claim(budget.maxBytes());
            assertEquals(28 + 1000, reader.getInputStream().readNBytes(28 + 1000).length);
        } finally {
            waiting.close();
        }
        reader.getOutputStream().write(call(2, LOAD, 1000));
        assertEquals(28 + 1000, reader.getInputStream().readNBytes(28 + 1000).length);
    }

    @Test
    void shouldNotDropAPeerThatHasNothingToDo() throws Exception {
        start(STRICT);
        RpcClient client = client();
        load(client, MIB);
        servers.next().schedule(() -> { }, 1500, TimeUnit.MILLISECONDS).sync();
        load(client, MIB);
    }

    @Test
    void shouldTakeUpRecordsThatHadToWait() throws Exception {
        start(PATIENT);
        List<Socket> attackers = new ArrayList<>();
        byte[] begun = Arrays.copyOf(new byte[] {(byte) 0x80, 0x10, 0, 0}, 64 << 10);
        for (int i = 0; i < 60; i++) {
            Socket attacker = socket();
            attacker.getOutputStream().write(begun);
            attackers.add(attacker);
        }
        await(() -> budget.records().waiting() > 10);
        RpcClient client = client();
        ByteBuf large = Unpooled.buffer(MIB).writeZero(MIB / 2).writeLong(42).writeZero(MIB / 2 - 8);
        var results = client.call(new RpcRequest(200000, 1, ECHO, large.retainedDuplicate()));
        var small = client.call(new RpcRequest(200000, 1, ECHO, Unpooled.buffer().writeInt(7)));
        for (Socket attacker : attackers) {
            attacker.close();
        }
        assertEquals(large, results.get());
        assertEquals(7, small.get().readInt());
        results.getNow().release();
        small.getNow().release();
        large.release();
    }

    // --- The parts

    private RpcClient client() throws InterruptedException {
        RpcClient client = new RpcClient();
        new Bootstrap().group(clients).channel(NioSocketChannel.class).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new RecordMarkingCodec(2 * MIB), client);
            }
        }).connect(address).sync();
        return client;
    }

    private static void load(RpcClient client, int bytes) throws Exception {
        ByteBuf results = client.call(new RpcRequest(200000, 1, LOAD, Unpooled.buffer().writeInt(bytes)))
                .get(10, TimeUnit.SECONDS);
        assertEquals(bytes, results.readableBytes());
        results.release();
    }

    private Socket socket() throws IOException {
        Socket socket = new Socket(address.getAddress(), address.getPort());
        sockets.add(socket);
        return socket;
    }

    /** A record with a call. */
    private static byte[] call(int xid, int procedure, int argument) {
        return ByteBuffer.allocate(48).putInt(0x8000_0000 | 44).putInt(xid).putInt(0).putInt(2).putInt(200000).putInt(1)
                .putInt(procedure).putLong(0).putLong(0).putInt(argument).array();
    }

    private static void awaitEnd(InputStream in) throws IOException {
        try {
            assertEquals(-1, in.read());
        } catch (SocketException e) {
            // a reset, as not all was read: that is an end, too
        }
    }

    private static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            Thread.yield();
        }
    }
}
