package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.stream.StreamProtocolException;
import org.nettyrdma.verbs.VerbsProvider;

/** Streams over a device that refuses something. */
@Timeout(60)
class StreamFaultTest extends StreamFixture {

    private static final int SMALL_COPY_BYTES = 4096;

    private final FaultyProvider provider = new FaultyProvider();

    @Override
    VerbsProvider provider() {
        return provider;
    }

    @Test
    void shouldLeaveNothingOfAStreamThatHasNoMemoryToBegin() throws Exception {
        Pair pair = pair();
        ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();
        long receiveBytes = memory.receiveBytes();
        int failures = 0;
        for (int told = 0; told < 100; told++) {
            provider.capabilitiesLeft.set(told);
            Channel channel = bootstrap().handler(new ChannelInboundHandlerAdapter()).register().await().channel();
            boolean isMade = provider.capabilitiesLeft.getAndSet(-1) >= 0;
            await(channel.close());
            assertTrue(((RdmaStreamChannel) channel).releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            if (isMade) {
                break;
            }
            failures++;
            assertEquals(receiveBytes, memory.receiveBytes());
        }
        assertTrue(failures > 0);
        assertEquals(List.of("active"), pair.server().events());
    }

    /** A close that has failed as well has closed; only what the device says the peer may still reach is lost. */
    @Test
    void shouldLeaveNothingOfAStreamThatCannotBeginWhereItsQueuePairFailsToClose() throws Exception {
        Pair pair = pair();
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        long receiveBytes = allocator.connectionMemory().receiveBytes();
        int lost = LostMemory.size();
        provider.refuseEnds = true;
        provider.nextOffsetError = new OutOfMemoryError("expected"); // the ring is being made, behind all other memory
        assertFalse(bootstrap().handler(new ChannelInboundHandlerAdapter()).register().await().isSuccess());
        provider.refuseEnds = false;
        assertEquals(receiveBytes, allocator.connectionMemory().receiveBytes());
        assertEquals(lost, LostMemory.size());
        assertEquals(List.of("active"), pair.server().events());
    }

    /** The memory of the half that was to be replaced would be lost otherwise, and the connection with it. */
    @Test
    void shouldGoOnWithTheRingItHasWhereThereIsNoTagForALargerOne() throws Exception {
        Pair pair = pair();
        provider.refuseExposures = true;
        pair.client().write(bytes(100_000, 1));
        assertArrayEquals(bytes(100_000, 1), pair.server().awaitBytes(100_000));
        await(pair.client().channel.close());
        pair.server().awaitEvent("inactive");
    }

    /** What was read where it is would be lost otherwise, and the connection with it. */
    @Test
    void shouldCopyWhereThereIsNoTagForABlockThatIsUsedAgain() throws Exception {
        Pair pair = pair();
        pair.client().write(bytes(1_000_000, 1));
        pair.server().awaitBytes(1_000_000);
        provider.refuseExposures = true;
        pair.client().write(bytes(1_000_000, 2));
        assertArrayEquals(bytes(1_000_000, 2), Arrays.copyOfRange(pair.server().awaitBytes(2_000_000), 1_000_000, 2_000_000));
        provider.refuseExposures = false;
        pair.client().write(bytes(1_000_000, 3));
        assertArrayEquals(bytes(1_000_000, 3), Arrays.copyOfRange(pair.server().awaitBytes(3_000_000), 2_000_000, 3_000_000));
        assertEquals(List.of("active"), pair.server().events());
    }

    /** The peer would take what follows for what was not posted. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCutTheConnectionWhereAPostIsRefused(boolean autoClose) throws Exception {
        Pair pair = settledPair();
        pair.client().channel.config().setOption(ChannelOption.AUTO_CLOSE, autoClose);
        provider.refuseNextPost = true;
        ChannelFuture written = pair.client().write(bytes(3000, 2));
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        pair.server().awaitEvent("inactive");
        assertCut(pair.server());
        assertFalse(written.isSuccess());
        assertTrue(pair.client().channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    /** As with TCP: nothing of it was to be sent yet, so nothing is missing in the stream. */
    @Test
    void shouldFailNothingButTheWriteOfABufferThatWasReleased() throws Exception {
        Pair pair = settledPair();
        for (ByteBuf buffer : List.of(Unpooled.wrappedBuffer(bytes(10, 2)), Unpooled.directBuffer().writeBytes(bytes(10, 2)),
                pair.client().channel.alloc().buffer().writeBytes(bytes(10, 2)))) {
            buffer.release();
            ChannelFuture written = pair.client().channel.writeAndFlush(buffer);
            assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
            assertInstanceOf(IllegalReferenceCountException.class, written.cause());
        }
        await(pair.client().write(bytes(10, 3)));
        assertArrayEquals(bytes(10, 3), Arrays.copyOfRange(pair.server().awaitBytes(20), 10, 20));
        assertEquals(List.of("active"), pair.server().events());
    }

    /** The end of the channel would send as little of it, and succeed its promise. */
    @Test
    void shouldFailWhatIsWrittenWhereThereIsNoMemoryForACopy() throws Exception {
        startGroupOfOneLoop();
        Pair pair = settledPair();
        RdmaStreamChannel channel = pair.client().channel;
        byte[] data = bytes(3500, 2); // whose copy is a block of 4096 bytes
        List<ByteBuf> taken = new ArrayList<>();
        ChannelFuture written = channel.eventLoop().submit(() -> {
            takeAllBlocks(taken, data.length);
            return channel.writeAndFlush(Unpooled.wrappedBuffer(data));
        }).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        taken.forEach(ByteBuf::release);
        assertInstanceOf(RdmaException.class, written.cause());
        pair.server().awaitEvent("inactive");
        assertCut(pair.server());
    }

    /** Who holds all of it otherwise, by not taking what was sent, would have the connections of others cut. */
    @Test
    void shouldSendInSmallCopiesWhereThereIsNoMemoryForALargeOne() throws Exception {
        startGroupOfOneLoop();
        int ringBytes = 2 * StreamRing.FIRST_BLOCK_BYTES; // which never grows into the memory that is left
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.SO_RCVBUF, ringBytes));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        byte[] data = bytes(300_000, 2);
        List<ByteBuf> taken = new ArrayList<>();
        ChannelFuture written = client.channel.eventLoop().submit(() -> {
            takeAllBlocks(taken, StreamOutput.MAX_MESSAGE_BYTES);
            for (int bytes = StreamOutput.MAX_MESSAGE_BYTES / 2; bytes > SMALL_COPY_BYTES; bytes /= 2) {
                takeAllBlocks(taken, bytes);
            }
            return client.channel.writeAndFlush(Unpooled.wrappedBuffer(data));
        }).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        taken.forEach(ByteBuf::release);
        await(written);
        assertArrayEquals(data, server.awaitBytes(data.length));
    }

    /** The rest of a stream that is closed needs copies, too. */
    @Test
    void shouldSendTheRestInSmallCopiesWhereThereIsNoMemoryForALargeOne() throws Exception {
        startGroupOfOneLoop();
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        byte[] data = bytes(100_000, 2);
        List<ByteBuf> taken = new ArrayList<>();
        ChannelFuture written = client.channel.eventLoop().submit(() -> {
            ChannelFuture future = client.channel.writeAndFlush(Unpooled.wrappedBuffer(data));
            takeAllBlocks(taken, StreamOutput.MAX_MESSAGE_BYTES);
            client.channel.shutdownOutput();
            return future;
        }).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        await(written);
        server.channel.config().setAutoRead(true);
        assertArrayEquals(data, server.awaitBytes(data.length));
        taken.forEach(ByteBuf::release);
    }

    /** A promise that had succeeded before could not fail any more. */
    @Test
    void shouldFailTheRestWhereThereIsNoMemoryForACopyOfIt() throws Exception {
        startGroupOfOneLoop();
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        List<ByteBuf> taken = new ArrayList<>();
        ChannelFuture written = client.channel.eventLoop().submit(() -> {
            ChannelFuture future = client.channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(100_000, 2)));
            takeAllBlocks(taken, StreamOutput.MAX_MESSAGE_BYTES);
            takeAllBlocks(taken, SMALL_COPY_BYTES);
            client.channel.shutdownOutput();
            return future;
        }).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        taken.forEach(ByteBuf::release);
        assertFalse(written.isSuccess());
        server.channel.config().setAutoRead(true);
        server.awaitEvent("inactive");
        assertTrue(server.events().get(1).startsWith("Connection reset by peer: "), server.events()::toString);
    }

    /** No other thread has memory, or gives some back. */
    private void startGroupOfOneLoop() throws InterruptedException {
        stopGroup();
        group = new RdmaEventLoopGroup(1, new DefaultThreadFactory("stream-test"), provider, IdleStrategy.ADAPTIVE);
    }

    /** Leaves no registered memory for a buffer of such a size; to be called on the event loop. */
    private void takeAllBlocks(List<ByteBuf> taken, int bytes) {
        provider.refuseRegistrations = true;
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        do {
            taken.add(allocator.directBuffer(bytes, bytes));
        } while (allocator.isRegistered(taken.get(taken.size() - 1), 0, bytes));
    }

    @Test
    void shouldCutTheConnectionWhereAPostOfTheRestIsRefused() throws Exception {
        Pair pair = settledPair();
        RdmaStreamChannel channel = pair.client().channel;
        CompletableFuture<ChannelFuture> shutdown = new CompletableFuture<>();
        channel.eventLoop().execute(() -> {
            channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(10, 2))).addListener(done -> {
                channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(3000, 3))); // posted by the end
                provider.refuseNextPost = true;
                shutdown.complete(channel.shutdownOutput());
            });
        });
        assertTrue(shutdown.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        pair.server().awaitEvent("inactive");
        assertArrayEquals(bytes(10, 2), Arrays.copyOfRange(pair.server().awaitBytes(20), 10, 20));
        assertEquals(20, pair.server().received.size());
        assertFalse(shutdown.get().isSuccess());
    }

    /** What stands before it in the queue would be sent though its promise fails. */
    @Test
    void shouldTakeNoRestWhereOneOfItsBuffersCannotBeRead() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        RdmaStreamChannel channel = client.channel;
        CompletableFuture<ChannelFuture> good = new CompletableFuture<>();
        channel.eventLoop().execute(() -> {
            channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(100_000, 1))); // more than there is room for
            good.complete(channel.write(Unpooled.wrappedBuffer(bytes(10, 2))));
            ByteBuf released = Unpooled.wrappedBuffer(bytes(10, 3));
            channel.writeAndFlush(released);
            released.release();
            channel.shutdownOutput();
        });
        ChannelFuture written = good.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        assertFalse(written.isSuccess());
        assertTrue(channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        server.channel.config().setAutoRead(true);
        server.awaitEvent("inactive");
        assertTrue(server.received.size() < 100_000);
        assertTrue(server.events().contains("Connection reset by peer: the connection was cut"), server.events()::toString);
    }

    /** Handlers flush then, for instance, and finish with what they have read. */
    @Test
    @SuppressWarnings("deprecation") // Netty has no other type for what a handle of an allocator is
    void shouldTellTheEndOfReadingBeforeTheFailureThatItLeadsTo() throws Exception {
        AtomicInteger left = new AtomicInteger(2); // it is asked twice for each buffer that is copied
        RdmaServerStreamChannel listener = listen(serverBootstrap(child -> child.pipeline().addLast(
                new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                ctx.fireUserEventTriggered("read complete");
            }
        })).childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(10) {
            @Override
            public Handle newHandle() {
                return new DelegatingHandle(super.newHandle()) {
                    @Override
                    public int guess() {
                        if (left.getAndDecrement() == 0) {
                            throw new OutOfMemoryError("expected");
                        }
                        return super.guess();
                    }
                };
            }
        }.maxMessagesPerRead(2)));
        connect(bootstrap(), listener.localAddress()).write(bytes(20, 1));
        End server = awaitAccepted();
        server.awaitEvent("inactive");
        assertEquals(List.of("active", "String", "the channel failed: java.lang.OutOfMemoryError: expected", "inactive"),
                server.events());
        assertEquals(10, server.received.size());
    }

    /** Neither end has anything to post. */
    private Pair settledPair() throws Exception {
        Pair pair = pair(true);
        pair.client().write(bytes(10, 1));
        pair.server().awaitBytes(10);
        pair.server().write(bytes(10, 1));
        pair.client().awaitBytes(10);
        return pair;
    }

    private static void assertCut(End server) {
        assertArrayEquals(bytes(10, 1), server.received.toByteArray());
        assertEquals(List.of("active", "Connection reset by peer: the connection was cut", "inactive"), server.events());
    }

    /** A program that is killed while it sends much. */
    @Test
    void shouldNameAnEndWithinASegmentAsWithTcp() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap());
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            End server = awaitAccepted();
            peer.endWithinSegment();
            server.awaitEvent("inactive");
            String named = server.events().get(1);
            assertTrue(named.startsWith("Connection reset by peer: the peer closed the connection within an FPDU"), named);
        }
    }

    @Test
    void shouldNameTheLimitOfAMessageThatIsTooLong() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap());
        try (RawStreamPeer peer = RawStreamPeer.connect(listener.localAddress())) {
            End server = awaitAccepted();
            peer.send(new byte[StreamMemory.RECEIVE_BYTES + 1]);
            server.awaitEvent("inactive");
            String cause = "stream protocol: a message is longer than its receive (limit: 220 bytes)";
            assertEquals(List.of("active", cause, "inactive"), server.events());
        }
    }

    /** Where there is no memory every connection that is asked for would cost some for ever. */
    @Test
    void shouldLoseNoMemoryToConnectionsForWhichThereIsNone() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap());
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        ConnectionMemory memory = allocator.connectionMemory();
        int all = memory.take(Integer.MAX_VALUE, StreamMemory.BYTES);
        long lost = LostMemory.size();
        try {
            ChannelFuture connect = bootstrap().handler(new End()).connect(listener.localAddress());
            assertTrue(connect.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertFalse(connect.isSuccess());
        } finally {
            memory.giveBack((long) all * StreamMemory.BYTES);
        }
        assertEquals(lost, LostMemory.size());
    }

    /** Netty writes a stack trace for each channel that it cannot register; peers can ask for as many as they like. */
    @Test
    void shouldRefuseConnectionsForWhichThereIsNoMemoryWithFewLinesInTheLog() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap());
        ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();
        int stream = StreamMemory.BYTES + 2 * StreamRing.FIRST_BLOCK_BYTES;
        int all = memory.take(Integer.MAX_VALUE, stream);
        long lost = LostMemory.size();
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            memory.giveBack(stream); // for the client
            for (int i = 0; i < 20; i++) {
                ChannelFuture connect = bootstrap().handler(new End()).connect(listener.localAddress());
                assertTrue(connect.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                assertInstanceOf(ConnectException.class, connect.cause(), connect::toString);
                assertTrue(((RdmaStreamChannel) connect.channel()).releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
            }
        } finally {
            System.setErr(before);
            memory.giveBack((long) (all - 1) * stream);
        }
        String text = log.toString(StandardCharsets.UTF_8);
        assertFalse(text.contains("Failed to register"), text);
        assertEquals(lost, LostMemory.size());
        settledPair();
    }

    /** As by shared memory, where a client cuts the connection as soon as it stands. Its tags have ended with it. */
    @Test
    void shouldCloseAConnectionThatHasEndedBeforeItIsTold() throws Exception {
        provider.endBeforeEstablished = true;
        CompletableFuture<Channel> accepted = new CompletableFuture<>();
        RdmaServerStreamChannel listener = listen(serverBootstrap(accepted::complete));
        PrintStream before = System.err;
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        try {
            bootstrap().handler(new End()).connect(listener.localAddress());
            Channel child = accepted.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertTrue(child.closeFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not closed");
        } finally {
            System.setErr(before);
        }
        String text = log.toString(StandardCharsets.UTF_8);
        assertFalse(text.contains("unexpected exception"), text);
    }

    /** A client would lose memory with each attempt to connect to such a server. */
    @Test
    void shouldLoseNoMemoryToAMessageBehindAnAnswerThatIsRefused() throws Exception {
        ConnectionMemory memory = RegisteredByteBufAllocator.of(provider).connectionMemory();
        long before = memory.receiveBytes();
        long lost = LostMemory.size();
        provider.establishWithMessage = true;
        try (ServerSocket c = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            ChannelFuture connect = bootstrap().handler(new End()).connect(c.getLocalSocketAddress());
            try (RawStreamPeer peer = RawStreamPeer.accept(c, "02" + RawStreamPeer.HELLO.substring(2))) {
                peer.send("80010080");
                assertTrue(connect.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                assertInstanceOf(StreamProtocolException.class, connect.cause().getCause().getCause());
            }
        }
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (memory.receiveBytes() > before && System.nanoTime() - deadlineNanos < 0) {
            Thread.onSpinWait();
        }
        assertEquals(before, memory.receiveBytes());
        assertEquals(lost, LostMemory.size());
    }
}
