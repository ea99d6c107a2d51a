package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.logging.ByteBufFormat;
import io.netty.handler.logging.LogLevel;
import io.netty.handler.logging.LoggingHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.handler.timeout.WriteTimeoutException;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.handler.traffic.ChannelTrafficShapingHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.oncrpc.AcceptStatus;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RecordMarkingCodec;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcReplyHeader;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/**
 * What Netty promises to handlers, with ours among others: each of Netty's own that changes when or where something is done,
 * below and above ours, at both ends; handlers, and promises, on other executors; writes that are cancelled, and void promises.
 */
@Timeout(120)
class NettyContractTest {

    /** From Java 19 on an executor can be closed, and JUnit does so with arguments unless it is told not to. */
    private static final EventExecutorGroup EXECUTORS = new DefaultEventExecutorGroup(2);
    private static final EventLoopGroup TCP = new NioEventLoopGroup(2);
    private static final int LENGTH = 20_000;
    private static final int XID = 0x70000001;

    /** Where a handler stands. */
    private enum Place { BELOW, ABOVE }

    private final BulkProgram program = new BulkProgram(true);
    private final DefaultEventExecutor other = new DefaultEventExecutor();
    private final Queue<Throwable> exceptions = new ConcurrentLinkedQueue<>();
    private final Queue<Object> events = new ConcurrentLinkedQueue<>();
    private RpcRdmaPair pair;

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
        other.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    @AfterAll
    static void shutDown() {
        TCP.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        EXECUTORS.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Handlers of which each channel needs its own. */
    @FunctionalInterface
    private interface Others {
        ChannelHandler make();
    }

    private static Stream<Arguments> others() {
        List<Arguments> cases = new ArrayList<>();
        for (Place place : Place.values()) {
            for (VersionPolicy version : List.of(VersionPolicy.V1_ONLY, VersionPolicy.V2_ONLY)) {
                add(cases, "none on another executor", place, version, true, ChannelDuplexHandler::new);
                add(cases, "idle state", place, version, false, () -> new IdleStateHandler(true, 3, 3, 3, TimeUnit.MILLISECONDS));
                add(cases, "write timeout", place, version, false, () -> new WriteTimeoutHandler(60));
                add(cases, "write timeout on another executor", place, version, true, () -> new WriteTimeoutHandler(60));
                add(cases, "read timeout", place, version, false, () -> new ReadTimeoutHandler(60));
                add(cases, "traffic shaping", place, version, false, () ->
                        new ChannelTrafficShapingHandler(4 << 20, 4 << 20, 100));
                add(cases, "flush consolidation", place, version, false, () -> new FlushConsolidationHandler(256, true));
                add(cases, "flow control", place, version, false, FlowControlHandler::new);
                add(cases, "logging", place, version, false, () -> new LoggingHandler("contract", LogLevel.TRACE,
                        ByteBufFormat.SIMPLE));
            }
        }
        return cases.stream();
    }

    private static void add(List<Arguments> cases, String name, Place place, VersionPolicy version, boolean onExecutors,
                            Others others) {
        cases.add(Arguments.of(name, place, version, onExecutors ? EXECUTORS : null, others));
    }

    private void connect(VersionPolicy version, Consumer<ChannelPipeline> atServer, Consumer<ChannelPipeline> atClient)
            throws Exception {
        RpcRdmaBuilder server = ShortSends.server().binding(BulkProgram.BINDING).versions(version).extensionHandlers(atServer)
                .handlers(pipeline -> pipeline.addLast(new RpcServerHandler(program), new End()));
        RpcRdmaBuilder client = ShortSends.client().binding(BulkProgram.BINDING).versions(version).extensionHandlers(atClient)
                .handlers(pipeline -> pipeline.addLast(new RpcClient(), new End()));
        pair = new RpcRdmaPair(server, client);
    }

    /** The end of both pipelines. */
    private final class End extends ChannelInboundHandlerAdapter {

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            events.add(event);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            exceptions.add(cause);
        }
    }

    @ParameterizedTest(name = "{0}, {1}, {2}", autoCloseArguments = false)
    @MethodSource("others")
    void shouldServeCallsWithOthersAmongOurHandlers(String name, Place place, VersionPolicy version, EventExecutorGroup executors,
                                                    Others others) throws Exception {
        Consumer<ChannelPipeline> adder = place == Place.BELOW ? pipeline -> pipeline.addFirst(executors, "other", others.make())
                : pipeline -> pipeline.addLast(executors, "other", others.make());
        connect(version, adder, adder);
        exercise();
        assertTrue(exceptions.isEmpty(), () -> "" + exceptions);
        assertTrue(pair.channel.isActive());
        if (name.startsWith("idle")) {
            awaitValue(() -> events.stream().filter(IdleStateEvent.class::isInstance).count() > 0 ? 0 : 1, 0);
        }
    }

    /** Our last handlers may stand on an executor of their own; all others are on the event loop. */
    @Test
    void shouldServeCallsWithClientAndServerOnOtherExecutors() throws Exception {
        pair = new RpcRdmaPair(ShortSends.server().binding(BulkProgram.BINDING).handlers(
                        pipeline -> pipeline.addLast(EXECUTORS, new RpcServerHandler(program), new End())),
                ShortSends.client().binding(BulkProgram.BINDING).handlers(
                        pipeline -> pipeline.addLast(EXECUTORS, new RpcClient(), new End())));
        // The executor of the client may be told of it after connect has succeeded; until then there is no client to call.
        pair.channel.pipeline().context(RpcClient.class).executor().submit(() -> { }).sync();
        exercise();
        assertTrue(exceptions.isEmpty(), () -> "" + exceptions);
    }

    /** Calls of every shape at once, two rounds, and one that is given up; then nothing of them is left on either side. */
    private void exercise() throws Exception {
        pair.negotiated();
        for (int round = 0; round < 2; round++) {
            List<Future<ByteBuf>> loads = new ArrayList<>();
            List<Future<ByteBuf>> stores = new ArrayList<>();
            List<Future<ByteBuf>> echoes = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                loads.add(pair.start(BulkProgram.LOAD, pair.words(LENGTH, 4)));
                stores.add(pair.start(BulkProgram.STORE, pair.storeArguments(pair.registered(Bytes.pattern(LENGTH, i)))));
                echoes.add(pair.start(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(100 + 900 * i, i))));
            }
            Future<ByteBuf> hanging = pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
            RpcCall call = program.hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
            assertTrue(hanging.cancel(false));
            call.arguments().release();
            call.reply(Unpooled.EMPTY_BUFFER);
            for (int i = 0; i < 8; i++) {
                ByteBuf loaded = RpcRdmaPair.result(loads.get(i));
                assertArrayEquals(Bytes.pattern(LENGTH, 2), ByteBufUtil.getBytes(loaded.skipBytes(12)));
                loaded.release();
                ByteBuf stored = RpcRdmaPair.result(stores.get(i));
                assertEquals(LENGTH, stored.readInt());
                assertEquals(BulkProgram.sum(Unpooled.wrappedBuffer(Bytes.pattern(LENGTH, i))), stored.readInt());
                stored.release();
                ByteBuf echo = RpcRdmaPair.result(echoes.get(i));
                assertEquals(RpcRdmaPair.opaque(Bytes.pattern(100 + 900 * i, i)), echo);
                echo.release();
            }
        }
        requireNothingLeft();
    }

    private void requireNothingLeft() {
        awaitValue(() -> pair.client.memory().usedBytes(), 0);
        awaitValue(() -> pair.server.memory().usedBytes(), 0);
        awaitValue(() -> pair.client.connections().credits(now -> now.requests().inProgress() + now.requests().waiting()), 0);
        awaitValue(() -> pair.server.connections().credits(now -> now.served().inProgress()), 0);
    }

    // --- Time-outs

    @Test
    void shouldFailCallsWithTheCauseWhereNothingIsReadInTime() throws Exception {
        connect(VersionPolicy.V1_ONLY, pipeline -> { }, pipeline -> { });
        Future<ByteBuf> call = pair.channel.eventLoop().submit(() -> { // or the time may be over before the call begins
            pair.channel.pipeline().addFirst(new ReadTimeoutHandler(100, TimeUnit.MILLISECONDS));
            return pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
        }).get();
        Throwable failure = RpcRdmaPair.failure(call);
        assertInstanceOf(RpcConnectionException.class, failure);
        assertInstanceOf(ReadTimeoutException.class, failure.getCause());
        endHanging();
        awaitValue(() -> pair.client.memory().usedBytes(), 0);
    }

    @ParameterizedTest
    @EnumSource(Place.class)
    void shouldFailCallsWhereNothingIsWrittenInTime(Place place) throws Exception {
        connect(VersionPolicy.V1_ONLY, pipeline -> { }, pipeline -> {
            WriteTimeoutHandler timeout = new WriteTimeoutHandler(100, TimeUnit.MILLISECONDS);
            if (place == Place.BELOW) {
                pipeline.addFirst(new Stuck(), timeout);
            } else {
                pipeline.addFirst(new Stuck()).addLast(timeout);
            }
        });
        Throwable failure = RpcRdmaPair.failure(pair.start(BulkProgram.LOAD, pair.words(LENGTH, 0)));
        assertInstanceOf(RpcConnectionException.class, failure);
        assertInstanceOf(WriteTimeoutException.class, failure.getCause());
        awaitValue(() -> pair.client.memory().usedBytes(), 0);
    }

    /** Keeps what is written until the end. */
    private static final class Stuck extends ChannelOutboundHandlerAdapter {

        private final List<Object> kept = new ArrayList<>();

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            kept.add(msg);
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext ctx) {
            kept.forEach(ReferenceCountUtil::release);
        }
    }

    // --- Reading on demand

    @Test
    void shouldDeliverOneReplyForEachReadWhereAutoReadIsOff() throws Exception {
        connect(VersionPolicy.V1_ONLY, pipeline -> { }, pipeline -> { });
        pair.negotiated();
        pair.channel.config().setAutoRead(false);
        pair.channel.eventLoop().submit(() -> { }).sync();
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(pair.start(BulkProgram.ECHO, pair.words(i)));
        }
        for (int done = 0; done < 3; done++) {
            int arrived = done;
            assertEquals(arrived, calls.stream().filter(Future::isDone).count());
            pair.channel.read();
            awaitValue(() -> calls.stream().filter(Future::isDone).count(), arrived + 1);
            pair.channel.eventLoop().submit(() -> { }).sync();
        }
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.result(call).release();
        }
        assertFalse(pair.channel.config().isAutoRead());
    }

    /** Ahead of the first reply the server tells its properties, which no handler of the application gets. */
    @Test
    void shouldDeliverTheFirstReplyOfVersionTwoToTheFirstRead() throws Exception {
        connect(VersionPolicy.V2_ONLY, pipeline -> { }, pipeline -> { });
        pair.channel.config().setAutoRead(false);
        pair.channel.eventLoop().submit(() -> { }).sync();
        Future<ByteBuf> call = pair.start(BulkProgram.ECHO, pair.words(1));
        pair.channel.read();
        RpcRdmaPair.result(call).release();
    }

    /** Calls whose arguments come inline, with the call, and such whose arguments have to be fetched meanwhile. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldServeOneCallForEachReadWhereAutoReadIsOffAtTheServer(boolean fetched) throws Exception {
        AtomicReference<Channel> accepted = new AtomicReference<>();
        connect(VersionPolicy.V1_ONLY, pipeline -> accepted.set(pipeline.channel()), pipeline -> { });
        pair.negotiated();
        Channel server = accepted.get();
        server.config().setAutoRead(false);
        server.eventLoop().submit(() -> { }).sync();
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(fetched ? pair.start(BulkProgram.STORE, pair.storeArguments(pair.registered(new byte[LENGTH])))
                    : pair.start(BulkProgram.ECHO, pair.words(i)));
        }
        awaitValue(() -> ((RdmaChannel) server).statistics().get(RdmaChannelStatistics.Counter.RECEIVES), 4);
        for (int done = 0; done < 3; done++) {
            int answered = done;
            assertEquals(answered, calls.stream().filter(Future::isDone).count());
            server.read();
            awaitValue(() -> calls.stream().filter(Future::isDone).count(), answered + 1);
            server.eventLoop().submit(() -> { }).sync();
        }
        assertEquals(fetched ? 3 : 0, pair.server.statistics().get(Counter.CALLS_WITH_READ_CHUNK));
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.result(call).release();
        }
        assertFalse(server.config().isAutoRead());
    }

    // --- Promises

    private static ByteBuf call(int xid, int procedure, int... arguments) {
        ByteBuf message = Unpooled.buffer();
        new RpcCallHeader(xid, BulkProgram.PROGRAM, 1, procedure, OpaqueAuth.NONE, OpaqueAuth.NONE).write(message);
        for (int argument : arguments) {
            message.writeInt(argument);
        }
        return message;
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldWriteCallsWithPromisesOfEveryKind(VersionPolicy version) throws Exception {
        connect(version, pipeline -> { }, pipeline -> { });
        pair.negotiated();
        pair.channel.writeAndFlush(call(XID, BulkProgram.LOAD, LENGTH, 0), pair.channel.voidPromise());
        ChannelPromise elsewhere = new DefaultChannelPromise(pair.channel, other);
        pair.channel.writeAndFlush(call(XID + 1, BulkProgram.LOAD, LENGTH, 0), elsewhere);
        assertTrue(elsewhere.await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS) && elsewhere.isSuccess());
        ChannelPromise cancelled = new DefaultChannelPromise(pair.channel, other);
        cancelled.cancel(false);
        ByteBuf dropped = call(XID + 2, BulkProgram.LOAD, LENGTH, 0);
        pair.channel.writeAndFlush(dropped, cancelled);
        awaitValue(dropped::refCnt, 0);
        requireNothingLeft();
        exercise();
        assertTrue(exceptions.isEmpty(), () -> "" + exceptions);
    }

    /** Whoever writes with a void promise hears of the failure by {@code exceptionCaught}. */
    @Test
    void shouldTellTheFailureOfACallThatWasWrittenWithAVoidPromise() throws Exception {
        IllegalStateException cause = new IllegalStateException("refused");
        connect(VersionPolicy.V1_ONLY, pipeline -> { }, pipeline -> pipeline.addFirst(new Refusing(cause)));
        pair.channel.writeAndFlush(call(XID, BulkProgram.LOAD, LENGTH, 0), pair.channel.voidPromise());
        awaitValue(() -> exceptions.contains(cause) ? 0 : 1, 0);
        requireNothingLeft();
    }

    /** Refuses everything, on whichever executor it is. */
    private static final class Refusing extends ChannelOutboundHandlerAdapter {

        private final Exception cause;

        Refusing(Exception cause) {
            this.cause = cause;
        }

        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            promise.tryFailure(cause);
        }
    }

    /** The write fails when our handlers have done with it. */
    @Test
    void shouldTakeBackCreditAndMemoryOfACallThatIsRefusedOnAnotherExecutor() throws Exception {
        IllegalStateException cause = new IllegalStateException("refused");
        connect(VersionPolicy.V1_ONLY, pipeline -> { }, pipeline -> pipeline.addFirst(EXECUTORS, "refusing",
                new Refusing(cause)));
        for (int i = 0; i < 3; i++) { // there is one credit
            Throwable failure = RpcRdmaPair.failure(pair.start(BulkProgram.LOAD, pair.words(LENGTH, 0)));
            assertEquals(cause, failure.getCause());
        }
        requireNothingLeft();
        assertTrue(pair.channel.isActive());
    }

    /** How the server's application writes a reply. */
    private enum ReplyPromise { VOID, ELSEWHERE, CANCELLED }

    @ParameterizedTest
    @EnumSource(ReplyPromise.class)
    void shouldWriteRepliesWithPromisesOfEveryKind(ReplyPromise kind) throws Exception {
        pair = new RpcRdmaPair(ShortSends.server().binding(BulkProgram.BINDING)
                .handlers(pipeline -> pipeline.addLast(new Loads(kind))),
                ShortSends.client().binding(BulkProgram.BINDING));
        Future<ByteBuf> call = pair.start(BulkProgram.LOAD, pair.words(LENGTH, 0));
        if (kind == ReplyPromise.CANCELLED) {
            awaitValue(() -> pair.server.memory().usedBytes() == 0 && loaded ? 0 : 1, 0);
            assertTrue(call.cancel(false), "it is not answered");
        } else {
            RpcRdmaPair.result(call).release();
            requireNothingLeft();
        }
    }

    private volatile boolean loaded;

    /** Answers LOAD by itself. */
    private final class Loads extends ChannelInboundHandlerAdapter {

        private final ReplyPromise kind;

        Loads(ReplyPromise kind) {
            this.kind = kind;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object msg) {
            ByteBuf call = (ByteBuf) msg;
            ByteBuf reply = ctx.alloc().buffer(100 + LENGTH);
            new RpcReplyHeader.Accepted(call.readInt(), AcceptStatus.SUCCESS).write(reply);
            call.release();
            reply.writeInt(0).writeInt(LENGTH).writeZero(LENGTH);
            ChannelPromise promise = kind == ReplyPromise.VOID ? ctx.voidPromise()
                    : new DefaultChannelPromise(ctx.channel(), other);
            ctx.write(reply, promise);
            if (kind == ReplyPromise.CANCELLED) {
                assertTrue(promise.cancel(false), "it is not flushed");
                // Newer versions of Netty 4.2 give handlers a promise of their own, which this one's executor cancels.
                other.submit(() -> { }).syncUninterruptibly();
            }
            ctx.flush();
            loaded = true;
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            exceptions.add(cause);
        }
    }

    // --- Executors

    @Test
    void shouldRefuseToStandOnAnotherExecutorThanTheEventLoop() throws Exception {
        connect(VersionPolicy.V1_ONLY, pipeline -> { }, pipeline -> { });
        RpcRdma misplaced = ShortSends.client().build();
        Channel channel = new Bootstrap().group(pair.channel.eventLoop().parent()).channel(RdmaChannel.class)
                .handler(new ChannelInitializer<RdmaChannel>() {
                    @Override
                    protected void initChannel(RdmaChannel made) {
                        made.pipeline().addLast(EXECUTORS, misplaced);
                    }
                }).register().sync().channel();
        assertTrue(channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        assertEquals(0, misplaced.connections().size());
    }

    private void endHanging() throws InterruptedException {
        RpcCall call = program.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
    }

    // --- The same handlers over TCP

    private static Stream<Arguments> overTcp() {
        return others().filter(each -> each.get()[2] == VersionPolicy.V1_ONLY)
                .map(each -> Arguments.of(each.get()[0], each.get()[1], each.get()[3], each.get()[4]));
    }

    @ParameterizedTest(name = "{0}, {1}", autoCloseArguments = false)
    @MethodSource("overTcp")
    void shouldServeCallsOverTcpWithOthersAmongOurHandlers(String name, Place place, EventExecutorGroup executors, Others others)
            throws Exception {
        List<Channel> channels = new ArrayList<>();
        try {
            Channel server = new ServerBootstrap().group(TCP).channel(NioServerSocketChannel.class).childHandler(
                    overTcp(place, executors, others, () -> new RpcServerHandler(program)))
                    .bind(RawPeer.loopback()).sync().channel();
            channels.add(server);
            RpcClient client = new RpcClient();
            channels.add(new Bootstrap().group(TCP).channel(NioSocketChannel.class)
                    .handler(overTcp(place, executors, others, () -> client)).connect(server.localAddress()).sync().channel());
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                calls.add(client.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO,
                        RpcRdmaPair.opaque(Bytes.pattern(1000 * i, i)))));
            }
            for (int i = 0; i < 16; i++) {
                ByteBuf echo = RpcRdmaPair.result(calls.get(i));
                assertEquals(RpcRdmaPair.opaque(Bytes.pattern(1000 * i, i)), echo);
                echo.release();
            }
            assertEquals(0, client.statistics().pendingCalls());
            assertTrue(exceptions.isEmpty(), () -> "" + exceptions);
        } finally {
            channels.forEach(channel -> channel.close().syncUninterruptibly());
        }
    }

    private ChannelInitializer<Channel> overTcp(Place place, EventExecutorGroup executors, Others others, Others ours) {
        return new ChannelInitializer<>() {
            @Override
            protected void initChannel(Channel channel) {
                ChannelPipeline pipeline = channel.pipeline().addLast(new RecordMarkingCodec(1 << 20));
                if (place == Place.BELOW) {
                    pipeline.addFirst(executors, "other", others.make());
                } else {
                    pipeline.addLast(executors, "other", others.make());
                }
                pipeline.addLast(ours.make(), new End());
            }
        };
    }
}
