package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.testing.Jvm;

/** What a connection costs that is hardly used. */
@Timeout(120)
class ManyStreamsTest extends StreamFixture {

    private static final int CONNECTIONS = Integer.getInteger("streams", 1000);
    private static final int CONNECTIONS_APART = Integer.getInteger("streams.apart", CONNECTIONS);
    private static final int BYTES = 200;
    /** What one end of an idle connection may cost besides its ring. */
    private static final long MOST_BYTES_PER_END = 16 << 10;

    /** For a connect among many on a busy machine; what it may take at most is no matter of these tests. */
    private static final int CONNECT_MILLIS = 100_000;

    private ResourceLeakDetector.Level leakDetection;

    /** Recorded traces of every buffer would cost more than the connections. */
    @BeforeEach
    void stopTracing() {
        leakDetection = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.DISABLED);
    }

    @AfterEach
    void traceAgain() {
        ResourceLeakDetector.setLevel(leakDetection);
    }

    /** Heap and direct memory in use, without that which the allocator has registered: it does so for many blocks at once. */
    private static long usedBytes() {
        return UsedMemory.bytes(RegisteredByteBufAllocator.of(Rdma.provider("iwarp"))::registeredBytes);
    }

    /** Each connection gets so many bytes. Nothing is kept of it but its channel, as all that is would count. */
    private RdmaServerStreamChannel listen(int bytes, AtomicInteger active) throws InterruptedException {
        return listen(new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .option(ChannelOption.SO_BACKLOG, CONNECTIONS_APART)
                .option(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, CONNECT_MILLIS)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public boolean isSharable() {
                        return true;
                    }

                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        active.incrementAndGet();
                        ctx.writeAndFlush(ctx.alloc().buffer(bytes).writeZero(bytes));
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                        active.decrementAndGet(); // the other process has ended
                    }
                }));
    }

    private List<Channel> connect(int count, int bytes, InetSocketAddress address) throws InterruptedException {
        Bootstrap client = bootstrap().option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS);
        CountDownLatch done = new CountDownLatch(count);
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            connects.add(client.clone().handler(new Reader(bytes, done)).connect(address));
        }
        for (ChannelFuture connect : connects) {
            await(connect);
        }
        assertTrue(done.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), () -> done.getCount() + " have not got their bytes");
        return connects.stream().map(ChannelFuture::channel).toList();
    }

    @Test
    void shouldKeepIdleConnectionsSmall() throws Exception {
        InetSocketAddress address = listen(BYTES, new AtomicInteger()).localAddress();
        connect(10, BYTES, address); // loads classes and fills the pools of the loops
        long before = usedBytes();
        List<Channel> channels = connect(CONNECTIONS, BYTES, address);
        long bytesPerEnd = (usedBytes() - before) / (2 * CONNECTIONS) + StreamMemory.BYTES;
        System.getLogger(ManyStreamsTest.class.getName()).log(System.Logger.Level.INFO,
                "{0} bytes for one end of an idle stream besides its ring", bytesPerEnd);
        assertTrue(channels.stream().allMatch(Channel::isActive));
        assertTrue(bytesPerEnd <= MOST_BYTES_PER_END, () -> bytesPerEnd + " bytes for one end of a connection");
    }

    /**
     * All clients are in another process, as each has to keep open files for its own ends only: {@code -Dstreams.apart=10000}
     * says how many, {@code -Dstreams.bytes} how much each gets.
     */
    @Test
    void shouldHoldTheConnectionsOfAnotherProcess() throws Exception {
        int bytes = Integer.getInteger("streams.bytes", BYTES);
        AtomicInteger active = new AtomicInteger();
        RdmaServerStreamChannel listener = listen(bytes, active);
        connect(10, bytes, listener.localAddress()); // loads classes and fills the pools of the loops
        int others = active.get();
        long before = usedBytes();
        long registeredBefore = registeredBytes();
        Process clients = new ProcessBuilder(Jvm.command(List.of("-Dio.netty.leakDetection.level=disabled"), Clients.class,
                Integer.toString(listener.localAddress().getPort()), Integer.toString(CONNECTIONS_APART),
                Integer.toString(bytes)))
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            String said = clients.inputReader(StandardCharsets.UTF_8).readLine();
            assertNotNull(said, "the clients have ended");
            assertEquals(CONNECTIONS_APART, active.get() - others);
            long bytesPerEnd = (usedBytes() - before) / CONNECTIONS_APART + StreamMemory.BYTES;
            long registeredBytes = (registeredBytes() - registeredBefore) / CONNECTIONS_APART;
            System.getLogger(ManyStreamsTest.class.getName()).log(System.Logger.Level.INFO,
                    "{0} streams held in all, {1} bytes for the end of the server besides its ring, {2} registered; clients: {3}",
                    active, bytesPerEnd, registeredBytes, said);
            assertTrue(bytesPerEnd <= MOST_BYTES_PER_END, () -> bytesPerEnd + " bytes for one end of a connection");
        } finally {
            clients.getOutputStream().close();
            assertTrue(clients.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
        assertEquals(0, clients.exitValue());
    }

    private static long registeredBytes() {
        return RegisteredByteBufAllocator.of(Rdma.provider("iwarp")).registeredBytes();
    }

    /** Connects to a port, so many times, and gets so many bytes each time; stays until its input ends. */
    static final class Clients {

        private static final int CONNECTS_AT_ONCE = 64;

        private Clients() {
        }

        public static void main(String[] args) throws Exception {
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
            int count = Integer.parseInt(args[1]);
            int bytes = Integer.parseInt(args[2]);
            CountDownLatch done = new CountDownLatch(count);
            RdmaEventLoopGroup group = new RdmaEventLoopGroup(2, new DefaultThreadFactory("clients"), Rdma.provider("iwarp"),
                    IdleStrategy.ADAPTIVE);
            Bootstrap client = new Bootstrap().group(group).channel(RdmaStreamChannel.class)
                    .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS);
            long before = usedBytes();
            Semaphore connects = new Semaphore(CONNECTS_AT_ONCE);
            for (int i = 0; i < count; i++) {
                connects.acquire();
                client.clone().handler(new Reader(bytes, done)).connect(address).addListener(connected -> {
                    connects.release();
                    if (!connected.isSuccess()) {
                        connected.cause().printStackTrace();
                        System.exit(1);
                    }
                });
            }
            done.await();
            System.out.println(usedBytes() / count - before / count + StreamMemory.BYTES + " bytes for each end");
            System.exit(System.in.read() < 0 ? 0 : 1);
        }
    }

    private static final class Reader extends ChannelInboundHandlerAdapter {

        private final CountDownLatch done;
        private int missing;

        Reader(int bytes, CountDownLatch done) {
            missing = bytes;
            this.done = done;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            missing -= ((ByteBuf) message).readableBytes();
            ReferenceCountUtil.release(message);
            if (missing == 0) {
                done.countDown();
            }
        }
    }
}
