package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.ECHO;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.LOAD;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.LOAD_TOO_MUCH;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.LOAD_TWO;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.MARK;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.NULL;
import static org.nettyrdma.codec.rpcrdma.BulkProgram.STORE;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import io.netty.util.concurrent.PromiseNotifier;
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
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/** Every way in which a call and a reply can travel, over the real channel, in both versions. */
@Timeout(120)
@ParameterizedClass
@EnumSource(names = {"V1_ONLY", "V2_ONLY"})
class RpcRdmaEndToEndTest {

    @Parameter
    VersionPolicy versions;

    private RpcRdmaBuilder server() {
        return ShortSends.server().versions(versions);
    }

    private RpcRdmaBuilder client() {
        return ShortSends.client().versions(versions);
    }

    @Test
    void shouldSendShortCallAndReplyInline() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertEchoed(pair, 100);
            pair.call(NULL, Unpooled.EMPTY_BUFFER).release();

            assertCounts(pair, 2, Counter.CALLS_INLINE, Counter.REPLIES_INLINE);
            assertCounts(pair, 0, Counter.EXPOSURES, Counter.COPIED_BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4017, 4096, 4097, 4098, 4099, 65536, 65537, 1000003, 1048576})
    void shouldMoveEligibleArgumentByReadChunk(int length) throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertStored(pair, pair.registered(Bytes.pattern(length, 5)));

            assertCounts(pair, 1, Counter.CALLS_WITH_READ_CHUNK, Counter.REPLIES_INLINE);
            assertCounts(pair, length, Counter.READ_CHUNK_BYTES);
            assertEquals(0, pair.client.statistics().get(Counter.COPIED_BYTES));
            assertEquals(0, pair.channel.statistics().get(RdmaChannelStatistics.Counter.COPIED_BYTES));
        }
    }

    @Test
    void shouldSendShortEligibleArgumentInline() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            for (int length : new int[] {0, 1, 2, 3, 4, 1000, 3700}) {
                assertStored(pair, pair.registered(Bytes.pattern(length, 5)));
            }
            assertCounts(pair, 7, Counter.CALLS_INLINE);
        }
    }

    @Test
    void shouldCopyAndCountArgumentThatIsNotRegistered() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertStored(pair, Unpooled.wrappedBuffer(Bytes.pattern(10001, 5)));

            assertEquals(10001, pair.client.statistics().get(Counter.COPIED_BYTES));
        }
    }

    @Test
    void shouldExposeArgumentInSeveralPieces() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            ByteBuf data = pair.channel.alloc().compositeBuffer().addComponents(true,
                    pair.registered(Bytes.pattern(5001, 1)), pair.registered(Bytes.pattern(2, 2)),
                    pair.registered(Bytes.pattern(7000, 3)));
            assertStored(pair, data);

            assertEquals(3, pair.client.statistics().get(Counter.EXPOSURES));
            assertEquals(0, pair.client.statistics().get(Counter.COPIED_BYTES));
            assertEquals(versions == VersionPolicy.V2_ONLY ? 1 : 0,
                    pair.server.statistics().get(Counter.REMOTE_INVALIDATIONS), "there are three handles");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4097, 65536, 1000003, 1048576})
    void shouldMoveLongCallByPositionZeroChunk(int length) throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertEchoed(pair, length);

            assertCounts(pair, 1, Counter.LONG_CALLS, Counter.LONG_REPLIES);
            assertCounts(pair, 24 + 4 + Xdr.paddedLength(length), Counter.REPLY_CHUNK_BYTES);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4050, 4097, 4098, 4099, 65536, 1000001, 1048576})
    void shouldMoveEligibleResultByWriteChunk(int length) throws Exception {
        for (boolean tellsItems : new boolean[] {true, false}) {
            try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(tellsItems), versions)) {
                assertLoaded(pair, length, 9);

                assertCounts(pair, 1, Counter.CALLS_INLINE, Counter.REPLIES_WITH_WRITE_CHUNK);
                assertCounts(pair, length, Counter.WRITE_CHUNK_BYTES);
                assertCounts(pair, 0, Counter.REPLY_CHUNK_BYTES);
                assertEquals(0, pair.server.connections().channelCounter(RdmaChannelStatistics.Counter.COPIED_BYTES));
            }
        }
    }

    @Test
    void shouldAnswerCallsWhoseObserverThrows() throws Exception {
        AtomicInteger told = new AtomicInteger();
        try (RpcRdmaPair pair = new RpcRdmaPair(server().program(new BulkProgram(true)).binding(BulkProgram.BINDING),
                client().binding(BulkProgram.BINDING).callObserver((program, version, procedure, call, reply) -> {
                    told.incrementAndGet();
                    throw new IllegalStateException("expected");
                })).negotiated()) {
            int before = told.get();
            assertEchoed(pair, 100);
            assertLoaded(pair, 10_001, 9);
            assertEquals(before + 2, told.get());
            assertCounts(pair, 10_001, Counter.WRITE_CHUNK_BYTES);
        }
    }

    @Test
    void shouldCallAsSoonAsTheConnectFutureCompletes() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            Promise<ByteBuf> results = pair.channel.eventLoop().newPromise();
            pair.connect().addListener(connected -> {
                Channel second = ((ChannelFuture) connected).channel();
                second.pipeline().get(RpcClient.class)
                        .call(new RpcRequest(BulkProgram.PROGRAM, 1, ECHO, RpcRdmaPair.opaque(new byte[10_000])))
                        .addListener(new PromiseNotifier<>(results));
            });
            ByteBuf echoed = RpcRdmaPair.result(results);
            assertEquals(10_004, echoed.readableBytes());
            echoed.release();
        }
    }

    @Test
    void shouldPlaceSeveralResultsInTheMiddleOfAReply() throws Exception {
        for (boolean tellsItems : new boolean[] {true, false}) {
            try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(tellsItems), versions)) {
                for (int[] lengths : new int[][] {{5000, 6001}, {4999, 0}, {0, 4998}, {20001, 20003}, {1, 8001}, {8002, 2}}) {
                    ByteBuf results = pair.call(LOAD_TWO, pair.words(lengths[0], lengths[1]));
                    assertArrayEquals(Bytes.pattern(lengths[0], 1), Xdr.readOpaque(results, 1 << 20, "a"));
                    assertEquals(MARK, Xdr.readInt(results, "mark"));
                    assertArrayEquals(Bytes.pattern(lengths[1], 2), Xdr.readOpaque(results, 1 << 20, "b"));
                    assertEquals(MARK, Xdr.readInt(results, "mark"));
                    assertEquals(0, results.readableBytes());
                    results.release();
                }
                assertCounts(pair, 6, Counter.REPLIES_WITH_WRITE_CHUNK);
            }
        }
    }

    @Test
    void shouldUseReplyChunkWhereTheRestOfTheReplyIsLong() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertLoaded(pair, 10001, 10002);

            assertCounts(pair, 1, Counter.LONG_REPLIES);
            assertCounts(pair, 0, Counter.WRITE_CHUNK_BYTES);
        }
    }

    @Test
    void shouldOfferWriteChunkAndReplyChunkTogetherWherePolicyAllows() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server().program(new BulkProgram(true)).binding(BulkProgram.BINDING),
                client().binding(BulkProgram.BINDING).peerPolicy(PeerPolicy.SPECIFICATION)).negotiated()) {
            assertLoaded(pair, 10001, 10002);

            assertCounts(pair, 1, Counter.LONG_REPLIES);
            assertCounts(pair, 10001, Counter.WRITE_CHUNK_BYTES);
        }
    }

    @Test
    void shouldReturnOfferedChunksUnusedWhereTheReplyIsShort() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            RpcRequest request = new RpcRequest(BulkProgram.PROGRAM, 1, 99, Unpooled.EMPTY_BUFFER)
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(100, List.of(100000)));
            assertTrue(RpcRdmaPair.failure(pair.start(request)).getMessage().contains("PROC_UNAVAIL"));

            request = new RpcRequest(BulkProgram.PROGRAM, 1, NULL, Unpooled.EMPTY_BUFFER)
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(100000, List.of()));
            RpcRdmaPair.result(pair.start(request)).release();

            assertCounts(pair, 2, Counter.REPLIES_INLINE);
            assertEquals(2, pair.client.statistics().get(Counter.EXPOSURES));
        }
    }

    @Test
    void shouldWorkWithoutAnyBinding() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(server().program(new BulkProgram(true)), client()).negotiated()) {
            assertEchoed(pair, 10);
            assertEchoed(pair, 50000);
            assertStored(pair, pair.registered(Bytes.pattern(100000, 1)));
            assertLoaded(pair, 60000, 7);

            assertCounts(pair, 0, Counter.CALLS_WITH_READ_CHUNK, Counter.REPLIES_WITH_WRITE_CHUNK);
            assertCounts(pair, 2, Counter.LONG_CALLS, Counter.LONG_REPLIES);
        }
    }

    @Test
    void shouldPlaceResultWithoutBindingWhereTheRequestTellsItsSize() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(server().program(new BulkProgram(true)), client()).negotiated()) {
            RpcRequest request = new RpcRequest(BulkProgram.PROGRAM, 1, LOAD, pair.words(9999, 5))
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(24 + 4 + 8 + 4, List.of(9999)));
            checkLoaded(RpcRdmaPair.result(pair.start(request)), 9999, 5);

            assertCounts(pair, 1, Counter.REPLIES_WITH_WRITE_CHUNK);
        }
    }

    @Test
    void shouldRefuseReplyThatDoesNotFitAndKeepTheConnection() throws Exception {
        assumeTrue(versions == VersionPolicy.V1_ONLY, "version 2 says how much the reply needs");
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertRefused(pair.start(LOAD_TOO_MUCH, pair.words(5000, 1)));
            RpcRequest request = new RpcRequest(BulkProgram.PROGRAM, 1, LOAD, pair.words(5000, 1))
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(100, List.of()));
            assertRefused(pair.start(request));
            request = new RpcRequest(BulkProgram.PROGRAM, 1, ECHO, RpcRdmaPair.opaque(new byte[10000]))
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(9000, List.of()));
            assertRefused(pair.start(request));

            assertEchoed(pair, 50000);
            assertCounts(pair, 3, Counter.CHUNK_ERRORS);
        }
    }

    @Test
    void shouldSendAgainWhereTheServerSaysWhatTheReplyNeeds() throws Exception {
        assumeTrue(versions == VersionPolicy.V2_ONLY, "version 1 does not say");
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            checkLoaded(RpcRdmaPair.result(pair.start(LOAD_TOO_MUCH, pair.words(5000, 1))), 10000, 1);
            checkLoaded(RpcRdmaPair.result(pair.start(new RpcRequest(BulkProgram.PROGRAM, 1, LOAD, pair.words(5000, 1))
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(100, List.of())))), 5000, 1);
            RpcRdmaPair.result(pair.start(new RpcRequest(BulkProgram.PROGRAM, 1, ECHO, RpcRdmaPair.opaque(new byte[10000]))
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(9000, List.of())))).release();

            assertCounts(pair, 3, Counter.CHUNK_ERRORS);
            assertEquals(3, pair.client.statistics().get(Counter.CALLS_SENT_AGAIN));
            pair.call(NULL, Unpooled.EMPTY_BUFFER).release(); // memory is given back last
            assertEquals(0, pair.client.memory().usedBytes());
        }
    }

    @Test
    void shouldSendAgainWithinTheChunksThatTheServerTakes() throws Exception {
        assumeTrue(versions == VersionPolicy.V2_ONLY, "version 1 does not say");
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server().program(new BulkProgram(true)).binding(BulkProgram.BINDING)
                        .limits(RpcRdmaLimits.DEFAULT.withMaxChunks(1, 1, 1)),
                client().binding(BulkProgram.BINDING).peerPolicy(PeerPolicy.SPECIFICATION)).negotiated()) {
            ByteBuf data = pair.channel.alloc().compositeBuffer().addComponents(true,
                    pair.registered(Bytes.pattern(5001, 1)), pair.registered(Bytes.pattern(7000, 3)));
            assertStored(pair, data);
            assertStored(pair, pair.registered(Bytes.pattern(5001, 1)));
            pair.call(LOAD_TWO, pair.words(5000, 6000)).release();
            pair.call(LOAD_TWO, pair.words(5000, 6000)).release();

            assertEquals(2, pair.client.statistics().get(Counter.CALLS_SENT_AGAIN), "the limits hold for the connection");
        }
    }

    @Test
    void shouldRefuseCallBeyondTheLimitOfTheServer() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server().program(new BulkProgram(true)).maxMessageBytes(100_000), client()).negotiated()) {
            assertRefused(pair.start(ECHO, RpcRdmaPair.opaque(new byte[100_000])));
            assertEchoed(pair, 50_000);
        }
    }

    @Test
    void shouldInvalidateRemotelyTheOnlyHandleOfACall() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            assertStored(pair, pair.registered(Bytes.pattern(10000, 1)));
            assertLoaded(pair, 10000, 1);
            RpcRdmaPair.result(pair.start(new RpcRequest(BulkProgram.PROGRAM, 1, NULL, Unpooled.EMPTY_BUFFER)
                    .setDataItems(List.of()).setReplySpace(new ReplySpace(9000)))).release(); // an unused Reply chunk
            assertCounts(pair, 3, Counter.REMOTE_INVALIDATIONS);

            assertEchoed(pair, 10000); // two handles, of which only a call of version 2 can name one
            boolean named = versions == VersionPolicy.V2_ONLY;
            assertCounts(pair, named ? 4 : 3, Counter.REMOTE_INVALIDATIONS);
            assertCounts(pair, named ? 0 : 1, Counter.REPLIES_WITHOUT_INVALIDATION);
            assertEquals(named ? 1 : 2, pair.channel.statistics().get(RdmaChannelStatistics.Counter.LOCAL_INVALIDATIONS));
            assertEquals(named ? 1 : 2, pair.client.statistics().get(Counter.LOCAL_INVALIDATIONS));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1024, 2048, 65536, 262144})
    void shouldUseTheAgreedInlineThreshold(int threshold) throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server().program(new BulkProgram(true)).binding(BulkProgram.BINDING).inlineThresholdBytes(threshold),
                client().binding(BulkProgram.BINDING).inlineThresholdBytes(262144)).negotiated()) {
            int headerBytes = RpcRdma.connection(pair.channel).terms().version().chunkFreeLength();
            int largest = threshold - headerBytes - RpcOffsets.FIRST_ARGUMENTS - Integer.BYTES;
            assertEchoed(pair, largest);
            assertCounts(pair, 1, Counter.CALLS_INLINE, Counter.REPLIES_INLINE);
            assertEchoed(pair, largest + 4);
            assertCounts(pair, 1, Counter.LONG_CALLS);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 128})
    void shouldKeepToItsCredits(int credits) throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                server().program(new BulkProgram(true)).binding(BulkProgram.BINDING).credits(credits),
                client().binding(BulkProgram.BINDING).credits(64)).negotiated()) {
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                int length = i % 3 == 0 ? 100 : 9000 + i;
                calls.add(i % 2 == 0 ? pair.start(LOAD, pair.words(length, 3))
                        : pair.start(STORE, pair.storeArguments(pair.registered(Bytes.pattern(length, i)))));
            }
            for (int i = 0; i < calls.size(); i++) {
                ByteBuf results = RpcRdmaPair.result(calls.get(i));
                int length = i % 3 == 0 ? 100 : 9000 + i;
                if (i % 2 == 0) {
                    checkLoaded(results, length, 3);
                } else {
                    checkStored(results, Bytes.pattern(length, i));
                }
            }
            assertTrue(pair.channel.isActive());
        }
    }

    @Test
    void shouldFetchOneCallAfterTheOtherWhereMemoryIsScarce() throws Exception {
        ResourceLimits scarce = ResourceLimits.DEFAULT.withMaxConnectionBytes(10_000);
        try (RpcRdmaPair pair = new RpcRdmaPair(server().program(new BulkProgram(true)).resources(scarce),
                client().binding(BulkProgram.BINDING)).negotiated()) {
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < 50; i++) { // below, at and above the bound
                calls.add(pair.start(STORE, pair.storeArguments(pair.registered(Bytes.pattern(4500 + 300 * i, i)))));
            }
            for (int i = 0; i < calls.size(); i++) {
                checkStored(RpcRdmaPair.result(calls.get(i)), Bytes.pattern(4500 + 300 * i, i));
            }
            assertCounts(pair, 50, Counter.CALLS_WITH_READ_CHUNK);
        }
    }

    @Test
    void shouldMeasureWhatMoved() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            int receives = versions == VersionPolicy.V1_ONLY ? 2 : 3; // with RDMA2_CONNPROP
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            new RdmaMetrics(pair.client).bindTo(registry);

            assertLoaded(pair, 10001, 1);

            assertEquals(10001, registry.get("rpcrdma.chunks.write.chunk.bytes").functionCounter().count());
            assertEquals(2, registry.get("rpcrdma.chunks.calls.inline").functionCounter().count());
            assertEquals(receives, registry.get("rdma.channel.receives").functionCounter().count());
            assertEquals(1, registry.get("rdma.channels").gauge().value());
            assertEquals(128, registry.get("rpcrdma.credits.requests.granted").gauge().value());
            assertEquals(0, registry.get("rpcrdma.credits.requests.in.progress").gauge().value());

            pair.channel.eventLoop().submit(() -> { }).sync(); // memory is given back behind the reply
            assertEquals(0, registry.get("rpcrdma.memory.used").gauge().value());
            assertEquals(ResourceLimits.DEFAULT.maxTotalBytes(), registry.get("rpcrdma.memory.limit").gauge().value());
            assertEquals(0, registry.get("rpcrdma.memory.waiting").gauge().value());
            assertEquals(pair.client.memory().waits(), registry.get("rpcrdma.memory.wait").functionTimer().count());
            assertEquals(pair.client.connections().creditCounter(credits -> credits.requests().waits()),
                    registry.get("rpcrdma.credits.requests.wait").functionTimer().count());

            pair.channel.close().sync();
            assertEquals(receives, registry.get("rdma.channel.receives").functionCounter().count(),
                    "counters outlive connections");
            assertEquals(0, registry.get("rdma.channels").gauge().value());
            registry.close();
        }
    }

    @Test
    void shouldAddUpWhatIsMeasuredWithTheSameTags() throws Exception {
        try (RpcRdmaPair pair = RpcRdmaPair.of(new BulkProgram(true), versions)) {
            SimpleMeterRegistry registry = new SimpleMeterRegistry();
            new RdmaMetrics(pair.client).bindTo(registry);
            new RdmaMetrics(pair.server).bindTo(registry);
            new RdmaMetrics(pair.server).bindTo(registry);
            assertLoaded(pair, 10001, 1);

            assertEquals(2, registry.get("rdma.channels").gauge().value());
            assertEquals(pair.client.statistics().get(ChunkStatistics.Counter.WRITE_CHUNK_BYTES)
                            + pair.server.statistics().get(ChunkStatistics.Counter.WRITE_CHUNK_BYTES),
                    registry.get("rpcrdma.chunks.write.chunk.bytes").functionCounter().count());
            registry.close();
        }
    }

    private static void assertRefused(Future<ByteBuf> call) throws Exception {
        Throwable failure = assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(call));
        RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class, failure.getCause());
        assertEquals(RpcRdmaException.Reason.REFUSED, cause.reason());
    }

    private static void assertEchoed(RpcRdmaPair pair, int length) throws Exception {
        ByteBuf results = pair.call(ECHO, RpcRdmaPair.opaque(Bytes.pattern(length, 7)));
        assertArrayEquals(Bytes.pattern(length, 7), Xdr.readOpaque(results, length, "echo"));
        assertEquals(0, results.readableBytes());
        results.release();
    }

    private static void assertStored(RpcRdmaPair pair, ByteBuf data) throws Exception {
        byte[] bytes = ByteBufUtil.getBytes(data);
        checkStored(pair.call(STORE, pair.storeArguments(data)), bytes);
    }

    private static void checkStored(ByteBuf results, byte[] bytes) {
        assertEquals(bytes.length, results.readInt());
        assertEquals(BulkProgram.sum(Unpooled.wrappedBuffer(bytes)), results.readInt());
        assertEquals(MARK, results.readInt());
        assertEquals(0, results.readableBytes());
        results.release();
    }

    private static void assertLoaded(RpcRdmaPair pair, int length, int extra) throws Exception {
        checkLoaded(pair.call(LOAD, pair.words(length, extra)), length, extra);
    }

    private static void checkLoaded(ByteBuf results, int length, int extra) {
        assertArrayEquals(Bytes.pattern(extra, 1), Xdr.readOpaque(results, extra, "extra"));
        assertArrayEquals(Bytes.pattern(length, 2), Xdr.readOpaque(results, length, "data"));
        assertEquals(0, results.readableBytes());
        results.release();
    }

    /** Both sides have counted the same, besides the call that negotiates. */
    private static void assertCounts(RpcRdmaPair pair, long expected, Counter... counters) {
        for (Counter counter : counters) {
            long all = expected + (counter == Counter.CALLS_INLINE || counter == Counter.REPLIES_INLINE ? 1 : 0);
            assertEquals(all, pair.client.statistics().get(counter), "client " + counter);
            assertEquals(all, pair.server.statistics().get(counter), "server " + counter);
        }
    }
}
