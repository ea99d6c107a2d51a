package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** The channel above a device that is slower than software iWARP, or broken. */
class DeviceFaultTest extends TransportFixture {

    /** Keeps what is lost on purpose from the eyes of the leak detector. */
    private static final List<Object> GIVEN_UP = new ArrayList<>();

    private final FaultyProvider faulty = new FaultyProvider();

    @Override
    protected VerbsProvider provider() {
        return faulty;
    }

    @Test
    void shouldWaitForInvalidationsThatTakeTime() throws Exception {
        Endpoint client = connect().client();
        faulty.slowInvalidation = true;
        ByteBuf memory = client.channel().alloc().buffer(100);
        ExposedMemory exposed = client.call(() -> client.channel().expose(memory, 0, 100, RemoteAccess.READ));
        ChannelFuture first = client.call(() -> {
            ChannelFuture future = exposed.invalidate();
            assertFalse(future.isDone());
            assertFalse(exposed.isInvalidated());
            assertEquals(2, memory.refCnt());
            assertSame(future, exposed.invalidate());
            return future;
        });
        Endpoint.await(first);
        assertTrue(client.call(exposed::isInvalidated));
        assertEquals(1, memory.refCnt());
        memory.release();
    }

    @Test
    void shouldLetNoPeerWriteIntoWhatIsReadOnly() throws Exception {
        Endpoint client = connect().client();
        ByteBuf memory = client.channel().alloc().buffer(100);
        client.call(() -> {
            ByteBuf readOnly = memory.slice(10, 50).asReadOnly();
            assertThrows(IllegalArgumentException.class, () -> client.channel().expose(readOnly, 0, 50, RemoteAccess.WRITE));
            return client.channel().expose(readOnly, 0, 50, RemoteAccess.READ).invalidate();
        }).sync();
        assertEquals(1, client.count(Counter.EXPOSURES));
        assertEquals(1, memory.refCnt());
        memory.release();
    }

    /** The peer could reach the memory as long as the connection stands otherwise, and nobody would ever know that it cannot. */
    @Test
    void shouldEndAConnectionThatHasNoMemoryToWithdrawWhatIsExposed() throws Exception {
        Endpoint client = connect().client();
        faulty.nextInvalidationError = new OutOfMemoryError("expected");
        ByteBuf memory = client.channel().alloc().buffer(100);
        Endpoint.await(client.call(() -> client.channel().expose(memory, 0, 100, RemoteAccess.WRITE).invalidate()));
        assertFalse(client.channel().isOpen());
        assertEquals(1, memory.refCnt());
        memory.release();
    }

    /** The buffer would be free for others while the peer can reach it. */
    @Test
    void shouldKeepMemoryUntilTheEndOfTheConnectionThatCannotTellWhereItIsExposed() throws Exception {
        Endpoint client = connect().client();
        Endpoint other = connect().client();
        ByteBuf memory = client.channel().alloc().buffer(100);
        faulty.nextOffsetError = new OutOfMemoryError("expected");
        client.call(() -> {
            assertThrows(OutOfMemoryError.class, () -> client.channel().expose(memory, 0, 100, RemoteAccess.WRITE));
            assertFalse(client.channel().isOpen());
            assertEquals(2, memory.refCnt());
            return null;
        });
        Endpoint.await(client.channel().releaseFuture());
        assertEquals(1, memory.refCnt());
        memory.release();
        assertTrue(other.channel().isActive());
    }

    /** The device would have its buffers for ever otherwise. */
    @Test
    void shouldTryTheEndOfAConnectionAgainForWhichThereWasNoMemory() throws Exception {
        Endpoint client = connect(serverBootstrap(), bootstrap().option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 200)).client();
        faulty.nextEndError = new OutOfMemoryError("expected");
        client.channel().close();
        Endpoint.await(client.channel().releaseFuture());
        assertEquals(0, client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
    }

    /** Handlers flush then, for instance, and finish with what they have read. */
    @Test
    void shouldTellTheEndOfReadingBeforeTheFailureThatItLeadsTo() throws Exception {
        BlockingQueue<String> events = new LinkedBlockingQueue<>();
        Connection connection = connect(serverBootstrap().childHandler(recording(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelReadComplete(ChannelHandlerContext ctx) {
                events.add("read complete");
                ctx.fireChannelReadComplete();
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                events.add("caught");
                ctx.fireExceptionCaught(cause);
            }
        })), bootstrap());
        Endpoint server = connection.server();
        ByteBuf message = connection.client().text("the next receive finds no memory");
        faulty.refuseRegistrations = true;
        server.call(() -> server.channel().config().setReceiveBufferSize(RegisteredByteBufAllocator.MAX_POOLED_BYTES));
        connection.client().channel().writeAndFlush(message);
        assertEquals("the next receive finds no memory", server.awaitText());
        server.awaitInactive();
        assertEquals(List.of("read complete", "caught"), List.copyOf(events));
    }

    /** Whichever side wants none. */
    @ParameterizedTest
    @CsvSource({"0, 16", "16, 0"})
    void shouldFailAnRdmaReadAloneWhereThereCanBeNone(int outboundReadDepth, int inboundReadDepth) throws Exception {
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.INBOUND_READ_DEPTH, inboundReadDepth),
                bootstrap().option(RdmaChannelOption.OUTBOUND_READ_DEPTH, outboundReadDepth));
        Endpoint client = connection.client();
        ByteBuf sink = client.channel().alloc().buffer(100);
        ChannelFuture read = client.channel().write(new RdmaRead(new RemoteSegment(1, 100, 0), sink));
        client.send("not a read");
        assertEquals("not a read", connection.server().awaitText());
        assertInstanceOf(RdmaException.class, read.cause());
        assertEquals(0, sink.refCnt());
        assertTrue(client.channel().isActive());
    }

    /** When nobody could know yet that there can be none. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailAnRdmaReadAloneThatWasWrittenBeforeTheConnectionStood(boolean accepted) throws Exception {
        List<ChannelFuture> written = new CopyOnWriteArrayList<>();
        ByteBuf sink = RegisteredByteBufAllocator.of(faulty).buffer(100);
        ChannelHandler early = new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRegistered(ChannelHandlerContext ctx) {
                for (int i = 0; i < 3; i++) {
                    written.add(ctx.write(new RdmaRead(new RemoteSegment(1, 100, 0), sink.retainedSlice(0, 100).clear())));
                    written.add(ctx.write(ctx.alloc().buffer().writeByte('0' + i)));
                }
                ctx.fireChannelRegistered();
            }

            @Override
            public void channelActive(ChannelHandlerContext ctx) {
                ctx.flush();
                ctx.fireChannelActive();
            }
        };
        Endpoint client = newEndpoint();
        Channel server = listen(serverBootstrap().childHandler(accepted ? recording(early) : recording())
                .childOption(RdmaChannelOption.OUTBOUND_READ_DEPTH, 0));
        Endpoint.await(bootstrap().option(RdmaChannelOption.OUTBOUND_READ_DEPTH, 0).handler(new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                if (!accepted) {
                    channel.pipeline().addLast(early);
                }
                channel.pipeline().addLast(client);
            }
        }).connect(addressOf(server)));
        client.awaitActive();
        Endpoint receiver = accepted ? client : awaitAccepted();
        for (int i = 0; i < 3; i++) {
            assertEquals(String.valueOf(i), receiver.awaitText());
            assertInstanceOf(RdmaException.class, Endpoint.awaitFailure(written.get(2 * i)));
            Endpoint.await(written.get(2 * i + 1));
        }
        assertTrue(receiver.channel().isActive());
        assertEquals(1, sink.refCnt());
        sink.release();
    }

    @Test
    void shouldLetInvalidationsWaitForRoomInTheSendQueue() throws Exception {
        Connection connection = connect(serverBootstrap(), bootstrap().option(RdmaChannelOption.SEND_QUEUE_DEPTH, 2));
        Endpoint client = connection.client();
        faulty.slowInvalidation = true;
        List<ByteBuf> buffers = new ArrayList<>();
        List<ChannelFuture> futures = new ArrayList<>();
        client.call(() -> {
            for (int i = 0; i < 20; i++) {
                ByteBuf memory = client.channel().alloc().buffer(100);
                buffers.add(memory);
                ExposedMemory exposed = client.channel().expose(memory, 0, 100, RemoteAccess.WRITE);
                futures.add(client.channel().write(client.text("message " + i)));
                futures.add(exposed.invalidate());
            }
            client.channel().flush();
            return null;
        });
        for (ChannelFuture future : futures) {
            Endpoint.await(future);
        }
        for (int i = 0; i < 20; i++) {
            assertEquals("message " + i, connection.server().awaitText());
            assertEquals(1, buffers.get(i).refCnt());
            buffers.get(i).release();
        }
        assertEquals(20, client.count(Counter.LOCAL_INVALIDATIONS));
    }

    @Test
    void shouldFinishInvalidationsInProgressWhenTheConnectionEnds() throws Exception {
        Endpoint client = connect().client();
        faulty.slowInvalidation = true;
        ByteBuf memory = client.channel().alloc().buffer(100);
        ChannelFuture future = client.call(() -> {
            ExposedMemory exposed = client.channel().expose(memory, 0, 100, RemoteAccess.READ);
            ChannelFuture invalidation = exposed.invalidate();
            client.channel().close();
            return invalidation;
        });
        Endpoint.await(future);
        assertEquals(1, memory.refCnt());
        memory.release();
    }

    @Test
    void shouldNotLetAnInvalidationBeCancelled() throws Exception {
        Endpoint client = connect().client();
        faulty.slowInvalidation = true;
        List<ByteBuf> buffers = new ArrayList<>();
        List<ExposedMemory> exposures = new ArrayList<>();
        client.call(() -> {
            for (int i = 0; i < 10; i++) {
                ByteBuf memory = client.channel().alloc().buffer(100);
                buffers.add(memory);
                exposures.add(client.channel().expose(memory, 0, 100, RemoteAccess.WRITE));
            }
            for (ExposedMemory exposed : exposures) {
                ChannelFuture future = exposed.invalidate();
                assertFalse(future.cancel(true));
                assertFalse(future.isDone());
                ((ChannelPromise) future).setFailure(new IOException("by somebody else"));
            }
            return client.channel().close();
        });
        client.awaitInactive();
        stop(group);
        exposures.forEach(exposed -> assertTrue(exposed.isInvalidated()));
        buffers.forEach(memory -> assertTrue(memory.release()));
    }

    @Test
    void shouldEndAllExposuresWhenOneCannotBeReleased() throws Exception {
        Endpoint client = connect().client();
        List<ByteBuf> buffers = new ArrayList<>();
        client.call(() -> {
            for (int i = 0; i < 10; i++) {
                ByteBuf memory = client.channel().alloc().buffer(100);
                buffers.add(memory);
                client.channel().expose(memory, 0, 100, RemoteAccess.READ);
            }
            assertTrue(buffers.remove(5).release(2)); // once more than allowed
            return client.channel().close();
        });
        client.awaitInactive();
        stop(group);
        buffers.forEach(memory -> assertTrue(memory.release()));
    }

    @Test
    void shouldNeverGiveBackMemoryThatThePeerMayStillReach() throws Exception {
        Endpoint client = connect().client();
        faulty.keepExposed = true;
        ByteBuf memory = client.channel().alloc().buffer(100);
        ByteBuf other = client.channel().alloc().buffer(100);
        ExposedMemory exposed = client.call(() -> client.channel().expose(memory, 0, 100, RemoteAccess.WRITE));
        ExposedMemory otherExposed = client.call(() -> client.channel().expose(other, 0, 100, RemoteAccess.READ));
        ChannelFuture invalidation = client.call(() -> {
            client.channel().close();
            return exposed.invalidate();
        });
        assertTrue(Endpoint.awaitFailure(invalidation).getMessage().contains("has not taken away the peer's access"));
        Endpoint.await(client.channel().releaseFuture());
        assertEquals(2, client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
        assertFalse(client.call(exposed::isInvalidated));
        assertFalse(client.call(otherExposed::isInvalidated));
        assertSame(invalidation.cause(), Endpoint.awaitFailure(client.call(exposed::invalidate)));
        assertFalse(memory.release(), "kept for ever");
        assertFalse(other.release(), "kept for ever");
    }

    @Test
    void shouldNeverGiveBackBuffersThatTheDeviceOfALostContextMayStillUse() throws Exception {
        EventLoopGroup single = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(single), bootstrap(single)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 3));
        Endpoint client = connection.client();
        GIVEN_UP.add(connection);
        faulty.withholdCompletions = true;
        ByteBuf message = client.text("lost");
        client.channel().writeAndFlush(message);
        client.call(() -> null);
        faulty.keepPosted = true;
        faulty.nextPollFailure = new IOException("device removed");
        client.channel().eventLoop().execute(() -> { });
        Endpoint.await(client.channel().releaseFuture());
        assertEquals(4, client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE));
        assertEquals(1, message.refCnt(), "never used again");
    }

    @Test
    void shouldForgetAChannelWhoseQueuePairCannotBeEnded() throws Exception {
        Bootstrap bootstrap = bootstrap().option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 50);
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 50), bootstrap);
        Endpoint client = connection.client();
        GIVEN_UP.add(connection);
        ByteBuf memory = client.channel().alloc().buffer(100);
        ExposedMemory exposed = client.call(() -> client.channel().expose(memory, 0, 100, RemoteAccess.READ));
        faulty.refuseEnds = true;
        Endpoint.await(client.channel().close());
        client.awaitInactive();
        stop(group);
        assertTrue(exposed.isInvalidated());
        memory.release();
    }

    /** Receives that it shares cannot be closed then either. What is posted must not become the memory of something else. */
    @Test
    void shouldReleaseAChannelWhoseQueuePairCannotBeClosed() throws Exception {
        faulty.sharesReceives = true;
        Connection connection = connect();
        RdmaChannel channel = connection.client().channel();
        RegisteredByteBufAllocator allocator = RegisteredByteBufAllocator.of(faulty);
        GIVEN_UP.add(connection);
        faulty.refuseCloses = true;
        Endpoint.await(channel.close());
        Endpoint.await(channel.releaseFuture());
        Endpoint.await(connection.server().channel().releaseFuture());
        boolean mayGiveBack = true;
        while (mayGiveBack) {
            mayGiveBack = allocator.trim();
        }
        assertTrue(allocator.registeredBytes() > 0);
    }

    @Test
    void shouldReplaceAContextWhoseChannelsCannotBeEnded() throws Exception {
        EventLoopGroup single = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(single), bootstrap(single));
        GIVEN_UP.add(connection);
        faulty.refuseEnds = true;
        faulty.nextPollFailure = new IOException("device removed");
        connection.client().channel().eventLoop().execute(() -> { });
        connection.client().awaitInactive();
        connection.server().awaitInactive();
        faulty.refuseEnds = false;
        Connection again = connect(serverBootstrap(single), bootstrap(single));
        again.client().send("new context");
        assertEquals("new context", again.server().awaitText());
    }

    @Test
    void shouldGiveEveryChannelItsTurnThoughOneCannotEvenFail() throws Exception {
        EventLoopGroup single = startGroup(1, IdleStrategy.ADAPTIVE);
        Channel server = listen(serverBootstrap(single));
        Endpoint broken = connect(bootstrap(single).option(ChannelOption.AUTO_READ, false)
                .option(ChannelOption.RCVBUF_ALLOCATOR, () -> {
                    throw new IllegalStateException() {
                        @Override
                        public String toString() {
                            throw new IllegalStateException("no text");
                        }
                    };
                }), server);
        Endpoint brokenServer = awaitAccepted();
        Endpoint client = connect(bootstrap(single).option(ChannelOption.AUTO_READ, false), server);
        Endpoint clientServer = awaitAccepted();
        brokenServer.send("to the broken one");
        clientServer.send("to the other");
        awaitTrue(() -> broken.count(Counter.RECEIVES) + client.count(Counter.RECEIVES) == 2, "both have arrived");
        client.call(() -> {
            broken.channel().read();
            client.channel().read();
            return null;
        });
        assertEquals("to the other", client.awaitText());
    }

    @Test
    void shouldFailWithTheStatusOfTheWorkRequest() throws Exception {
        Endpoint client = connect().client();
        faulty.nextSendStatus = WorkCompletionStatus.REMOTE_ACCESS_ERROR;
        ByteBuf message = client.text("refused");
        Throwable cause = Endpoint.awaitFailure(client.channel().writeAndFlush(message));
        assertEquals(WorkCompletionStatus.REMOTE_ACCESS_ERROR, assertInstanceOf(RdmaException.class, cause).status());
        assertTrue(cause.getMessage().contains("REMOTE_ACCESS_ERROR (vendor error 77)"), cause.getMessage());
        assertSame(cause, client.awaitCause());
        client.awaitInactive();
        assertEquals(0, message.refCnt());
        assertFalse(client.hasCause());
    }

    @Test
    void shouldWaitForTheCauseWhenWorkIsFlushedFirst() throws Exception {
        Connection connection = connect();
        Endpoint client = connection.client();
        faulty.nextSendStatus = WorkCompletionStatus.WORK_REQUEST_FLUSHED;
        ChannelFuture flushed = client.send("flushed");
        awaitTrue(() -> client.count(Counter.FLUSHED_WORK_REQUESTS) == 1, "flushed");
        ChannelFuture later = client.send("later");
        assertTrue(client.call(() -> client.channel().isOpen() && !flushed.isDone() && !later.isDone()));
        connection.server().channel().close();
        Endpoint.awaitFailure(flushed);
        Endpoint.awaitFailure(later);
        client.awaitInactive();
    }

    @Test
    void shouldCloseTheChannelWhoseWorkTheDeviceRefuses() throws Exception {
        RdmaServerChannel server = listen(serverBootstrap());
        Endpoint client = connect(bootstrap(), server);
        Endpoint other = connect(bootstrap(), server);
        faulty.refuseNextPost = true;
        ByteBuf message = client.text("refused");
        Throwable cause = Endpoint.awaitFailure(client.channel().writeAndFlush(message));
        assertEquals("the device refuses", cause.getMessage());
        client.awaitInactive();
        assertEquals(0, message.refCnt());
        Endpoint.await(other.send("accepted"));
    }

    @Test
    void shouldGiveUpBuffersThatTheDeviceDoesNotReturn() throws Exception {
        Bootstrap bootstrap = bootstrap().option(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 50)
                .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, 3);
        Connection connection = connect(serverBootstrap().childOption(RdmaChannelOption.CLOSE_TIMEOUT_MILLIS, 50), bootstrap);
        GIVEN_UP.add(connection);
        Endpoint client = connection.client();
        List<ByteBuf> posted = new ArrayList<>();
        faulty.withholdCompletions = true;
        for (int i = 0; i < 2; i++) {
            ByteBuf message = client.text("lost");
            posted.add(message);
            client.channel().writeAndFlush(message);
        }
        Endpoint.await(client.channel().close());
        client.awaitInactive();
        awaitTrue(() -> client.count(Counter.BUFFERS_LEAKED_ON_PURPOSE) == 5, "given up");
        posted.forEach(message -> assertEquals(1, message.refCnt(), "never used again"));
        stop(group);
        posted.forEach(ByteBuf::release);
    }

    @Test
    void shouldCloseItsChannelsAndGoOnWhenAContextBreaks() throws Exception {
        EventLoopGroup single = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(single), bootstrap(single));
        Endpoint client = connection.client();
        ByteBuf memory = client.channel().alloc().buffer(100);
        ExposedMemory exposed = client.call(() -> client.channel().expose(memory, 0, 100, RemoteAccess.READ));
        int before = faulty.contexts.get();
        faulty.nextPollFailure = new IOException("device removed");
        client.channel().eventLoop().execute(() -> { });
        client.awaitInactive();
        connection.server().awaitInactive();
        assertEquals("device removed", client.awaitCause().getMessage());
        Endpoint.await(connection.server().channel().parent().closeFuture());
        assertEquals(before + 1, faulty.contexts.get());
        assertTrue(client.call(exposed::isInvalidated));
        memory.release();

        Connection again = connect(serverBootstrap(single), bootstrap(single));
        again.client().send("new context");
        assertEquals("new context", again.server().awaitText());
    }

    @Test
    void shouldGoOnWithoutAContextUntilOneCanBeOpened() throws Exception {
        EventLoopGroup single = startGroup(1, IdleStrategy.ADAPTIVE);
        Connection connection = connect(serverBootstrap(single), bootstrap(single));
        EventLoop loop = connection.client().channel().eventLoop();
        Channel server = connection.server().channel().parent();
        CompletableFuture<Throwable> told = new CompletableFuture<>();
        connection.client().call(() -> server.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                told.complete(cause);
            }
        }));
        faulty.refuseContexts = true;
        faulty.nextPollFailure = new IOException("device removed");
        Endpoint.await(loop.submit(() -> { }));
        connection.client().awaitInactive();
        connection.server().awaitInactive();
        Endpoint.await(server.closeFuture());
        assertEquals("device removed", told.get(Endpoint.TIMEOUT_SECONDS, TimeUnit.SECONDS).getMessage());

        assertEquals("no context", Endpoint.awaitFailure(serverBootstrap(single).bind(LOOPBACK, 0)).getMessage());
        assertEquals("no context", Endpoint.awaitFailure(bootstrap(single).handler(newEndpoint()).connect(LOOPBACK, 1))
                .getMessage());
        assertEquals(3, Endpoint.await(loop.schedule(() -> 3, 10, TimeUnit.MILLISECONDS)).getNow());
        assertEquals(4, Endpoint.await(loop.submit(() -> 4)).getNow());

        faulty.refuseContexts = false;
        Connection again = connect(serverBootstrap(single), bootstrap(single));
        again.client().send("new context");
        assertEquals("new context", again.server().awaitText());
    }

    @Test
    void shouldStopWithoutAContext() throws Exception {
        EventLoopGroup single = newGroup(1, IdleStrategy.BLOCKING);
        faulty.refuseContexts = true;
        faulty.nextPollFailure = new IOException("device removed");
        Endpoint.await(single.submit(() -> { }));
        stop(single);
    }

    @Test
    void shouldSurviveAFaultOfTheProviderThatConcernsNobody() throws Exception {
        Connection connection = connect();
        faulty.nextPollFailure = new IllegalStateException("a bug");
        connection.client().send("still working");
        assertEquals("still working", connection.server().awaitText());
    }

    @Test
    void shouldFailToCreateAGroupOnADeviceThatCannotBeOpened() {
        faulty.refuseContexts = true;
        try {
            newGroup(2, IdleStrategy.ADAPTIVE);
        } catch (IllegalStateException e) {
            assertEquals("no context", e.getCause().getMessage());
            return;
        }
        throw new AssertionError("created");
    }
}
