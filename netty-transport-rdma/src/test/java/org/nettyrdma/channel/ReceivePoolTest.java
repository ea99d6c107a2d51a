package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.iwarp.IwarpProvider;

/** Channels of one event loop that receive into the same buffers. */
@Timeout(120)
class ReceivePoolTest extends TransportFixture {

    private static final int MAX_BYTES = 64 << 20;

    private final VerbsProvider provider = new IwarpProvider(); // memory that no other test uses
    private final EventLoopGroup serverLoop = startGroup(1, IdleStrategy.ADAPTIVE);
    private final List<Endpoint> clients = new ArrayList<>();
    private final List<Endpoint> servers = new ArrayList<>();

    @Override
    protected VerbsProvider provider() {
        return provider;
    }

    private void connect(int count, boolean autoRead) throws Exception {
        Channel listener = listen(serverBootstrap(serverLoop).childOption(ChannelOption.AUTO_READ, autoRead));
        for (int i = 0; i < count; i++) {
            clients.add(connect(bootstrap(), listener));
            servers.add(awaitAccepted());
        }
    }

    private static void reserve(Endpoint endpoint, int wanted, int besides, int expected) throws Exception {
        assertEquals(expected, (int) endpoint.call(() -> endpoint.channel().reserveReceives(wanted, besides)));
    }

    @Test
    void shouldHoldBackOnlyTheChannelThatDoesNotRead() throws Exception {
        connect(1, false);
        connect(1, true);
        for (int i = 0; i < 1000; i++) {
            clients.get(0).send("held " + i);
        }
        awaitTrue(() -> servers.get(0).call(servers.get(0).channel()::heldMessages) == 128, "the depth is reached");
        for (int i = 0; i < 1000; i++) {
            clients.get(1).send("read " + i);
        }
        for (int i = 0; i < 1000; i++) {
            assertEquals("read " + i, servers.get(1).awaitText());
        }
        assertEquals(128, (int) servers.get(0).call(servers.get(0).channel()::heldMessages));
        assertEquals(128, servers.get(0).count(Counter.RECEIVES));
        servers.get(0).channel().config().setAutoRead(true);
        for (int i = 0; i < 1000; i++) {
            assertEquals("held " + i, servers.get(0).awaitText());
        }
    }

    @Test
    void shouldHaveReceivesForOthersHoweverManyDoNotRead() throws Exception {
        Channel listener = listen(serverBootstrap(serverLoop)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, ReceivePools.MAX_BUFFER_BYTES)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1024).childOption(ChannelOption.AUTO_READ, false));
        int hogs = 30;
        for (int i = 0; i < hogs; i++) {
            Endpoint client = connect(bootstrap(), listener);
            clients.add(client);
            servers.add(awaitAccepted());
            for (int j = 0; j < 1000; j++) {
                client.send("message " + j);
            }
        }
        Endpoint last = connect(bootstrap(), listener);
        Endpoint server = awaitAccepted();
        last.send("one more");
        awaitTrue(() -> server.call(server.channel()::heldMessages) == 1, "there is a receive for who holds none");
        for (Endpoint endpoint : servers) {
            endpoint.channel().config().setAutoRead(true);
            for (int j = 0; j < 1000; j++) {
                assertEquals("message " + j, endpoint.awaitText());
            }
        }
    }

    @Test
    void shouldShowLeakDetectionEveryMessageButAtItsLowestLevel() {
        for (Level level : Level.values()) {
            for (int untracked = 0; untracked < ReceivePool.MESSAGES_PER_TRACKED; untracked++) {
                boolean last = untracked == ReceivePool.MESSAGES_PER_TRACKED - 1;
                assertEquals(level != Level.SIMPLE || last, ReceivePool.isTracked(untracked, level), level + " " + untracked);
            }
        }
    }

    @Test
    void shouldShowLeakDetectionWhatArrives() throws Exception {
        assumeTrue(ResourceLeakDetector.getLevel() == Level.PARANOID);
        Channel listener = listen(serverBootstrap(serverLoop).childHandler(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object message) {
                context.writeAndFlush(Unpooled.copiedBuffer(message.getClass().getSimpleName(), StandardCharsets.US_ASCII));
                ReferenceCountUtil.release(message);
            }
        }));
        Endpoint client = connect(bootstrap(), listener);
        client.send("what am I?");
        String type = client.awaitText();
        assertTrue(type.endsWith("LeakAwareByteBuf"), type); // of which kind depends on Netty and on what is recorded
    }

    private ConnectionMemory memory() {
        return RegisteredByteBufAllocator.of(provider).connectionMemory();
    }

    @Test
    void shouldReserveNoMoreThanThereIsForAllTogether() throws Exception {
        int all = (int) (Math.min(MAX_BYTES, memory().maxBytes() / 8) / 4096);
        connect(40, true);
        for (Endpoint server : servers) {
            reserve(server, 1, 0, 1);
        }
        reserve(servers.get(0), 128, 5, 128);
        int sum = 0;
        for (int round = 0; round < 50; round++) {
            sum = 0;
            for (Endpoint server : servers) {
                sum += server.call(() -> server.channel().reserveReceives(10_000, 5)) + 5;
            }
        }
        assertTrue(sum <= all && sum > all / 2, sum + " of " + all);
        int share = servers.get(0).call(() -> servers.get(0).channel().reserveReceives(10_000, 5));
        int lastShare = servers.get(39).call(() -> servers.get(39).channel().reserveReceives(10_000, 5));
        assertTrue(Math.abs(share - lastShare) <= 1 + share / 10, share + " and " + lastShare);

        for (int i = 1; i < 40; i++) {
            clients.get(i).channel().close();
            servers.get(i).channel().releaseFuture().sync();
        }
        reserve(servers.get(0), 128, 5, 128);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldKeepNothingForAChannelThatIsOver(int channels) throws Exception {
        connect(channels, true);
        clients.get(0).channel().close();
        Endpoint.await(clients.get(0).channel().releaseFuture());
        Endpoint.await(servers.get(0).channel().releaseFuture());
        long others = memory().receiveBytes();
        reserve(servers.get(0), 10_000, 5, 1); // a program answers late
        assertEquals(others, memory().receiveBytes());
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000_000, Integer.MAX_VALUE})
    void shouldGiveAtLeastOneHoweverLittleIsLeft(int besides) throws Exception {
        connect(2, true);
        servers.get(0).call(() -> servers.get(0).channel().reserveReceives(1, besides));
        reserve(servers.get(1), 128, 0, 1);
        clients.get(1).send("served");
        assertEquals("served", servers.get(1).awaitText());
        servers.get(0).call(() -> servers.get(0).channel().reserveReceives(1, 0));
        reserve(servers.get(1), 128, 0, 128);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, wanted", "-1, 0, wanted", "1, -1, besides", "128, -2147483648, besides"})
    void shouldRefuseToReserveWhatIsNoNumberOfReceives(int wanted, int besides, String what) throws Exception {
        connect(1, true);
        RdmaChannel server = servers.get(0).channel();
        Throwable refusal = Endpoint.awaitFailure(server.eventLoop().submit(() -> server.reserveReceives(wanted, besides)));
        assertInstanceOf(IllegalArgumentException.class, refusal);
        assertTrue(refusal.getMessage().startsWith(what + " : "), refusal.getMessage());
    }

    @Test
    void shouldHaveAllReceivesOnceThereIsMemoryForThem() throws Exception {
        var clientLoop = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma-client"), new IwarpProvider(),
                IdleStrategy.ADAPTIVE); // whose receives are in other memory
        try {
            int taken = memory().take(Integer.MAX_VALUE, 4096);
            memory().giveBack(10 * 4096);
            Endpoint client = connect(bootstrap(clientLoop), listen(serverBootstrap(serverLoop)));
            Endpoint server = awaitAccepted();
            assertEquals(taken * 4096L, memory().receiveBytes(), "there are ten");
            client.send("with ten");
            assertEquals("with ten", server.awaitText());
            memory().giveBack((taken - 10) * 4096L);
            awaitTrue(() -> {
                client.send("more");
                assertEquals("more", server.awaitText());
                return memory().receiveBytes() == 128 * 4096L;
            }, "there are as many as were promised");
        } finally {
            stop(clientLoop);
        }
    }

    @Test
    void shouldHaveAllReceivesOnceThoseOfAnotherSizeAreNotNeeded() throws Exception {
        var clientLoop = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma-client"), new IwarpProvider(),
                IdleStrategy.ADAPTIVE);
        try {
            Endpoint hog = connect(bootstrap(clientLoop), listen(serverBootstrap(serverLoop)
                    .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, ReceivePools.MAX_BUFFER_BYTES)
                    .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1024)));
            Endpoint hogServer = awaitAccepted();
            Endpoint client = connect(bootstrap(clientLoop), listen(serverBootstrap(serverLoop)));
            Endpoint server = awaitAccepted();
            long few = memory().receiveBytes() % ReceivePools.MAX_BUFFER_BYTES;
            assertTrue(few > 0 && few < 128 * 4096L, "less than were promised: " + few);
            hog.channel().close();
            Endpoint.await(hogServer.channel().releaseFuture());
            awaitTrue(() -> {
                client.send("more");
                assertEquals("more", server.awaitText());
                return memory().receiveBytes() == 128 * 4096L;
            }, "there are as many as were promised");
        } finally {
            stop(clientLoop);
        }
    }

    @Test
    void shouldGiveMoreOnceThoseOfAnotherSizeArePromisedNoLonger() throws Exception {
        long loopBytes = Math.min(MAX_BYTES, memory().maxBytes() / 8);
        int allButOne = (int) (loopBytes / ReceivePools.MAX_BUFFER_BYTES) - 1;
        // As many as one of the others takes, and what there is besides in a JVM whose memory is no multiple of that.
        int left = (int) ((loopBytes - (long) allButOne * ReceivePools.MAX_BUFFER_BYTES) / 4096);
        var clientLoop = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma-client"), new IwarpProvider(),
                IdleStrategy.ADAPTIVE);
        try {
            connect(bootstrap(clientLoop), listen(serverBootstrap(serverLoop)
                    .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, ReceivePools.MAX_BUFFER_BYTES)
                    .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, allButOne)));
            Endpoint hog = awaitAccepted();
            connect(bootstrap(clientLoop), listen(serverBootstrap(serverLoop)));
            Endpoint server = awaitAccepted();
            reserve(server, 1, 0, 1);
            reserve(server, 128, 0, left / 4);
            reserve(server, 1, 0, 1);
            reserve(hog, 1, 0, 1);
            reserve(server, 128, 0, 128);
        } finally {
            stop(clientLoop);
        }
    }

    @Test
    void shouldGiveTheSameShareAgainWhereThereIsLittleMemory() throws Exception {
        var clientLoop = new RdmaEventLoopGroup(1, new DefaultThreadFactory("rdma-client"), new IwarpProvider(),
                IdleStrategy.ADAPTIVE);
        try {
            memory().take(Integer.MAX_VALUE, 4096);
            memory().giveBack(100 * 4096);
            connect(bootstrap(clientLoop), listen(serverBootstrap(serverLoop)));
            Endpoint server = awaitAccepted();
            reserve(server, 1, 0, 1);
            for (int i = 0; i < 4; i++) {
                reserve(server, 128, 0, 25);
            }
        } finally {
            stop(clientLoop);
        }
    }

    @Test
    void shouldUseLessMemoryThanReceivesOfEachChannelWould() throws Exception {
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        connect(200, true);
        for (Endpoint server : servers) {
            server.call(() -> server.channel().reserveReceives(1, 0));
        }
        clients.get(7).send("hello");
        assertEquals("hello", servers.get(7).awaitText());
        // Of each client 128 receives would be 100 MiB.
        assertTrue(allocator.registeredBytes() <= 2L * 2 * MAX_BYTES, "registered: " + allocator.registeredBytes());
    }

    @Test
    void shouldHaveLittleMemoryForManyIdleChannelsThatPromiseAll() throws Exception {
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(provider);
        connect(200, true);
        // Promised are 200 times 128 receives at each end, of which there can be 64 MiB.
        assertTrue(allocator.registeredBytes() <= 16 << 20, "registered: " + allocator.registeredBytes());
        for (int i = 0; i < 200; i++) {
            for (int j = 0; j < 8; j++) {
                clients.get(i).send("message " + j);
            }
        }
        for (int j = 0; j < 8; j++) {
            for (Endpoint server : servers) {
                assertEquals("message " + j, server.awaitText());
            }
        }
    }

    @Test
    void shouldSayThatLargerReceivesCannotBeHad() throws Exception {
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        connect(1, true);
        Endpoint server = servers.get(0);
        server.channel().pipeline().addFirst(new ChannelInboundHandlerAdapter() {
            @Override
            public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                events.add(event);
            }
        });
        server.channel().config().setReceiveBufferSize(8192);
        assertEquals(new ReceiveBuffersReplaced(4096), events.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(4096, (int) server.call(() -> server.channel().receivableBytes()));
        server.channel().config().setReceiveBufferSize(1024);
        assertEquals(new ReceiveBuffersReplaced(1024), events.poll(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(1024, (int) server.call(() -> server.channel().receivableBytes()));
    }

    @Test
    void shouldPassOnWhatArrivedBeforeThePeerClosed() throws Exception {
        connect(2, false);
        Endpoint server = servers.get(0);
        for (int i = 0; i < 100; i++) {
            clients.get(0).send("message " + i);
        }
        awaitTrue(() -> server.count(Counter.RECEIVES) == 100, "arrived");
        Endpoint.await(clients.get(0).channel().close());
        assertFalse(server.isInactive());
        server.channel().config().setAutoRead(true);
        for (int i = 0; i < 100; i++) {
            assertEquals("message " + i, server.awaitText());
        }
        server.awaitInactive();
        servers.get(1).channel().config().setAutoRead(true);
        clients.get(1).send("other");
        assertEquals("other", servers.get(1).awaitText());
    }
}
