package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.IdleStrategy;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.channel.RemoteAccess;

/** Whatever is under way at the end of a connection is completed or failed, once. A part of {@link RdmaTransportContract}. */
public abstract class ClosingContract extends TransportFixture {

    // Far enough apart that a released message is never reused as a receive buffer while a test looks at its references.
    private static final int SENT_BYTES = 600_000;
    private static final int RECEIVE_BYTES = 1 << 20;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldTellBothEndsWhenOneCloses(boolean clientCloses) throws Exception {
        Connection connection = connect();
        Endpoint closing = clientCloses ? connection.client() : connection.server();
        Endpoint other = clientCloses ? connection.server() : connection.client();
        Endpoint.await(closing.channel().close());
        assertFalse(closing.channel().isOpen());
        assertFalse(closing.channel().isActive());
        closing.awaitInactive();
        other.awaitInactive();
        Endpoint.await(other.channel().closeFuture());
        assertFalse(closing.hasCause());
        assertFalse(other.hasCause());
        assertInstanceOf(ClosedChannelException.class, Endpoint.awaitFailure(other.send("too late")));
        Endpoint.await(closing.channel().close());
    }

    /** A connection of which both ends have receives of their own, so that all of them are flushed at the end. */
    private Connection connectWithOwnReceives(boolean serverReads) throws Exception {
        return connect(serverBootstrap().childOption(RdmaChannelOption.SHARED_RECEIVES, false)
                .childOption(ChannelOption.AUTO_READ, serverReads), bootstrap().option(RdmaChannelOption.SHARED_RECEIVES, false));
    }

    @Test
    void shouldReturnEveryBufferAfterTheClose() throws Exception {
        Connection connection = connectWithOwnReceives(true);
        connection.client().channel().close();
        connection.server().awaitInactive();
        awaitTrue(() -> connection.client().count(Counter.FLUSHED_WORK_REQUESTS) == 128
                && connection.server().count(Counter.FLUSHED_WORK_REQUESTS) == 128, "all posted receives come back");
        assertEquals(0, connection.client().count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
    }

    @Test
    void shouldTakeBackEveryBufferThoughTheLoopIsBehind() throws Exception {
        int receives = 2048; // several polls
        Connection connection = connect(serverBootstrap(), bootstrap().option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, receives)
                .option(RdmaChannelOption.SHARED_RECEIVES, false)
                .option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 1));
        Endpoint client = connection.client();
        client.call(() -> {
            long startNanos = System.nanoTime();
            client.channel().close();
            while (System.nanoTime() - startNanos < TimeUnit.MILLISECONDS.toNanos(5)) {
                Thread.onSpinWait(); // the time for the close is over before the loop polls again
            }
            return null;
        });
        awaitTrue(() -> client.count(Counter.FLUSHED_WORK_REQUESTS) + client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE) == receives,
                "all posted receives come back");
        assertEquals(0, client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
    }

    @Test
    void shouldPassOnWhatArrivedBeforeThePeerClosed() throws Exception {
        Connection connection = connectWithOwnReceives(false);
        Endpoint server = connection.server();
        for (int i = 0; i < 100; i++) {
            connection.client().send("message " + i);
        }
        awaitTrue(() -> server.count(Counter.RECEIVES) == 100, "arrived");
        Endpoint.await(connection.client().channel().close());
        awaitTrue(() -> server.count(Counter.FLUSHED_WORK_REQUESTS) == 28, "the end was seen");
        assertFalse(server.isInactive());
        server.channel().config().setAutoRead(true);
        for (int i = 0; i < 100; i++) {
            assertEquals("message " + i, server.awaitText());
        }
        server.awaitInactive();
    }

    @Test
    void shouldFailWritesOnceThePeerIsGone() throws Exception {
        Connection connection = connectWithOwnReceives(false);
        Endpoint server = connection.server();
        connection.client().send("never read");
        awaitTrue(() -> server.count(Counter.RECEIVES) == 1, "arrived");
        connection.client().channel().close();
        awaitTrue(() -> server.count(Counter.FLUSHED_WORK_REQUESTS) == 127, "the end was seen");
        // Devices return the receives before they tell the end: it fails what was written until then, and keeps what has arrived.
        Endpoint.awaitFailure(server.send("into the void"));
        Endpoint.awaitFailure(server.send("behind the end"));
        server.awaitInactive();
    }

    /** A connection whose client has more to send than the server, which does not read, lets through. */
    private Connection stuck(List<ByteBuf> messages, List<ChannelFuture> writes) throws Exception {
        assumeTrue(provider().capabilities().receiverWaits(), "the connection would end for want of a receive");
        ServerBootstrap server = serverBootstrap().childOption(ChannelOption.AUTO_READ, false)
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1)
                .childOption(RdmaChannelOption.RECEIVE_BUFFER_SIZE, RECEIVE_BYTES);
        Connection connection = connect(server, bootstrap().option(ChannelOption.WRITE_BUFFER_WATER_MARK,
                new WriteBufferWaterMark(1 << 30, 1 << 30)).option(RdmaChannelOption.SEND_QUEUE_DEPTH, 8));
        for (int i = 0; i < 40; i++) {
            ByteBuf message = connection.client().channel().alloc().buffer(SENT_BYTES).writeZero(SENT_BYTES);
            messages.add(message);
            writes.add(connection.client().channel().writeAndFlush(message));
        }
        awaitTrue(() -> connection.client().count(Counter.FULL_SEND_QUEUES) > 0, "the send queue fills");
        return connection;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCloseWithSendsOutstanding(boolean clientCloses) throws Exception {
        List<ByteBuf> messages = new ArrayList<>();
        List<ChannelFuture> writes = new ArrayList<>();
        Connection connection = stuck(messages, writes);
        (clientCloses ? connection.client() : connection.server()).channel().close();
        if (clientCloses) {
            connection.server().channel().config().setAutoRead(true); // who does not read does not see the end either
        }
        connection.client().awaitInactive();
        connection.server().awaitInactive();
        Endpoint.awaitFailure(writes.get(writes.size() - 1));
        for (ChannelFuture write : writes) {
            assertTrue(write.await(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        }
        awaitTrue(() -> messages.stream().allMatch(message -> message.refCnt() == 0), "released");
        assertEquals(0, connection.client().count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
    }

    @Test
    void shouldFailWritesWhenThePeerIsGoneThoughNobodyReads() throws Exception {
        List<ByteBuf> messages = new ArrayList<>();
        List<ChannelFuture> writes = new ArrayList<>();
        Connection connection = stuck(messages, writes);
        Endpoint client = connection.client();
        client.call(() -> client.channel().config().setAutoRead(false));
        connection.server().send("read later");
        awaitTrue(() -> client.count(Counter.RECEIVES) == 1, "arrived");
        connection.server().channel().close();
        Endpoint.awaitFailure(writes.get(writes.size() - 1));
        writes.forEach(write -> assertTrue(write.isDone()));
        assertFalse(client.isInactive());
        client.channel().config().setAutoRead(true);
        assertEquals("read later", client.awaitText());
        client.awaitInactive();
        awaitTrue(() -> messages.stream().allMatch(message -> message.refCnt() == 0), "released");
        assertEquals(0, client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
    }

    /** Answers, and reads only as long as there is room for answers. */
    private static ChannelInboundHandlerAdapter answering(Queue<ChannelFuture> answers) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ((ByteBuf) message).release();
                answers.add(ctx.writeAndFlush(ctx.alloc().buffer(SENT_BYTES).writeZero(SENT_BYTES)));
            }

            @Override
            public void channelWritabilityChanged(ChannelHandlerContext ctx) {
                ctx.channel().config().setAutoRead(ctx.channel().isWritable());
            }
        };
    }

    @Test
    void shouldEndThoughOnlyWhoCanWriteReads() throws Exception {
        assumeTrue(provider().capabilities().receiverWaits(), "the connection would end for want of a receive");
        Queue<ChannelFuture> answers = new ConcurrentLinkedQueue<>();
        Connection connection = connect(serverBootstrap().childHandler(recording(answering(answers)))
                .childOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 8)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(SENT_BYTES, 2 * SENT_BYTES)),
                bootstrap().option(ChannelOption.AUTO_READ, false)
                        .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 1)
                        .option(RdmaChannelOption.RECEIVE_BUFFER_SIZE, RECEIVE_BYTES));
        Endpoint server = connection.server();
        for (int i = 0; i < 60; i++) {
            connection.client().send("request");
        }
        awaitTrue(() -> !server.channel().isWritable() && server.call(() -> server.channel().heldMessages()) > 0,
                "a request is held");
        connection.client().channel().close();
        server.awaitInactive();
        answers.forEach(answer -> assertTrue(answer.isDone()));
    }

    @Test
    void shouldShutDownWithWorkOutstanding() throws Exception {
        List<ByteBuf> messages = new ArrayList<>();
        List<ChannelFuture> writes = new ArrayList<>();
        Connection connection = stuck(messages, writes);
        ExposedMemory[] exposed = new ExposedMemory[1];
        ByteBuf memory = connection.client().channel().alloc().buffer(100);
        exposed[0] = connection.client().call(() -> connection.client().channel().expose(memory, 0, 100, RemoteAccess.READ));
        stop(group);
        connection.client().awaitInactive();
        connection.server().awaitInactive();
        messages.forEach(message -> assertEquals(0, message.refCnt()));
        assertTrue(exposed[0].isInvalidated());
        assertEquals(1, memory.refCnt());
        memory.release();
    }

    @Test
    void shouldCloseTheServerButNotItsConnections() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        Endpoint client = connect(bootstrap(), server);
        Endpoint child = awaitAccepted();
        Endpoint.await(server.close());
        assertFalse(server.isActive());
        client.send("still open");
        assertEquals("still open", child.awaitText());
        Endpoint.awaitFailure(bootstrap().handler(newEndpoint()).connect(child.channel().localAddress()));
    }

    @Test
    void shouldCloseInEveryStateBeforeItIsActive() throws Exception {
        RdmaServerChannel silent = listen(serverBootstrap().option(ChannelOption.AUTO_READ, false));
        Channel unregistered = new RdmaChannel();
        unregistered.unsafe().closeForcibly();
        assertFalse(unregistered.isOpen());
        Channel registered = bootstrap().handler(newEndpoint()).register().sync().channel();
        Endpoint.await(registered.close());
        Endpoint.awaitFailure(registered.connect(addressOf(silent)));
        Channel unboundServer = serverBootstrap().register().sync().channel();
        Endpoint.await(unboundServer.close());
        Endpoint.awaitFailure(unboundServer.bind(addressOf(silent)));
        Channel connecting = bootstrap().handler(newEndpoint()).register().sync().channel();
        connecting.connect(addressOf(silent));
        Endpoint.await(connecting.close());
    }

    @Test
    void shouldCloseFromInsideEveryEvent() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        for (Trigger trigger : Trigger.values()) {
            Endpoint client = newEndpoint();
            CountDownLatch closed = new CountDownLatch(1);
            Channel channel = bootstrap().handler(new ChannelInboundHandlerAdapter() {
                @Override
                public void handlerAdded(ChannelHandlerContext ctx) {
                    ctx.pipeline().addLast(trigger.newHandler(), client);
                }
            }).connect(addressOf(server)).channel();
            channel.closeFuture().addListener(future -> closed.countDown());
            awaitAccepted().send("go");
            assertTrue(closed.await(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS), trigger.name());
            client.awaitInactive();
        }
    }

    /** When to close. */
    enum Trigger {
        ACTIVE, READ, READ_COMPLETE, WRITE_COMPLETE;

        ChannelInboundHandlerAdapter newHandler() {
            return new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext ctx) {
                    ctx.fireChannelActive();
                    closeIf(ctx, ACTIVE);
                    if (Trigger.this == WRITE_COMPLETE) {
                        ctx.writeAndFlush(ctx.alloc().buffer().writeInt(1)).addListener(future -> ctx.close());
                    }
                }

                @Override
                public void channelRead(ChannelHandlerContext ctx, Object message) {
                    closeIf(ctx, READ);
                    ctx.fireChannelRead(message);
                }

                @Override
                public void channelReadComplete(ChannelHandlerContext ctx) {
                    closeIf(ctx, READ_COMPLETE);
                    ctx.fireChannelReadComplete();
                }
            };
        }

        private void closeIf(ChannelHandlerContext ctx, Trigger now) {
            if (this == now) {
                ctx.close();
            }
        }
    }

    @Test
    void shouldCloseWhenDeregistered() throws Exception {
        Connection connection = connect();
        connection.client().channel().deregister();
        Endpoint.await(connection.client().channel().closeFuture());
        connection.server().awaitInactive();
    }

    @Test
    void shouldTellTheEndBeforeTheDeregistration() throws Exception {
        List<String> ofServer = new CopyOnWriteArrayList<>();
        RdmaServerChannel server = listen(serverBootstrap().handler(noting(ofServer)));
        List<String> ofClient = new CopyOnWriteArrayList<>();
        Channel client = bootstrap().handler(noting(ofClient)).connect(addressOf(server)).sync().channel();
        for (Channel channel : List.of(client, server)) {
            Endpoint.await(channel.deregister());
            assertFalse(channel.isOpen() || channel.isActive() || channel.isRegistered());
            channel.eventLoop().submit(() -> { }).sync(); // what was put off has been done
        }
        assertEquals(List.of("active", "inactive", "unregistered"), ofClient);
        assertEquals(List.of("active", "inactive", "unregistered"), ofServer);
    }

    private static ChannelInboundHandlerAdapter noting(List<String> events) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                events.add("active");
                ctx.fireChannelActive();
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                events.add("inactive");
                ctx.fireChannelInactive();
            }

            @Override
            public void channelUnregistered(ChannelHandlerContext ctx) {
                events.add("unregistered");
                ctx.fireChannelUnregistered();
            }
        };
    }

    @Test
    void shouldSurviveHandlersThatThrow() throws Exception {
        Connection connection = connect(serverBootstrap().childHandler(recording(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ((ByteBuf) message).release();
                throw new IllegalStateException("handler is broken");
            }
        })), bootstrap());
        connection.client().send("one");
        assertEquals("handler is broken", connection.server().awaitCause().getMessage());
        connection.client().send("two");
        assertEquals("handler is broken", connection.server().awaitCause().getMessage());
        connection.server().send("answer");
        assertEquals("answer", connection.client().awaitText());
    }

    @Test
    void shouldShutDownWhileConnectionsComeAndGo() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        EventLoopGroup clients = newGroup(1, IdleStrategy.ADAPTIVE);
        List<ChannelFuture> connects = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            connects.add(bootstrap(clients).handler(newEndpoint()).connect(addressOf(server)));
        }
        stop(clients);
        for (ChannelFuture connect : connects) {
            assertTrue(connect.await(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS));
            assertFalse(connect.channel().isOpen());
        }
    }

    @Test
    void shouldLeaveNothingOfAChannelThatIsRegisteredWhileTheLoopEnds() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        EventLoopGroup clients = newGroup(1, IdleStrategy.ADAPTIVE);
        CountDownLatch shuttingDown = new CountDownLatch(1);
        clients.execute(() -> {
            try {
                shuttingDown.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        for (int i = 0; i < 1000; i++) { // more than the loop runs before it looks whether it is to end
            clients.execute(() -> {
                for (long end = System.nanoTime() + 10_000; System.nanoTime() < end; ) {
                    Thread.onSpinWait();
                }
            });
        }
        ChannelFuture connect = bootstrap(clients).handler(newEndpoint()).connect(addressOf(server));
        clients.shutdownGracefully(0, Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        shuttingDown.countDown();
        stop(clients);
        Endpoint.awaitFailure(connect);
        assertFalse(connect.channel().isOpen());
        Endpoint.await(((RdmaChannel) connect.channel()).releaseFuture());
    }
}
