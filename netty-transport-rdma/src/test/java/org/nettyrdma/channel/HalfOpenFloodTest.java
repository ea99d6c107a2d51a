package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

/** Peers that connect and do not say what they want hold up nobody else. */
class HalfOpenFloodTest extends TransportFixture {

    private static final int HALF_OPEN = 2500;
    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int CONNECTS = 10;
    private static final int TRIES = 5;
    private static final int REPLACED = 500;

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    /** Peers that have sent a part of their request, from several addresses in turn. */
    private static final class Attackers implements AutoCloseable {

        private final Queue<SocketChannel> connections = new ArrayDeque<>();
        private final SocketAddress server;
        private final String[] addresses;
        private int opened;

        Attackers(SocketAddress server, String... addresses) {
            this.server = server;
            this.addresses = addresses;
        }

        void open() throws IOException {
            SocketChannel channel = SocketChannel.open();
            connections.add(channel);
            channel.bind(new InetSocketAddress(addresses[opened++ % addresses.length], 0)).connect(server);
            channel.write(ByteBuffer.wrap("MPA ID Req".getBytes(StandardCharsets.US_ASCII)));
        }

        void open(int count) throws IOException {
            for (int i = 0; i < count; i++) {
                open();
            }
        }

        void closeOldest() throws IOException {
            connections.remove().close();
        }

        void replace(int count) throws IOException {
            for (int i = 0; i < count; i++) {
                open();
                closeOldest();
            }
        }

        @Override
        public void close() throws IOException {
            while (!connections.isEmpty()) {
                closeOldest();
            }
        }
    }

    /** None of the attackers goes because its time is over, however long this machine takes. */
    private RdmaServerChannel listenOnLoopback() throws InterruptedException {
        return (RdmaServerChannel) serverBootstrap().option(RdmaChannelOption.REQUEST_TIMEOUT_MILLIS, Integer.MAX_VALUE)
                .bind("127.0.0.1", 0).sync().channel();
    }

    /** Each connect succeeds; one may be slow because the machine is busy with something else, so there are several tries. */
    private void expectFastConnect(RdmaServerChannel server, Attackers attackers, int replaced) throws Exception {
        long fastestNanos = Long.MAX_VALUE;
        for (int i = 0; i < TRIES && fastestNanos >= MOST_NANOS; i++) {
            attackers.replace(replaced);
            long start = System.nanoTime();
            Endpoint client = connect(bootstrap(), server);
            fastestNanos = Math.min(fastestNanos, System.nanoTime() - start);
            client.channel().close().sync();
        }
        assertTrue(fastestNanos < MOST_NANOS, "connecting took " + TimeUnit.NANOSECONDS.toMillis(fastestNanos) + " ms");
    }

    @ParameterizedTest
    @CsvSource({"127.0.0.2, 127.0.0.2", "127.0.0.2, 127.0.0.3", "127.0.0.1, 127.0.0.1"})
    void shouldConnectWithinASecondWhileManyOweTheirRequest(String address, String otherAddress) throws Exception {
        RdmaServerChannel server = listenOnLoopback();
        try (Attackers attackers = new Attackers(addressOf(server), address, otherAddress)) {
            attackers.open(HALF_OPEN);
            for (int i = 0; i < CONNECTS; i++) {
                expectFastConnect(server, attackers, 0);
            }
        }
    }

    /** All from the address of the client, and more of them ahead of each of its connections. */
    @Test
    void shouldConnectWithinASecondWhileOneAfterTheOtherOwesItsRequest() throws Exception {
        RdmaServerChannel server = listenOnLoopback();
        try (Attackers attackers = new Attackers(addressOf(server), "127.0.0.1")) {
            attackers.open(HALF_OPEN);
            for (int i = 0; i < CONNECTS; i++) {
                expectFastConnect(server, attackers, REPLACED);
            }
        }
    }
}
