package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcCallListener;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.connection.ReceivePlan;

/** Both ends call each other on one connection. */
@Timeout(120)
@ParameterizedClass
@EnumSource
class ReverseDirectionTest {

    @Parameter
    VersionPolicy versions;

    private static final int REVERSE_CREDITS = 4;

    private final BulkProgram served = new BulkProgram(true);
    private final BulkProgram callbacks = new BulkProgram(true);

    private RpcRdmaBuilder serverBuilder() {
        return ShortSends.server().versions(versions).program(served).binding(BulkProgram.BINDING).credits(32)
                .reverse(REVERSE_CREDITS);
    }

    private RpcRdmaBuilder clientBuilder() {
        return ShortSends.client().versions(versions).binding(BulkProgram.BINDING).credits(32).reverse(REVERSE_CREDITS)
                .program(callbacks);
    }

    private int controlReceives() {
        return versions == VersionPolicy.V1_ONLY ? 0 : ReceivePlan.CONTROL_RECEIVES;
    }

    /** What calls the client of a pair. */
    private RpcClient callerOf(RpcRdmaPair pair) throws Exception {
        Future<ByteBuf> forward = pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
        RpcCall call = served.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
        RpcRdmaPair.result(forward).release();
        return call.channel().pipeline().get(RpcClient.class);
    }

    private static RpcRequest request(int procedure, ByteBuf arguments) {
        return new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments);
    }

    @Test
    void shouldCallInBothDirectionsAtOnce() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            RpcClient caller = callerOf(pair);
            List<Future<ByteBuf>> forward = new ArrayList<>();
            List<Future<ByteBuf>> reverse = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                // The larger ones of the forward direction go by chunks.
                forward.add(pair.start(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(i * 40, i))));
                reverse.add(caller.call(request(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(i * 10, i)))));
            }
            for (int i = 0; i < 300; i++) {
                assertEcho(Bytes.pattern(i * 40, i), forward.get(i));
                assertEcho(Bytes.pattern(i * 10, i), reverse.get(i));
            }
            assertEquals(300, pair.client.statistics().get(Counter.REVERSE_CALLS));
            assertEquals(300, pair.server.statistics().get(Counter.REVERSE_REPLIES));
            for (RpcRdma side : List.of(pair.client, pair.server)) {
                assertEquals(0, side.connections().creditCounter(credits -> credits.served().exceeded()));
            }
            assertEquals(REVERSE_CREDITS, pair.server.connections().credits(now -> now.requests().granted()));
            assertEquals(REVERSE_CREDITS, pair.client.connections().credits(now -> now.served().granted()));
            assertEquals(32, pair.client.connections().credits(now -> now.requests().granted()));
        }
    }

    /** A program may have to ask its client before it can answer, while the memory of one side is taken by the call itself. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveMemoryForCallsThatTheOtherDirectionWaitsFor(boolean serverHasLittle) throws Exception {
        assumeTrue(versions != VersionPolicy.V1_ONLY, "there such calls have no chunks");
        RpcRdmaBuilder server = serverBuilder();
        RpcRdmaBuilder client = clientBuilder();
        (serverHasLittle ? server : client).resources(ResourceLimits.DEFAULT.withMaxTotalBytes(64 << 10));
        try (RpcRdmaPair pair = new RpcRdmaPair(server, client)) {
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            RpcRdma withLittle = serverHasLittle ? pair.server : pair.client;
            new RdmaMetrics(withLittle).bindTo(registry);
            assertEquals(2 * (64 << 10), registry.get("rpcrdma.memory.limit").gauge().value(), "that of both directions");
            RpcClient caller = callerOf(pair);
            Future<ByteBuf> forward = pair.channel.pipeline().get(RpcClient.class)
                    .call(request(BulkProgram.HANG, Unpooled.EMPTY_BUFFER).setReplySpace(new ReplySpace(40_000)));
            RpcCall call = served.takeHanging();
            byte[] data = Bytes.pattern(10_000, 1);
            assertEcho(data, caller.call(request(BulkProgram.ECHO, RpcRdmaPair.opaque(data))));
            call.reply(Unpooled.EMPTY_BUFFER);
            RpcRdmaPair.result(forward).release();
        }
    }

    private static void assertEcho(byte[] expected, Future<ByteBuf> call) throws Exception {
        ByteBuf result = RpcRdmaPair.result(call);
        try {
            assertEquals(expected.length, result.readInt());
            assertArrayEquals(expected, ByteBufUtil.getBytes(result, result.readerIndex(), expected.length));
        } finally {
            result.release();
        }
    }

    @Test
    void shouldServeCallbackWhileItsForwardCallWaits() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            Future<ByteBuf> forward = pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
            RpcCall call = served.takeHanging();
            RpcClient caller = call.channel().pipeline().get(RpcClient.class);
            assertEcho(Bytes.pattern(9, 1), caller.call(request(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(9, 1)))));
            call.reply(Unpooled.EMPTY_BUFFER);
            RpcRdmaPair.result(forward).release();
        }
    }

    @Test
    void shouldFailReverseCallToClientWithoutThatDirection() throws Exception {
        assumeTrue(versions != VersionPolicy.V2_ONLY, "where the client tells");
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(),
                ShortSends.client().versions(VersionPolicy.V1_ONLY).credits(32))) {
            Throwable failure = RpcRdmaPair.failure(callerOf(pair).call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER)));
            RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class, failure.getCause());
            assertEquals(RpcRdmaException.Reason.REFUSED, cause.reason());
            pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release();
            assertEquals(1, pair.client.statistics().get(Counter.STRAY_MESSAGES_DROPPED));
        }
    }

    /** A client tells what it supports behind the first reply, and a server may call it before that. */
    @Test
    void shouldFailReverseCallAheadOfThePropertiesOfClientWithoutThatDirection() throws Exception {
        assumeTrue(versions != VersionPolicy.V1_ONLY, "no properties");
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), ShortSends.client().versions(versions).credits(32))) {
            Future<ByteBuf> forward = pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
            RpcCall call = served.takeHanging();
            Throwable failure = RpcRdmaPair.failure(call.channel().pipeline().get(RpcClient.class)
                    .call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER)));
            RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class, failure.getCause());
            assertEquals(RpcRdmaException.Reason.REFUSED, cause.reason());
            call.reply(Unpooled.EMPTY_BUFFER);
            RpcRdmaPair.result(forward).release();
        }
    }

    @Test
    void shouldFailCallsOfBothDirectionsOnceWhenTheConnectionIsLost() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            RpcClient caller = callerOf(pair);
            caller.call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER)).get().release(); // from here there are 4 credits
            RpcClient client = pair.channel.pipeline().get(RpcClient.class);
            AtomicInteger ends = new AtomicInteger();
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < 10; i++) { // of the reverse ones most wait for a credit
                calls.add(caller.call(request(BulkProgram.HANG, RpcRdmaPair.opaque(new byte[100]))));
                calls.add(pair.start(BulkProgram.HANG, RpcRdmaPair.opaque(new byte[100])));
            }
            calls.forEach(call -> call.addListener(end -> ends.incrementAndGet()));
            List<RpcCall> taken = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                taken.add(served.takeHanging());
            }
            for (int i = 0; i < REVERSE_CREDITS; i++) {
                taken.add(callbacks.takeHanging());
            }
            assertNull(callbacks.hanging.poll());

            pair.channel.close();
            for (Future<ByteBuf> call : calls) {
                assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
            }
            taken.forEach(call -> call.reply(Unpooled.EMPTY_BUFFER)); // too late, and dropped
            // Calls made now fail too, each behind what is still to be told on its event loop.
            RpcRdmaPair.failure(caller.call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER)));
            RpcRdmaPair.failure(client.call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER)));
            assertEquals(20, ends.get());
        }
    }

    @Test
    void shouldMoveReverseCallsByChunksWhereTheVersionHasThem() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            RpcClient caller = callerOf(pair);
            pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release(); // behind the properties of the client
            Future<ByteBuf> call = caller.call(request(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(50_000, 1))));
            if (versions == VersionPolicy.V1_ONLY) {
                assertInstanceOf(RpcRdmaException.class, RpcRdmaPair.failure(call).getCause());
                return;
            }
            assertEcho(Bytes.pattern(50_000, 1), call);
            assertEquals(1, pair.client.statistics().get(Counter.LONG_CALLS));
            assertEquals(1, pair.client.statistics().get(Counter.LONG_REPLIES));

            ByteBuf loaded = RpcRdmaPair.result(caller.call(request(BulkProgram.LOAD, pair.words(10_000, 4))));
            assertEquals(4 + 4 + 4 + 10_000, loaded.readableBytes());
            loaded.release();
            assertEquals(10_000, pair.server.statistics().get(Counter.WRITE_CHUNK_BYTES));

            RpcRdmaPair.result(caller.call(request(BulkProgram.STORE, pair.storeArguments(pair.registered(
                    Bytes.pattern(20_000, 5)))))).release();
            assertEquals(1, pair.client.statistics().get(Counter.CALLS_WITH_READ_CHUNK));
        }
    }

    @Test
    void shouldInvalidateAndSendAgainInReverseCallsAsInForwardOnes() throws Exception {
        assumeTrue(versions != VersionPolicy.V1_ONLY, "no chunks");
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            RpcClient caller = callerOf(pair);
            pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release(); // behind the properties of the client
            RpcRdmaPair.result(caller.call(request(BulkProgram.LOAD, pair.words(10_000, 4)))).release();
            RpcRdmaPair.result(caller.call(request(BulkProgram.ECHO, RpcRdmaPair.opaque(Bytes.pattern(50_000, 1))))).release();
            assertEquals(2, pair.client.statistics().get(Counter.REMOTE_INVALIDATIONS));
            assertEquals(2, pair.server.statistics().get(Counter.REMOTE_INVALIDATIONS));
            assertEquals(1, pair.server.statistics().get(Counter.LOCAL_INVALIDATIONS), "the other handle of the second call");

            ByteBuf loaded = RpcRdmaPair.result(caller.call(request(BulkProgram.LOAD_TOO_MUCH, pair.words(10_000, 4))));
            assertEquals(4 + 4 + 4 + 20_000, loaded.readableBytes());
            loaded.release();
            assertEquals(1, pair.server.statistics().get(Counter.CALLS_SENT_AGAIN));
            // memory is given back last
            RpcRdmaPair.result(caller.call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER))).release();
            assertEquals(0, pair.server.memory().usedBytes());
        }
    }

    @Test
    void shouldPostReceivesForBothDirections() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            assertEquals(32 + REVERSE_CREDITS + controlReceives(), pair.channel.config()
                    .getOption(RdmaChannelOption.RECEIVE_QUEUE_DEPTH));
        }
    }

    @Test
    void shouldLeaveForwardDirectionWhatReceivesAreLeft() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(serverBuilder(), clientBuilder())) {
            Bootstrap bootstrap = pair.client.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                    .option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH, REVERSE_CREDITS + controlReceives());
            ChannelFuture refused = bootstrap.connect(pair.channel.remoteAddress()).await();
            assertEquals(false, refused.isSuccess());

            ChannelFuture connected = bootstrap.option(RdmaChannelOption.RECEIVE_QUEUE_DEPTH,
                    REVERSE_CREDITS + controlReceives() + 5)
                    .connect(pair.channel.remoteAddress()).sync();
            RpcClient client = connected.channel().pipeline().get(RpcClient.class);
            RpcRdmaPair.result(client.call(request(BulkProgram.NULL, Unpooled.EMPTY_BUFFER))).release();
            // 32 on the connection of the pair would be the sum's other part, but that one has not heard of its grant yet.
            assertEquals(1 + 5, pair.client.connections().credits(now -> now.requests().granted()));
            connected.channel().close().sync();
        }
    }

    @Test
    void shouldDemandProgramsExactlyWhereCallsAreServed() {
        assertThrows(IllegalStateException.class, () -> ShortSends.client().reverse(1).build());
        assertThrows(IllegalStateException.class, () -> ShortSends.client().program(callbacks).build());
        assertThrows(IllegalArgumentException.class, () -> ShortSends.client().reverse(1025));
        assertThrows(IllegalArgumentException.class, () -> ShortSends.server().reverse(-1));
        ShortSends.client().reverse(0).build();
    }

    @Test
    void shouldRefuseProgramsThatAConnectionCannotServe() {
        RpcRdmaBuilder server = ShortSends.server().program(callbacks).program(callbacks);
        String refusal = assertThrows(IllegalArgumentException.class, server::build).getMessage();
        assertTrue(refusal.startsWith("two programs " + callbacks.program()), refusal);
    }

    @Test
    void shouldRefuseWhatHandlersTakeNoNoticeOf() {
        RpcCallListener listener = (side, program, version, procedure, outcome, elapsedNanos) -> { };
        RpcRdmaBuilder server = ShortSends.server().handlers(pipeline -> { });
        assertThrows(IllegalStateException.class, server.executor(Runnable::run)::build);
        assertThrows(IllegalStateException.class, ShortSends.client().executor(Runnable::run)::build);
        RpcRdmaBuilder client = ShortSends.client().callListener(listener);
        client.build();
        assertThrows(IllegalStateException.class, client.handlers(pipeline -> { })::build);
        ShortSends.server().program(callbacks).executor(Runnable::run).callListener(listener).build();
    }
}
