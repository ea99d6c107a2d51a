package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.util.concurrent.EventExecutor;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.VerbsProvider;

/** A ring that has grown, and is not used any more. */
@Timeout(60)
class StreamShrinkTest extends StreamFixture {

    private static final String OWN_HELLO = RawStreamPeer.HELLO.replace("01 02 0180 000000", "01 42 0180 011800");
    private static final String RECALL = "030000e0";
    private static final String RETURN = "040000e0";
    private static final String DISCONNECT = "000000e0";
    private static final int BURST_BYTES = 1_000_000;
    private static final int LARGE_BYTES = 100_000;

    private final FaultyProvider provider = new FaultyProvider();
    private final ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();

    @Override
    VerbsProvider provider() {
        return provider;
    }

    /** As if all rings had not been used for two periods. */
    private void passTime() throws Exception {
        for (EventExecutor loop : group) {
            IdleRings rings = ((RdmaEventLoop) loop).io().idleRings();
            loop.submit(() -> {
                rings.look();
                rings.look();
            }).sync();
        }
    }

    private void awaitMemory(long bytes) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (memory.receiveBytes() != bytes) {
            assertTrue(System.nanoTime() < deadline, () -> memory.receiveBytes() + " bytes, not " + bytes);
            for (EventExecutor loop : group) {
                loop.submit(() -> { }).sync();
            }
        }
    }

    private static void burst(End from, End to, int seed) throws Exception {
        int before = to.received.size();
        from.write(bytes(BURST_BYTES, seed));
        byte[] all = to.awaitBytes(before + BURST_BYTES);
        assertArrayEquals(bytes(BURST_BYTES, seed), Arrays.copyOfRange(all, before, all.length));
    }

    @Test
    void shouldBeSmallAgainAfterABurst() throws Exception {
        Pair pair = pair();
        long small = memory.receiveBytes();
        for (int i = 0; i < 3; i++) {
            burst(pair.client(), pair.server(), i);
            burst(pair.server(), pair.client(), i);
            assertTrue(memory.receiveBytes() > small + 2 * LARGE_BYTES, () -> memory.receiveBytes() + " bytes");
            passTime();
            awaitMemory(small);
        }
        assertTrue(pair.client().channel.isActive());
        assertTrue(pair.server().channel.isActive());
    }

    @Test
    void shouldBeSmallAgainOnADeviceThatWithdrawsLater() throws Exception {
        provider.slowInvalidation = true;
        shouldBeSmallAgainAfterABurst();
    }

    @Test
    void shouldKeepItsRingWhereThereIsNoTagForASmallOne() throws Exception {
        Pair pair = pair();
        burst(pair.client(), pair.server(), 1);
        long large = memory.receiveBytes();
        provider.refuseExposures = true;
        passTime();
        burst(pair.client(), pair.server(), 2);
        provider.refuseExposures = false;
        assertTrue(large >= memory.receiveBytes() && memory.receiveBytes() > LARGE_BYTES, () -> memory.receiveBytes() + " bytes");
    }

    /** Rings are recalled all the time, whatever is under way. */
    @Test
    void shouldLoseNothingWhileItShrinks() throws Exception {
        Pair pair = pair();
        Random random = new Random(11);
        ByteArrayOutputStream sent = new ByteArrayOutputStream();
        ByteArrayOutputStream answered = new ByteArrayOutputStream();
        ChannelFuture last = null;
        for (int i = 0; i < 600; i++) {
            byte[] data = bytes(1 + random.nextInt(1 << 2 + random.nextInt(15)), i);
            sent.writeBytes(data);
            last = pair.client().write(data);
            if (i % 3 == 0) {
                answered.writeBytes(data);
                pair.server().write(data);
            }
            passTime();
        }
        await(last);
        assertArrayEquals(sent.toByteArray(), pair.server().awaitBytes(sent.size()));
        assertArrayEquals(answered.toByteArray(), pair.client().awaitBytes(answered.size()));
        assertTrue(pair.server().channel.statistics().get(Counter.LOCAL_INVALIDATIONS) > 100);
    }

    /** It sends no more, and may do so for as long as it likes. */
    @Test
    void shouldBeSmallAfterTheShutdownOfThePeer() throws Exception {
        Pair pair = pair(true);
        long small = memory.receiveBytes();
        burst(pair.client(), pair.server(), 1);
        pair.client().channel.shutdownOutput();
        pair.server().awaitEvent("ChannelInputShutdownReadComplete");
        awaitMemory(small);
        burst(pair.server(), pair.client(), 2);
    }

    // --- A peer played by hand

    private RawStreamPeer connect(RdmaServerStreamChannel listener, String hello) throws Exception {
        RawStreamPeer peer = RawStreamPeer.request(listener.localAddress(), hello);
        peer.takeReply();
        peer.send("80010080");
        peer.expect("18000080");
        return peer;
    }

    /** Fills the first half of the ring, so that a larger one takes its place. */
    private void grow(RawStreamPeer peer, End server) throws Exception {
        peer.write(peer.ringTag, 0, bytes(4096, 1)).send("00100000");
        server.awaitBytes(4096);
        peer.expect("19000080");
        assertEquals(8192, entry(peer, 0).getInt(12));
    }

    @Test
    void shouldKeepARingThatIsUsed() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap()), OWN_HELLO)) {
            End server = awaitAccepted();
            grow(peer, server);
            RdmaEventLoop loop = (RdmaEventLoop) server.channel.eventLoop();
            for (int i = 0; i < 4; i++) {
                loop.submit(() -> loop.io().idleRings().look()).sync();
                ByteBuffer half = entry(peer, 1 - i % 2);
                write(peer, half, 0, new byte[half.getInt(12)]);
                peer.send(ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(half.getInt(12)).array());
                peer.expect("1" + (char) ('a' + i) + "000080"); // credits, and nothing before
            }
            passTime();
            peer.expect(RECALL);
        }
    }

    private static ByteBuffer entry(RawStreamPeer peer, int number) {
        return ByteBuffer.wrap(peer.list.clone(), 16 * number, 16).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void write(RawStreamPeer peer, ByteBuffer entry, int at, byte[] data) throws Exception {
        peer.write(entry.getInt(8), entry.getLong(0) + at, data);
    }

    @Test
    void shouldTellOfSmallHalvesWhenThePeerHasReturnedTheRest() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap()), OWN_HELLO)) {
            End server = awaitAccepted();
            grow(peer, server);
            ByteBuffer large = entry(peer, 0);
            passTime();
            peer.expect(RECALL);
            write(peer, entry(peer, 1), 0, bytes(10, 2)); // has crossed the recall
            peer.send("0a000000").send(RETURN);
            assertArrayEquals(bytes(10, 2), Arrays.copyOfRange(server.awaitBytes(4106), 4096, 4106));
            peer.receive();
            assertEquals(4096, entry(peer, 1).getInt(12));
            peer.receive();
            assertEquals(4096, entry(peer, 0).getInt(12));
            assertNotEquals(large.getInt(8), entry(peer, 0).getInt(8));
            write(peer, entry(peer, 1), 0, bytes(4096, 3));
            peer.send("00100000");
            write(peer, entry(peer, 0), 0, bytes(20, 4));
            peer.send("14000000");
            byte[] all = server.awaitBytes(4106 + 4096 + 20);
            assertArrayEquals(bytes(4096, 3), Arrays.copyOfRange(all, 4106, 4106 + 4096));
            assertArrayEquals(bytes(20, 4), Arrays.copyOfRange(all, 4106 + 4096, all.length));
            write(peer, large, 100, bytes(1, 5)); // too late
            server.awaitEvent("inactive");
        }
    }

    @Test
    void shouldLetAPeerThatHasReturnedTheRestTellOfNothingThere() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap()), OWN_HELLO)) {
            End server = awaitAccepted();
            grow(peer, server);
            passTime();
            peer.expect(RECALL);
            server.channel.config().setAutoRead(false);
            server.channel.eventLoop().submit(() -> { }).sync();
            write(peer, entry(peer, 1), 0, bytes(10, 2));
            peer.send("0a000000").send(RETURN).send("01000000");
            server.awaitEvent("inactive");
            assertTrue(server.events().contains("stream protocol: a data message tells of 1 bytes (limit: the 0 that are left in "
                    + "its target entry)"), () -> server.events().toString());
        }
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatReturnsWhatNobodyHasRecalled() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap()), OWN_HELLO)) {
            End server = awaitAccepted();
            grow(peer, server);
            passTime();
            peer.expect(RECALL);
            peer.send(RETURN).send(RETURN);
            server.awaitEvent("inactive");
            assertEquals("stream protocol: the ring is returned without a recall (limit: once for each)", server.events().get(1));
        }
    }

    /** It may be writing there, and would not know. */
    @Test
    void shouldAskNoPeerInC() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap()), RawStreamPeer.HELLO)) {
            End server = awaitAccepted();
            grow(peer, server);
            passTime();
            server.write(bytes(1, 1));
            peer.expect("01000000");
            write(peer, entry(peer, 1), 0, bytes(4096, 2));
            peer.send("00100000");
            server.awaitBytes(8192);
        }
    }

    @Test
    void shouldReturnTheRestWhenThePeerRecallsIt() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap()), OWN_HELLO)) {
            End server = awaitAccepted();
            server.write(bytes(300, 1));
            peer.expect("2c010000");
            peer.send(RECALL);
            peer.expect(RETURN);
            server.write(bytes(10, 2)); // needs no room
            assertEquals(14, peer.receive().length);
            server.write(bytes(1500, 3));
            peer.write(peer.listTag, 16, RawStreamPeer.entry(0x18000, RawStreamPeer.RING_TAG, 1000)).send("80010080");
            peer.expect("e8030000");
            peer.write(peer.listTag, 0, RawStreamPeer.entry(0x19000, RawStreamPeer.RING_TAG, 1000)).send("80010080");
            peer.expect("f4010000");
            assertArrayEquals(bytes(1500, 3), join(Arrays.copyOfRange(peer.ring, 0x8000, 0x8000 + 1000),
                    Arrays.copyOfRange(peer.ring, 0x9000, 0x9000 + 500)));
        }
    }

    private static byte[] join(byte[] one, byte[] other) {
        return ByteBuffer.allocate(one.length + other.length).put(one).put(other).array();
    }

    /** Otherwise it would get no room for the rest. */
    @Test
    void shouldReturnTheRestAlsoWhenItIsClosed() throws Exception {
        try (RawStreamPeer peer = connect(listen(serverBootstrap().childOption(ChannelOption.SO_SNDBUF, 100_000)), OWN_HELLO)) {
            End server = awaitAccepted();
            server.write(bytes(50_000, 1));
            server.channel.close();
            peer.expect("00800000");
            peer.send(RECALL);
            peer.expect(RETURN);
            byte[] first = Arrays.copyOf(peer.ring, 32768);
            peer.write(peer.listTag, 16, RawStreamPeer.entry(0x10000, RawStreamPeer.RING_TAG, 32768)).send("80010080");
            peer.expect("50430000");
            assertArrayEquals(bytes(50_000, 1), join(first, Arrays.copyOf(peer.ring, 50_000 - 32768)));
            peer.expect(DISCONNECT);
            peer.send(DISCONNECT);
            assertTrue(server.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
    }
}
