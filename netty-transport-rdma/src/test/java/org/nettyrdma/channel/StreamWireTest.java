package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bytes of a stream on iWARP, against a peer that is played by hand: what rsockets of rdma-core sends and expects
 * ({@code librdmacm/rsocket.c}, version 44).
 */
@Timeout(60)
class StreamWireTest extends StreamFixture {

    private static final String CREDITS_OF_C = "80010080";
    private static final String DISCONNECT = "000000e0";
    private static final String KEEPALIVE = "010000e0";
    private static final String SHUTDOWN = "020000e0";

    private RdmaServerStreamChannel listener;

    /** A connection that the peer has asked for. */
    private RawStreamPeer connectFromC() throws Exception {
        return connectFromC(true);
    }

    private RawStreamPeer connectFromC(boolean autoRead) throws Exception {
        listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, autoRead)
                .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true));
        return RawStreamPeer.connect(listener.localAddress());
    }

    private RawStreamPeer connectToC(End client) throws Exception {
        try (ServerSocket c = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ChannelFuture connect = bootstrap().handler(client).connect(c.getLocalSocketAddress());
            RawStreamPeer peer = RawStreamPeer.accept(c, RawStreamPeer.HELLO);
            await(connect);
            return peer;
        }
    }

    @Test
    void shouldTellOfItselfInFortyBytes() throws Exception {
        try (RawStreamPeer peer = connectToC(new End())) {
            byte[] hello = peer.hello.array();
            assertEquals(40, hello.length);
            String digits = RawStreamPeer.hex(hello);
            assertEquals("01420018" + "00dc0000" + "0000000000000000", digits.substring(0, 32));
            assertEquals("00000002" + "0000000000000000", digits.substring(40, 64));
            assertEquals("00001000", digits.substring(72));
        }
    }

    @Test
    void shouldAnswerWithFortyBytes() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            assertEquals("01420018" + "00dc0000" + "0000000000000000", RawStreamPeer.hex(peer.hello.array()).substring(0, 32));
        }
    }

    @Test
    void shouldTellTheSecondHalfOfItsRingAtOnce() throws Exception {
        try (RawStreamPeer peer = connectToC(new End())) {
            peer.expect("18000080");
            assertEquals("0000000000000000", RawStreamPeer.hex(peer.list).substring(32, 48));
            assertEquals("00100000", RawStreamPeer.hex(peer.list).substring(56));
            assertEquals("00".repeat(16), RawStreamPeer.hex(peer.list).substring(0, 32));
        }
    }

    @Test
    void shouldWriteDataAndThenTellOfIt() throws Exception {
        End client = new End();
        try (RawStreamPeer peer = connectToC(client)) {
            peer.expect("18000080");
            client.write("hello".getBytes());
            peer.expect("05000000");
            assertEquals("hello", new String(peer.ring, 0, 5));
            client.write(bytes(300, 1));
            peer.expect("2c010000");
            assertArrayEquals(bytes(300, 1), Arrays.copyOfRange(peer.ring, 5, 305));
        }
    }

    @Test
    void shouldTakeDataFromTheRing() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.write(peer.ringTag, 0, "hello".getBytes()).send("05000000");
            End server = awaitAccepted();
            assertEquals("hello", new String(server.awaitBytes(5)));
            peer.write(peer.ringTag, 5, bytes(4091, 2)).send("fb0f0000");
            assertArrayEquals(bytes(4091, 2), Arrays.copyOfRange(server.awaitBytes(4096), 5, 4096));
        }
    }

    /** Fills each entry to its last byte, and goes on in the other, which comes with a message of its own. */
    @Test
    void shouldFillEachEntryToItsLastByte() throws Exception {
        End client = new End();
        try (RawStreamPeer peer = connectToC(client)) {
            peer.expect("18000080");
            ChannelFuture written = client.write(bytes(80_000, 3));
            int got = 0;
            while (got < 32768) {
                got += length(peer.receive());
            }
            assertEquals(32768, got);
            peer.write(peer.listTag, 16, RawStreamPeer.entry(0x18000, RawStreamPeer.RING_TAG, 32768)).send(CREDITS_OF_C);
            while (got < 65536) {
                got += length(peer.receive());
            }
            assertEquals(65536, got);
            assertArrayEquals(Arrays.copyOf(bytes(80_000, 3), 65536), peer.ring);
            peer.write(peer.listTag, 0, RawStreamPeer.entry(0x10000, RawStreamPeer.RING_TAG, 32768)).send(CREDITS_OF_C);
            while (got < 80_000) {
                got += length(peer.receive());
            }
            await(written);
        }
    }

    private static int length(byte[] message) {
        assertEquals(4, message.length);
        return message[0] & 0xff | (message[1] & 0xff) << 8 | (message[2] & 0xff) << 16 | message[3] << 24;
    }

    /** The last eight are for the peer's receives: messages that need no credit use them too. Of few, half is. */
    @ParameterizedTest
    @CsvSource({"0018, 16, 19000080", "000a, 5, 0b000080"})
    void shouldLeaveEightCreditsOfAPeerInC(String credits, int sent, String another) throws Exception {
        End client = new End();
        try (ServerSocket c = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ChannelFuture connect = bootstrap().handler(client).connect(c.getLocalSocketAddress());
            try (RawStreamPeer peer = RawStreamPeer.accept(c, RawStreamPeer.HELLO.replace("0180", credits))) {
                await(connect);
                peer.expect("18000080");
                for (int i = 0; i < sent; i++) {
                    await(client.write(bytes(1, 1)));
                    peer.expect("01000000");
                }
                client.write(bytes(2, 1));
                client.channel.eventLoop().submit(() -> { }).sync(); // what could be sent, is
                for (int i = 0; i < 12; i++) {
                    peer.write(peer.ringTag, i, new byte[1]).send("01000000");
                }
                peer.expect("24000080"); // nothing before it
                peer.write(peer.listTag, 16, RawStreamPeer.entry(0x18000, RawStreamPeer.RING_TAG, 32768)).send(another);
                peer.expect("02000000");
            }
        }
    }

    @Test
    void shouldReturnCreditsWhenHalfOfThemAreTaken() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.expect("18000080");
            for (int i = 0; i < 12; i++) {
                peer.write(peer.ringTag, i, new byte[1]).send("01000000");
            }
            peer.expect("24000080");
        }
    }

    @Test
    void shouldReturnRoomWhenHalfOfTheRingIsTaken() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.expect("18000080");
            peer.write(peer.ringTag, 0, bytes(4096, 4)).send("00100000");
            peer.expect("19000080");
            // A ring that was filled grows: the new half has another tag, and twice the size.
            assertEquals("00200000", RawStreamPeer.hex(peer.list).substring(24, 32));
        }
    }

    @Test
    void shouldReturnNothingForWhatNobodyHasRead() throws Exception {
        try (RawStreamPeer peer = connectFromC(false)) {
            peer.expect("18000080");
            peer.write(peer.ringTag, 0, bytes(4096, 4)).send("00100000");
            End server = awaitAccepted();
            server.write("x".getBytes());
            peer.expect("01000000"); // nothing before it
            server.channel.read();
            server.awaitBytes(1);
            server.channel.config().setAutoRead(true);
            server.awaitBytes(4096);
            peer.expect("19000080");
        }
    }

    /** Where the peer has not said that it takes data there. */
    @Test
    void shouldPutNoDataBehindMessagesToAPeerInC() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.expect("18000080");
            End server = awaitAccepted();
            server.write("x".getBytes());
            assertEquals(4, peer.receive().length);
            assertEquals('x', peer.ring[0]);
        }
    }

    @Test
    void shouldPutSmallDataBehindMessagesToItsOwnKind() throws Exception {
        listener = listen(serverBootstrap());
        String own = RawStreamPeer.HELLO.replace("01 02 0180 000000", "01 42 0180 011800");
        try (RawStreamPeer peer = RawStreamPeer.request(listener.localAddress(), own)) {
            peer.takeReply();
            peer.send("80010080");
            peer.expect("18000080");
            End server = awaitAccepted();
            server.write("hello".getBytes());
            peer.expect("05000000" + "68656c6c6f");
            peer.send("03000000" + "616263");
            assertEquals("abc", new String(server.awaitBytes(3)));
            server.write(bytes(216, 5));
            assertEquals(220, peer.receive().length);
            server.write(bytes(217, 5));
            peer.expect("d9000000");
        }
    }

    @Test
    void shouldIgnoreKeepalives() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.send(KEEPALIVE).write(0, 0, new byte[0]);
            peer.write(peer.ringTag, 0, "a".getBytes()).send("01000000");
            End server = awaitAccepted();
            server.awaitBytes(1);
            assertEquals(List.of("active"), server.events());
        }
    }

    @Test
    void shouldGoOnSendingAfterTheShutdownOfThePeer() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.expect("18000080");
            peer.write(peer.ringTag, 0, "bye".getBytes()).send("03000000").send(SHUTDOWN);
            End server = awaitAccepted();
            server.awaitEvent("ChannelInputShutdownReadComplete");
            assertEquals(3, server.awaitBytes(3).length);
            server.write("answer".getBytes());
            peer.expect("06000000");
            server.channel.shutdownOutput();
            peer.expect(DISCONNECT); // both directions have ended
        }
    }

    @Test
    void shouldTellTheShutdownOfItsOutput() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.expect("18000080");
            End server = awaitAccepted();
            server.write("bye".getBytes());
            server.channel.shutdownOutput();
            peer.expect("03000000");
            peer.expect(SHUTDOWN);
            peer.write(peer.ringTag, 0, "more".getBytes()).send("04000000");
            server.awaitBytes(4);
            server.channel.shutdownInput();
            peer.expect(DISCONNECT); // both directions have ended
        }
    }

    /** Linux siw takes the end of TCP for the loss of the connection, and drops what it still had to send. */
    @Test
    void shouldKeepTcpUntilThePeerHasClosedToo() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            peer.expect("18000080");
            End server = awaitAccepted();
            server.channel.close();
            peer.expect(DISCONNECT);
            server.awaitEvent("inactive");
            peer.write(peer.ringTag, 0, "late".getBytes()).send("04000000"); // is read and dropped
            assertTrue(!server.channel.releaseFuture().isDone());
            peer.send(DISCONNECT);
            assertTrue(server.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            peer.expectEnd();
        }
    }

    @Test
    void shouldNotWaitForeverForThePeerToClose() throws Exception {
        listener = listen(serverBootstrap().childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 50));
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            End server = awaitAccepted();
            server.channel.close();
            assertTrue(server.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            peer.expectEnd();
        }
    }

    /** Otherwise a peer that does not close its side could have the memory of any number of connections held for it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountAConnectionUntilThePeerHasClosedToo(boolean byHandler) throws Exception {
        ServerBootstrap server = serverBootstrap(channel -> channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.fireChannelActive();
                ctx.close();
            }
        })).childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 60_000);
        listener = listen(byHandler ? server.handler(new ConnectionLimitHandler(1, 1))
                : server.option(RdmaChannelOption.MAX_CONNECTIONS, 1).option(RdmaChannelOption.MAX_CONNECTIONS_PER_ADDRESS, 1));
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            peer.expect(DISCONNECT);
            try (RawStreamPeer other = RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO)) {
                other.expectRejection();
            }
            peer.send(DISCONNECT).expectEnd();
        }
        CountDownLatch released = new CountDownLatch(1);
        awaitAccepted().channel.releaseFuture().addListener(done -> released.countDown()); // behind the listener of the handler
        assertTrue(released.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        RawStreamPeer.connect(listener.localAddress()).close();
    }

    @Test
    void shouldReadWhatHasArrivedBeforeTheEnd() throws Exception {
        listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End server;
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            peer.write(peer.ringTag, 0, bytes(4096, 6)).send("00100000");
            peer.expect("18000080");
            server = awaitAccepted();
            peer.write(peer.tagOfSecondHalf(), 0, bytes(100, 7)).send("64000000").send(DISCONNECT);
        }
        server.channel.config().setAutoRead(true);
        assertArrayEquals(bytes(4096, 6), Arrays.copyOf(server.awaitBytes(4196), 4096));
        server.awaitEvent("inactive");
        assertEquals(List.of("active", "inactive"), server.events());
    }

    @Test
    void shouldTellTheLossOfTheConnectionBehindWhatHasArrived() throws Exception {
        End server;
        try (RawStreamPeer peer = connectFromC()) {
            peer.write(peer.ringTag, 0, bytes(100, 6)).send("64000000");
            server = awaitAccepted();
        }
        server.awaitEvent("inactive");
        assertEquals(100, server.received.size());
        assertEquals("Connection reset by peer: the connection was cut", server.events().get(1));
    }

    // --- What a peer does wrong

    @ParameterizedTest
    @ValueSource(strings = {
        "",
        "00",
        "01 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 000080", // 39 bytes
        "02 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 00008000", // version 2
        "01 02 0000 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 00008000", // no credits
        "01 02 0180 000000 00 0000000000001000 0a0b0c0d 00000001 0000000000010000 01020304 00008000", // a list of one entry
        "01 02 0180 000000 00 0000000000001000 0a0b0c0d ffffffff 0000000000010000 01020304 00008000",
        "01 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 00000000", // a ring of 0 bytes
        "01 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 80000000", // of 4 GiB
        "01 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 40000001",
        "01 42 0180 000300 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 00008000", // receives of 3 bytes
    })
    void shouldRejectWhatIsNoStream(String privateData) throws Exception {
        listener = listen(serverBootstrap());
        try (RawStreamPeer peer = RawStreamPeer.request(listener.localAddress(), privateData)) {
            peer.expectRejection();
        }
        connect(bootstrap(), listener.localAddress()).channel.close();
    }

    @ParameterizedTest
    @CsvSource({
        "'01 02 0180', 'private data has 4 bytes (limit: at least 40), perhaps that of a channel for messages'",
        "'02 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 00008000', "
                + "private data has version 2 (limit: 1)",
        "'01 02 0180 000000 00 0000000000001000 0a0b0c0d 00000002 0000000000010000 01020304 00000000', "
                + "the first receive buffer has length 0 (limit: 1 to 1073741824)",
    })
    void shouldFailToConnectToWhatIsNoStream(String privateData, String cause) throws Exception {
        try (ServerSocket c = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ChannelFuture connect = bootstrap().handler(new End()).connect(c.getLocalSocketAddress());
            try (RawStreamPeer peer = RawStreamPeer.accept(c, privateData)) {
                assertTrue(connect.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                assertTrue(connect.cause().getMessage().contains(cause), connect.cause()::toString);
                peer.expectEnd();
            }
        }
    }

    /** Sends messages in hexadecimal, little-endian, separated by blanks. */
    @ParameterizedTest
    @CsvSource({
        "00000020, a message of type 1 and value 0 ",
        "01000040, a message of type 2 and value 1 ",
        "00000060, a message of type 3 ",
        "000000a0, a message of type 5 ",
        "000000c0, a message of type 6 ",
        "030000e0, a control message of value 3 (limit: 2)",
        "040000e0, a control message of value 4 (limit: 2)",
        "050000e0, a control message of value 5 (limit: 4)",
        "00000000, a data message of 0 bytes (limit: at least 1)",
        "01100000, a data message tells of 4097 bytes (limit: the 4096 that are left in its target entry)",
        "00100000 ffffff1f, a data message tells of 536870911 bytes (limit: the 4096 that are left in its target entry)",
        "7f010080, a credit limit of 383 after 384",
        "81010080, a credit limit of 385 after 384",
        "020000e0 01000000, a data message of 1 bytes after the shutdown (limit: 0)",
        "000000, a message of 3 bytes (limit: 4)",
        "0100000061, a message of 5 bytes (limit: 4)",
        "010000e061, a message without data has 5 bytes (limit: 4)",
    })
    void shouldEndTheConnectionOfAPeerThatBreaksTheRules(String messages, String cause) throws Exception {
        try (RawStreamPeer peer = connectFromC(false); RawStreamPeer other = RawStreamPeer.connect(listener.localAddress())) {
            End server = awaitAccepted();
            End untouched = awaitAccepted();
            if (server.channel.remoteAddress().getPort() != peer.port()) {
                End first = server;
                server = untouched;
                untouched = first;
            }
            for (String message : messages.split(" ")) {
                peer.send(message);
            }
            server.awaitEvent("inactive");
            List<String> events = server.events(); // a shutdown may have been told before what broke the rules
            assertTrue(events.stream().anyMatch(event -> event.startsWith("stream protocol: " + cause)), events::toString);
            peer.expectEnd();
            assertTrue(server.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            untouched.write("x".getBytes());
            other.expect("18000080");
            other.expect("01000000");
        }
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsMoreThanItsCredits() throws Exception {
        try (RawStreamPeer peer = connectFromC(false)) {
            End server = awaitAccepted();
            for (int i = 0; i < 25; i++) {
                peer.write(peer.ringTag, i, new byte[1]).send("01000000");
            }
            server.awaitEvent("inactive");
            assertEquals("stream protocol: more data messages than credits (limit: 24)", server.events().get(1));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0, 8000, target entry 0 is replaced while 32768 bytes of it are left (limit: 0)",
        "16, 0, target entry 1 has length 0 (limit: 1 to 1073741824)",
        "16, 80000000, target entry 1 has length 2147483648 (limit: 1 to 1073741824)",
    })
    void shouldEndTheConnectionOfAPeerThatWritesWrongEntries(int at, String length, String cause) throws Exception {
        listener = listen(serverBootstrap());
        try (RawStreamPeer peer = RawStreamPeer.request(listener.localAddress(), RawStreamPeer.HELLO)) {
            peer.takeReply();
            peer.send(KEEPALIVE);
            peer.write(peer.listTag, at, RawStreamPeer.entry(0x10000, RawStreamPeer.RING_TAG,
                    Integer.parseUnsignedInt(length, 16))).send(CREDITS_OF_C);
            End server = awaitAccepted();
            server.awaitEvent("inactive");
            assertEquals("stream protocol: " + cause, server.events().get(1));
        }
    }

    /** Data that was never written would be what another connection has left in the same memory. */
    @Test
    void shouldNotPassOnWhatAnotherConnectionHasLeftInTheRing() throws Exception {
        listener = listen(serverBootstrap());
        byte[] secret = new byte[8192];
        Arrays.fill(secret, (byte) 'S');
        for (int i = 0; i < 8; i++) { // on all loops
            try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
                peer.write(peer.ringTag, 0, Arrays.copyOf(secret, 4096)).send("00100000");
                peer.write(awaitEntry(peer, 1), 0, Arrays.copyOf(secret, 4096)).send("00100000");
                peer.write(awaitEntry(peer, 0), 0, secret).send("00200000"); // has grown
                awaitEntry(peer, 1);
            }
            End server = awaitAccepted();
            server.awaitEvent("inactive");
            assertTrue(server.channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
        for (int i = 0; i < 8; i++) {
            try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
                peer.send("00100000"); // tells of 4096 bytes, and has written none
                awaitEntry(peer, 1);
                peer.send("00100000");
                awaitEntry(peer, 0);
                peer.send("00200000");
                assertArrayEquals(new byte[16384], awaitAccepted().awaitBytes(16384));
            }
        }
    }

    /** Waits until the other side has told where there is room; returns the tag. */
    private static int awaitEntry(RawStreamPeer peer, int entry) throws Exception {
        ByteBuffer list = ByteBuffer.wrap(peer.list).order(ByteOrder.LITTLE_ENDIAN);
        int at = entry * 16 + 8;
        while (list.getInt(at) == 0) {
            peer.receive();
        }
        int tag = list.getInt(at);
        list.putInt(at, 0);
        return tag;
    }

    @Test
    void shouldNotLetAPeerWriteElsewhere() throws Exception {
        try (RawStreamPeer peer = connectFromC()) {
            End server = awaitAccepted();
            peer.write(peer.ringTag, 4090, new byte[7]);
            server.awaitEvent("inactive");
            assertTrue(server.events().get(1).contains("bounds") || server.events().get(1).contains("4096"),
                    server.events()::toString);
        }
    }

    /** What a handler has seen does not change any more, whatever the peer writes into its ring. */
    @Test
    void shouldNotLetAPeerChangeWhatAHandlerHasSeen() throws Exception {
        listener = listen(serverBootstrap(channel -> channel.pipeline().addFirst(new Keeper())));
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            peer.write(peer.ringTag, 0, "good".getBytes()).send("04000000");
            End server = awaitAccepted();
            Keeper keeper = server.channel.pipeline().get(Keeper.class);
            keeper.await("good");
            peer.write(peer.ringTag, 0, "evil".getBytes()).write(peer.ringTag, 4, "!".getBytes()).send("01000000");
            keeper.await("!");
            assertEquals("good", keeper.kept.get(0).toString(java.nio.charset.StandardCharsets.US_ASCII));
            keeper.release();
        }
    }

    /** Keeps the buffers themselves. */
    private static final class Keeper extends ChannelInboundHandlerAdapter {
        private final List<io.netty.buffer.ByteBuf> kept = new java.util.ArrayList<>();

        @Override
        public synchronized void channelRead(ChannelHandlerContext ctx, Object message) {
            kept.add((io.netty.buffer.ByteBuf) message);
            notifyAll();
        }

        synchronized void await(String text) throws InterruptedException {
            while (kept.isEmpty()
                    || !kept.get(kept.size() - 1).toString(java.nio.charset.StandardCharsets.US_ASCII).equals(text)) {
                wait(TIMEOUT_SECONDS * 1000);
            }
        }

        synchronized void release() {
            kept.forEach(io.netty.buffer.ByteBuf::release);
        }
    }

    @Test
    void shouldReadEntriesAndMessagesOfABigEndianHost() throws Exception {
        listener = listen(serverBootstrap());
        try (RawStreamPeer peer = RawStreamPeer.request(listener.localAddress(),
                RawStreamPeer.HELLO.replace("01 02 0180", "01 03 0180").replace("00008000", "00000001"))) {
            peer.takeReply();
            peer.write(peer.listTag, 16, RawStreamPeer.hex("0000000000018000" + "01020304" + "00008000")).send("80000180");
            assertEquals("18000080", RawStreamPeer.hex(peer.receive()));
            assertEquals("00001000", RawStreamPeer.hex(peer.list).substring(56)); // swapped for its owner
            End server = awaitAccepted();
            await(server.channel.writeAndFlush(Unpooled.wrappedBuffer("ab".getBytes())));
            peer.expect("01000000");
            peer.expect("01000000");
            assertEquals('a', peer.ring[0]);
            assertEquals('b', peer.ring[32768]);
            peer.write(peer.ringTag, 0, "c".getBytes()).send("00000001");
            server.awaitBytes(1);
        }
    }
}
