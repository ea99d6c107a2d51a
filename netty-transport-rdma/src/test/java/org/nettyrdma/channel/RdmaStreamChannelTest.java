package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelProgressiveFuture;
import io.netty.channel.ChannelProgressiveFutureListener;
import io.netty.channel.ChannelProgressivePromise;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.socket.ChannelOutputShutdownException;
import io.netty.channel.socket.SocketChannelConfig;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

@Timeout(60)
class RdmaStreamChannelTest extends StreamFixture {

    /** By such a text SslHandler knows an end that is no news behind close_notify, and HTTP clients that they may try again. */
    private static final String RESET = "(Connection reset|Connection reset by peer|Broken pipe)(: .*)?";

    @Test
    void shouldCarryBytesBothWays() throws Exception {
        Pair pair = pair();
        await(pair.client().write(bytes(10, 1)));
        assertArrayEquals(bytes(10, 1), pair.server().awaitBytes(10));
        await(pair.server().write(bytes(1000, 2)));
        assertArrayEquals(bytes(1000, 2), pair.client().awaitBytes(1000));
        assertEquals(pair.client().channel.remoteAddress(), pair.server().channel.localAddress());
        assertEquals(pair.server().channel.remoteAddress(), pair.client().channel.localAddress());
        assertFalse(pair.client().channel.localAddress().getAddress().isAnyLocalAddress());
    }

    @Test
    void shouldCarryMoreThanTheRingHolds() throws Exception {
        Pair pair = pair();
        byte[] large = bytes(20_000_000, 3);
        ChannelFuture written = pair.client().channel.writeAndFlush(Unpooled.wrappedBuffer(large));
        ChannelFuture answered = pair.server().write(bytes(3_000_000, 4));
        assertArrayEquals(large, pair.server().awaitBytes(large.length));
        await(written);
        assertArrayEquals(bytes(3_000_000, 4), pair.client().awaitBytes(3_000_000));
        await(answered);
        assertEquals(large.length, pair.client().channel.statistics().get(Counter.COPIED_BYTES));
        assertTrue(pair.server().channel.statistics().get(Counter.RECEIVED_COPIED_BYTES) <= large.length);
        assertEquals(0, pair.server().channel.statistics().get(Counter.COPIED_BYTES));
    }

    /** As systems do, which raise what is asked for. With a ring of a byte each message would carry one. */
    @Test
    void shouldRaiseASmallReceiveBuffer() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.SO_RCVBUF, 1));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        await(client.write(bytes(5_000_000, 5)));
        assertArrayEquals(bytes(5_000_000, 5), server.awaitBytes(5_000_000));
        assertEquals(8192, server.channel.config().getOption(ChannelOption.SO_RCVBUF));
    }

    /** What a connection has sent and copied for a flush of such buffers, each of the channel's allocator. */
    private static List<Long> send(Pair pair, int... sizes) throws Exception {
        RdmaStreamChannel channel = pair.client().channel;
        byte[] all = bytes(java.util.Arrays.stream(sizes).sum(), 17);
        channel.eventLoop().submit(() -> {
            int at = 0;
            for (int size : sizes) {
                channel.write(channel.alloc().buffer(size).writeBytes(all, at, size));
                at += size;
            }
            channel.flush();
        }).sync();
        assertArrayEquals(all, pair.server().awaitBytes(all.length));
        RdmaChannelStatistics statistics = channel.statistics();
        return List.of(statistics.get(Counter.WRITES), statistics.get(Counter.SENDS), statistics.get(Counter.COPIED_BYTES));
    }

    @Test
    void shouldSendManySmallBuffersAsOne() throws Exception {
        int[] sizes = new int[90];
        java.util.Arrays.fill(sizes, 40);
        assertEquals(List.of(1L, 0L, 3600L), send(pair(), sizes));
    }

    @Test
    void shouldSendWhatIsLargeBetweenSmallBuffersFromWhereItIs() throws Exception {
        assertEquals(List.of(1L, 0L, 9L + 100 + 9 + 20), send(pair(), 9, 100, 1500, 9, 1100, 20));
        assertEquals(List.of(1L, 0L, 0L), send(pair(), 300, 20, 10)); // few
    }

    @Test
    void shouldCarryBuffersOfAllKindsInOrder() throws Exception {
        Pair pair = pair();
        RdmaStreamChannel channel = pair.client().channel;
        List<Integer> completed = new ArrayList<>();
        List<ChannelFuture> futures = new ArrayList<>();
        byte[] all = bytes(600_000, 5);
        int at = 0;
        int kind = 0;
        for (int size = 1; at < all.length; size = size * 3 / 2 + 1, kind++) {
            int length = Math.min(size, all.length - at);
            ByteBuf buffer = switch (kind % 6) {
                case 0 -> channel.alloc().directBuffer(length).writeBytes(all, at, length);
                case 1 -> Unpooled.wrappedBuffer(all, at, length);
                case 2 -> Unpooled.directBuffer(length).writeBytes(all, at, length);
                case 3 -> Unpooled.wrappedBuffer(channel.alloc().directBuffer(length).writeBytes(all, at, length / 2),
                        Unpooled.wrappedBuffer(all, at + length / 2, length - length / 2));
                case 4 -> Unpooled.wrappedBuffer(all, at, length).asReadOnly();
                default -> channel.alloc().directBuffer(length + 9).writeZero(9).writeBytes(all, at, length).skipBytes(9);
            };
            at += length;
            int number = futures.size();
            futures.add(channel.write(buffer).addListener(done -> completed.add(number)));
            futures.add(channel.write(Unpooled.EMPTY_BUFFER).addListener(done -> completed.add(number + 1)));
        }
        channel.flush();
        for (ChannelFuture future : futures) {
            await(future);
        }
        assertArrayEquals(all, pair.server().awaitBytes(all.length));
        channel.eventLoop().submit(() -> { }).sync(); // behind the listeners
        for (int i = 0; i < futures.size(); i++) {
            assertEquals(i, completed.get(i));
        }
    }

    /** A promise or a water mark makes a handler write and flush in the middle of a completion. */
    @Test
    void shouldKeepTheOrderOfWhatIsWrittenByListeners() throws Exception {
        Pair pair = pair();
        RdmaStreamChannel channel = pair.client().channel;
        byte[] all = bytes(200_000, 16);
        AtomicInteger at = new AtomicInteger();
        ChannelFutureListener more = new ChannelFutureListener() {
            @Override
            public void operationComplete(ChannelFuture future) {
                int start = at.getAndAdd(100);
                if (start < all.length) {
                    channel.writeAndFlush(channel.alloc().buffer(100).writeBytes(all, start, 100)).addListener(this);
                }
            }
        };
        channel.eventLoop().execute(() -> {
            for (int i = 0; i < 5; i++) {
                int start = at.getAndAdd(100);
                channel.write(channel.alloc().buffer(100).writeBytes(all, start, 100)).addListener(more);
            }
            channel.flush();
        });
        assertArrayEquals(all, pair.server().awaitBytes(all.length));
    }

    @Test
    void shouldSendTheRestWhereAListenerEndsTheOutput() throws Exception {
        Pair pair = pair(true);
        RdmaStreamChannel channel = pair.client().channel;
        channel.eventLoop().execute(() -> {
            for (int i = 0; i < 5; i++) {
                ChannelFuture written = channel.write(channel.alloc().buffer(1000).writeBytes(bytes(1000, i)));
                if (i == 1) {
                    written.addListener(done -> channel.shutdownOutput());
                }
            }
            channel.flush();
        });
        pair.server().awaitEvent("ChannelInputShutdownEvent");
        for (int i = 0; i < 5; i++) {
            assertArrayEquals(bytes(1000, i),
                    java.util.Arrays.copyOfRange(pair.server().awaitBytes(5000), i * 1000, i * 1000 + 1000));
        }
    }

    @Test
    void shouldSendTheRestBeforeItsEndWhereAListenerClosesTheChannel() throws Exception {
        Pair pair = pair(true);
        RdmaStreamChannel channel = pair.client().channel;
        channel.eventLoop().execute(() -> {
            channel.write(Unpooled.wrappedBuffer(bytes(10, 1))).addListener(done -> channel.close());
            channel.write(Unpooled.wrappedBuffer(bytes(30_000, 2))); // more than there is room for at first
            channel.flush();
            channel.shutdownOutput(); // tells the first promise
        });
        pair.server().awaitEvent("ChannelInputShutdownEvent");
        assertEquals(List.of("active", "ChannelInputShutdownEvent"), pair.server().events().subList(0, 2));
        assertEquals(30_010, pair.server().received.size());
        pair.server().channel.close();
        assertTrue(pair.client().channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    /** Which cuts the connection: what was not posted is not sent any more, and must not be kept either. */
    @Test
    void shouldKeepNothingOfTheRestWhereAListenerCutsTheConnection() throws Exception {
        Pair pair = pair(true);
        RdmaStreamChannel channel = pair.client().channel;
        channel.config().setSoLinger(0);
        ByteBuf rest = Unpooled.wrappedBuffer(bytes(200_000, 2)); // more than there is room for
        CompletableFuture<ChannelFuture> written = new CompletableFuture<>();
        channel.eventLoop().execute(() -> {
            channel.write(Unpooled.wrappedBuffer(bytes(10, 1))).addListener(done -> channel.close());
            written.complete(channel.writeAndFlush(rest));
            channel.shutdownOutput(); // tells the first promise
        });
        assertFalse(written.get(TIMEOUT_SECONDS, TimeUnit.SECONDS).await().isSuccess());
        assertTrue(channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(0, rest.refCnt());
    }

    /** The end is asked for while the bytes are still in the outbound buffer. */
    @Test
    void shouldSendNothingTwiceWhereThePromiseOfTheLastPieceClosesTheChannel() throws Exception {
        Pair pair = pair();
        RdmaStreamChannel channel = pair.client().channel;
        ChannelProgressivePromise written = channel.newProgressivePromise();
        written.addListener(new ChannelProgressiveFutureListener() {
            @Override
            public void operationProgressed(ChannelProgressiveFuture future, long progress, long total) {
                if (progress == total) {
                    channel.close();
                }
            }

            @Override
            public void operationComplete(ChannelProgressiveFuture future) {
                // The channel is closed before.
            }
        });
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(1000, 1)), written);
        await(written);
        pair.server().awaitEvent("inactive");
        assertArrayEquals(bytes(1000, 1), pair.server().received.toByteArray());
    }

    /** As with TCP, where the system has a copy. */
    @Test
    void shouldSendWhatWasFlushedThoughItsMemoryIsUsedAgain() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap(), listener.localAddress());
        byte[] memory = bytes(100_000, 1);
        ChannelFuture written = client.channel.writeAndFlush(Unpooled.wrappedBuffer(memory))
                .addListener(done -> java.util.Arrays.fill(memory, (byte) 0));
        await(client.channel.shutdownOutput());
        await(written);
        End server = awaitAccepted();
        server.channel.config().setAutoRead(true);
        assertArrayEquals(bytes(100_000, 1), server.awaitBytes(100_000));
    }

    @Test
    void shouldShutTheInputDownWhereTheOutputWasShutDownBefore() throws Exception {
        Pair pair = pair(true);
        RdmaStreamChannel channel = pair.client().channel;
        await(channel.shutdownOutput());
        ChannelFuture shutdown = channel.shutdown();
        assertTrue(shutdown.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        assertInstanceOf(ClosedChannelException.class, shutdown.cause()); // as with TCP
        assertTrue(channel.isInputShutdown());
        assertTrue(channel.isShutdown());
    }

    /** As with TCP: what was sent before arrives. */
    @Test
    void shouldEndInOrderWhereAFileCannotBeRead(@TempDir Path directory) throws Exception {
        Pair pair = pair();
        RdmaStreamChannel channel = pair.client().channel;
        channel.write(Unpooled.wrappedBuffer(bytes(100, 1)));
        ChannelFuture sent = channel.writeAndFlush(new DefaultFileRegion(directory.resolve("none").toFile(), 0, 10));
        pair.server().awaitEvent("inactive");
        assertTrue(sent.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        assertInstanceOf(IOException.class, sent.cause());
        assertArrayEquals(bytes(100, 1), pair.server().received.toByteArray());
        assertEquals(List.of("active", "inactive"), pair.server().events());
    }

    @Test
    void shouldCompleteWhatIsEmptyBehindAnEmptyFile(@TempDir Path directory) throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        RdmaStreamChannel channel = pair().client().channel;
        ChannelFuture region = channel.write(new DefaultFileRegion(file.toFile(), 0, 0));
        await(channel.writeAndFlush(Unpooled.EMPTY_BUFFER));
        assertTrue(region.isSuccess());
        channel.write(Unpooled.wrappedBuffer(bytes(100, 1))); // the rest waits until that is sent
        channel.write(new DefaultFileRegion(file.toFile(), 0, 0));
        channel.write(Unpooled.EMPTY_BUFFER);
        channel.write(new DefaultFileRegion(file.toFile(), 0, 0));
        await(channel.writeAndFlush(Unpooled.EMPTY_BUFFER));
    }

    /** A server of HTTP closes the connection in the listener of that. */
    @Test
    void shouldCompleteWhatIsEmptyBehindAFile(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), bytes(100_000, 1));
        RdmaStreamChannel channel = pair().client().channel;
        channel.write(new DefaultFileRegion(file.toFile(), 0, 10));
        await(channel.writeAndFlush(Unpooled.EMPTY_BUFFER));
        channel.write(Unpooled.wrappedBuffer(bytes(100, 1)));
        channel.write(new DefaultFileRegion(file.toFile(), 0, 100_000));
        await(channel.writeAndFlush(Unpooled.EMPTY_BUFFER));
    }

    @Test
    void shouldSendFilesLargerThanTheRing(@TempDir Path directory) throws Exception {
        byte[] content = bytes(1_000_000, 6);
        Path file = Files.write(directory.resolve("file"), content);
        Pair pair = pair();
        pair.client().channel.write(Unpooled.wrappedBuffer(bytes(100, 7)));
        ChannelFuture sent = pair.client().channel.write(new DefaultFileRegion(file.toFile(), 10, content.length - 10));
        await(pair.client().channel.writeAndFlush(Unpooled.wrappedBuffer(bytes(50, 8))));
        await(sent);
        byte[] received = pair.server().awaitBytes(content.length - 10 + 150);
        assertArrayEquals(bytes(100, 7), java.util.Arrays.copyOf(received, 100));
        assertArrayEquals(java.util.Arrays.copyOfRange(content, 10, content.length),
                java.util.Arrays.copyOfRange(received, 100, content.length + 90));
        assertArrayEquals(bytes(50, 8), java.util.Arrays.copyOfRange(received, content.length + 90, received.length));
    }

    @Test
    void shouldTellTheEndBehindTheData() throws Exception {
        Pair pair = pair();
        pair.client().write(bytes(100_000, 9));
        pair.server().awaitBytes(100_000);
        ChannelFuture last = pair.client().write(bytes(200_000, 10));
        pair.client().channel.close();
        pair.server().awaitEvent("inactive");
        assertTrue(last.isSuccess());
        assertEquals(300_000, pair.server().received.size());
        assertEquals(List.of("active", "inactive"), pair.server().events());
        assertTrue(pair.client().channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertTrue(pair.server().channel.releaseFuture().await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void shouldTellTheEndOfOneDirectionAlone() throws Exception {
        Pair pair = pair(true);
        pair.client().write(bytes(100_000, 11));
        await(pair.client().channel.shutdownOutput());
        assertTrue(pair.client().channel.isOutputShutdown());
        assertFalse(pair.client().channel.isInputShutdown());
        ChannelFuture late = pair.client().write(bytes(1, 1));
        assertTrue(late.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertFalse(late.isSuccess());
        pair.server().awaitEvent("ChannelInputShutdownReadComplete");
        assertEquals(List.of("active", "ChannelInputShutdownEvent", "ChannelInputShutdownReadComplete"), pair.server().events());
        assertEquals(100_000, pair.server().received.size());
        assertTrue(pair.server().channel.isInputShutdown());
        await(pair.server().write(bytes(300_000, 12)));
        assertArrayEquals(bytes(300_000, 12), pair.client().awaitBytes(300_000));
        pair.server().channel.close();
        pair.client().awaitEvent("ChannelInputShutdownEvent");
    }

    @Test
    void shouldTellNoMoreOfItsInputOnceAHandlerHasClosedTheChannel() throws Exception {
        Pair pair = pair(true);
        pair.server().channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                ctx.fireUserEventTriggered(event);
                ctx.close();
            }
        });
        pair.server().channel.eventLoop().submit(() -> { }).sync(); // the handler is there
        await(pair.client().channel.shutdownOutput());
        pair.server().awaitEvent("inactive");
        assertEquals(List.of("active", "ChannelInputShutdownEvent", "inactive"), pair.server().events());
    }

    @Test
    void shouldFailWhatIsQueuedWhenTheOutputIsShutDown() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap(), listener.localAddress());
        ChannelFuture written = client.write(bytes(1_000_000, 13));
        awaitAccepted();
        await(client.channel.shutdownOutput());
        assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(ChannelOutputShutdownException.class, written.cause());
        assertTrue(client.channel.isActive());
    }

    @Test
    void shouldCutTheConnectionWithLingerZero() throws Exception {
        Pair pair = pair();
        pair.client().channel.config().setSoLinger(0);
        pair.client().channel.close();
        pair.server().awaitEvent("inactive");
        List<String> events = pair.server().events();
        assertEquals(List.of("active", events.get(1), "inactive"), events);
        // By what the socket is asked for first the system says how the peer has gone.
        assertTrue(events.get(1).matches(RESET), events::toString);
    }

    @Test
    void shouldStopThePeerWhileNoReadIsWanted() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false));
        End client = connect(bootstrap(), listener.localAddress());
        ChannelFuture written = client.write(bytes(100_000, 14));
        End server = awaitAccepted();
        assertFalse(written.await(200, TimeUnit.MILLISECONDS));
        assertEquals(0, server.received.size());
        server.channel.config().setAutoRead(true);
        assertArrayEquals(bytes(100_000, 14), server.awaitBytes(100_000));
        await(written);
    }

    /** As with Netty's own transports, which ask once. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldReadOnAndTellTheEndWhereAHandlerSwallowsReads(int passed) throws Exception {
        AtomicInteger left = new AtomicInteger(passed);
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline()
                .addLast(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void read(ChannelHandlerContext ctx) throws Exception {
                        if (left.getAndDecrement() > 0) {
                            super.read(ctx);
                        }
                    }
                })));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        for (int count = 1; count <= 3; count++) {
            await(client.write(new byte[1]));
            server.awaitBytes(count);
        }
        client.channel.close();
        server.awaitEvent("inactive");
    }

    /** A read that is swallowed afterwards does not turn reading on again. */
    @Test
    void shouldNotReadOnWhereAHandlerSwallowsReadsBehindAutoReadOff() throws Exception {
        AtomicBoolean swallows = new AtomicBoolean();
        RdmaServerStreamChannel listener = listen(serverBootstrap(channel -> channel.pipeline()
                .addLast(new ChannelOutboundHandlerAdapter() {
                    @Override
                    public void read(ChannelHandlerContext ctx) throws Exception {
                        if (!swallows.get()) {
                            super.read(ctx);
                        }
                    }
                })));
        End client = connect(bootstrap(), listener.localAddress());
        End server = awaitAccepted();
        swallows.set(true);
        server.channel.eventLoop().submit(() -> server.channel.config().setAutoRead(false).setAutoRead(true)).sync();
        ChannelFuture written = client.write(bytes(100_000, 15));
        assertFalse(written.await(200, TimeUnit.MILLISECONDS));
        assertEquals(0, server.received.size());
        swallows.set(false);
        server.channel.read();
        assertArrayEquals(bytes(100_000, 15), server.awaitBytes(100_000));
    }

    /** As a proxy that reads on when what it has read is written: it would wait for ever. */
    @Test
    void shouldFailWhatIsWrittenToAPeerThatHasClosedWhereNoReadIsWanted() throws Exception {
        End server = readerOfClosedPeer();
        assertInstanceOf(IOException.class, firstFailure(server));
        server.awaitEvent("inactive");
        assertEquals(List.of("active", "inactive"), server.events());
    }

    @Test
    void shouldFailWhatIsWrittenToAPeerThatHasClosedOnceNoMoreReadIsWanted() throws Exception {
        End server = readerOfClosedPeer();
        server.channel.pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ctx.channel().config().setAutoRead(false);
                ctx.writeAndFlush(message).addListener(written -> {
                    if (written.isSuccess()) { // sent before the end of the peer was told
                        ctx.read();
                    }
                });
            }
        });
        server.channel.config().setAutoRead(true);
        server.awaitEvent("inactive");
        assertEquals(List.of("active", "inactive"), server.events());
    }

    /** With data that is not read, one byte at a time. */
    private End readerOfClosedPeer() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap().childOption(ChannelOption.AUTO_READ, false)
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(1).maxMessagesPerRead(1)));
        End client = connect(bootstrap(), listener.localAddress());
        await(client.write(bytes(1000, 16)));
        client.channel.close();
        return awaitAccepted();
    }

    private static Throwable firstFailure(End end) throws InterruptedException {
        ChannelFuture written;
        do {
            written = end.write(bytes(1, 17));
            assertTrue(written.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "no outcome");
        } while (written.isSuccess());
        return written.cause();
    }

    /** The request is answered first, so that to the peer the connection stands; the close runs before this side hears of it. */
    @Test
    void shouldEndInOrderWhatIsClosedBeforeItIsActive() throws Exception {
        RdmaServerStreamChannel listener = listen(new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void handlerAdded(ChannelHandlerContext ctx) {
                        ctx.executor().execute(ctx::close);
                    }
                }));
        End client = connect(bootstrap(), listener.localAddress());
        client.awaitEvent("inactive");
        assertEquals(List.of("active", "inactive"), client.events());
    }

    /** As with TCP, where the system sends what was flushed whatever the event loop does next. */
    @Test
    void shouldSendAtOnceWhatIsWrittenWhenTheChannelBecomesActive() throws Exception {
        CountDownLatch read = new CountDownLatch(1);
        CompletableFuture<Boolean> wasRead = new CompletableFuture<>();
        RdmaServerStreamChannel listener = listen(new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) throws Exception {
                        ctx.writeAndFlush(ctx.alloc().buffer().writeZero(100));
                        wasRead.complete(read.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
                    }
                }));
        RdmaEventLoopGroup other = new RdmaEventLoopGroup(1);
        try {
            End client = connect(new Bootstrap().group(other).channel(RdmaStreamChannel.class), listener.localAddress());
            client.awaitBytes(100);
            read.countDown();
            assertTrue(wasRead.get(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        } finally {
            other.shutdownGracefully(0, TIMEOUT_SECONDS, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void shouldObeyTheReceiveBufferAllocator() throws Exception {
        RdmaServerStreamChannel listener = listen(serverBootstrap()
                .childOption(ChannelOption.RCVBUF_ALLOCATOR, new FixedRecvByteBufAllocator(1).maxMessagesPerRead(2)));
        End client = connect(bootstrap(), listener.localAddress());
        client.write(bytes(300, 15));
        End server = awaitAccepted();
        assertArrayEquals(bytes(300, 15), server.awaitBytes(300));
        assertTrue(server.reads.stream().allMatch(size -> size == 1));
    }

    @Test
    void shouldRefuseWhereNobodyListens() throws Exception {
        ChannelFuture connect = bootstrap().handler(new End())
                .connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), 4));
        assertTrue(connect.await(TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(ConnectException.class, connect.cause());
        assertInstanceOf(IOException.class, connect.cause());
        await(connect.channel().closeFuture());
    }

    @Test
    void shouldTellOfNoLingerAsSocketsDo() {
        SocketChannelConfig config = new RdmaStreamChannel().config();
        assertEquals(-1, config.setSoLinger(-2).getSoLinger());
        assertEquals(0, config.setSoLinger(0).getSoLinger());
    }
}
