package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** Calls that say nothing about how large their replies can get, and those that do. */
@Timeout(120)
class OpenEndedCallTest {

    private static final int PROGRAM = 0x2000_0077;
    /** Answers what it was asked. */
    private static final int ECHO = 1;
    /** int length to as many bytes. */
    private static final int LOAD = 2;
    /** Answers nothing before {@link #AT_ONCE} of these calls are there. */
    private static final int GATHER = 3;

    private static final int AT_ONCE = 128;
    /** XID, type, status, verifier of length 0, status. */
    private static final int REPLY_HEADER_BYTES = 24;
    private static final int HISTORY = 8;
    private static final int MAX_RESULTS_BYTES = RpcRdmaLimits.DEFAULT.maxMessageBytes() - REPLY_HEADER_BYTES;
    /** Every message is a beginning of it. Made once, because all messages together are gigabytes. */
    private static final byte[] CONTENT = content();

    private final AtomicInteger served = new AtomicInteger();
    private RpcRdmaPair pair;

    private void start(VersionPolicy versions, ResourceLimits resources) throws Exception {
        pair = new RpcRdmaPair(ShortSends.server().program(new Program()).versions(versions),
                ShortSends.client().versions(versions).resources(resources));
        call(ECHO, 4); // from here there is more than one credit, and a version
        served.set(0);
    }

    @AfterEach
    void stop() throws InterruptedException {
        pair.close();
        awaitValue(pair.client.memory()::usedBytes, 0);
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldAnswerCallsWithRepliesOfAnyLength(VersionPolicy versions) throws Exception {
        start(versions, ResourceLimits.DEFAULT);
        int inlineBytes = pair.channel.eventLoop().submit(() -> RpcRdma.connection(pair.channel).terms()
                .receiveBytes()
                - RpcRdma.connection(pair.channel).terms().version().chunkFreeLength() - REPLY_HEADER_BYTES).get();
        for (int bytes : new int[] {0, 4, inlineBytes - 24, inlineBytes - 20, inlineBytes, inlineBytes + 4, 65536 - 28,
                65536 - 24,
                65536 - 20, 65536, 1_000_000, MAX_RESULTS_BYTES}) {
            call(LOAD, bytes);
        }
        call(ECHO, 1_000_000);
        call(ECHO, MAX_RESULTS_BYTES - 16); // the header of a call is longer
        assertEquals(14, served.get(), "each was carried out once");
        assertEquals(0, statistic(Counter.CHUNK_ERRORS));
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldAnswerManyCallsWithLargeRepliesAtOnce(VersionPolicy versions) throws Exception {
        start(versions, ResourceLimits.DEFAULT);
        callAtOnce(LOAD, 1_000_000); // the first of their kind
        callAtOnce(ECHO, 1_000_000); // others of this procedure were short
        assertEquals(2 * AT_ONCE, served.get(), "each was carried out once");
        assertEquals(0, statistic(Counter.CHUNK_ERRORS));
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldAnswerWithLargeReplyAfterManySmallOnes(VersionPolicy versions) throws Exception {
        start(versions, ResourceLimits.DEFAULT.withMaxConnectionBytes(100_000));
        for (int i = 0; i < 100; i++) {
            call(LOAD, 4);
        }
        call(LOAD, 1_000_000);
        callAtOnce(LOAD, 1_000_000); // now such replies are known
        assertEquals(101 + AT_ONCE, served.get(), "each was carried out once");
    }

    @ParameterizedTest
    @CsvSource({"V1_ONLY,64", "V1_ONLY,8", "V1_ONLY,1", "V2_ONLY,64", "V2_ONLY,8", "V2_ONLY,1"})
    void shouldNotLetCallsWithSmallRepliesWaitForMemory(VersionPolicy versions, int connectionMebibytes) throws Exception {
        start(versions, ResourceLimits.DEFAULT.withMaxConnectionBytes((long) connectionMebibytes << 20));
        for (int i = 0; i < HISTORY; i++) {
            call(LOAD, 100);
        }
        for (int round = 0; round < 10; round++) {
            callAtOnce(LOAD, 100);
        }
        assertEquals(0, statistic(Counter.CALLS_HELD_BACK));
        assertEquals(0, statistic(Counter.CHUNK_ERRORS));
        assertTrue(statistic(Counter.EXPOSURES) <= HISTORY + 10 * AT_ONCE + 1, "one for a call, at most");
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldLeaveRoomToRepliesThatAreSeveralTimesAsLargeAsBefore(VersionPolicy versions) throws Exception {
        start(versions, ResourceLimits.DEFAULT.withMaxConnectionBytes(8 << 20));
        for (int i = 0; i < HISTORY; i++) {
            call(LOAD, 10_000);
        }
        callAtOnce(LOAD, 40_000);
        assertEquals(HISTORY + AT_ONCE, served.get(), "each was carried out once");
    }

    @Execution(ExecutionMode.CONCURRENT) // nothing happens in it for seconds
    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldSendCallsThatWaitForEachOther(VersionPolicy versions) throws Exception {
        start(versions, ResourceLimits.DEFAULT);
        callAtOnce(GATHER, 4);
        assertTrue(statistic(Counter.CALLS_HELD_BACK) > 0, "nothing was known about their replies");
    }

    @Test
    void shouldFailCallOfVersionOneWhoseReplyOutgrowsAllBeforeItWhileMemoryIsShort() throws Exception {
        start(VersionPolicy.V1_ONLY, ResourceLimits.DEFAULT.withMaxConnectionBytes(100_000));
        for (int i = 0; i < HISTORY; i++) {
            call(LOAD, 4);
        }
        List<Future<ByteBuf>> calls = startAtOnce(LOAD, 1_000_000);
        check(calls.get(0), 1_000_000);
        for (Future<ByteBuf> call : calls.subList(1, AT_ONCE)) {
            String message = assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(call)).getCause().getMessage();
            assertTrue(message.contains("RpcRequest.setReplySpace") && message.contains("ResourceLimits.maxConnectionBytes"),
                    message);
        }
        callAtOnce(LOAD, 1_000_000); // nothing is guessed of them any more
    }

    @Test
    void shouldSendCallOfVersionTwoAgainWhoseReplyOutgrowsAllBeforeItWhileMemoryIsShort() throws Exception {
        start(VersionPolicy.V2_ONLY, ResourceLimits.DEFAULT.withMaxConnectionBytes(100_000));
        for (int i = 0; i < HISTORY; i++) {
            call(LOAD, 4);
        }
        callAtOnce(LOAD, 1_000_000);
        assertEquals(AT_ONCE - 1, statistic(Counter.CALLS_SENT_AGAIN));
    }

    @ParameterizedTest
    @EnumSource(value = VersionPolicy.class, names = {"V1_ONLY", "V2_ONLY"})
    void shouldNeitherRegisterNorOfferAnythingForReplyThatIsSaidToFitInline(VersionPolicy versions) throws Exception {
        start(versions, ResourceLimits.DEFAULT);
        long exposures = statistic(Counter.EXPOSURES);
        for (int i = 0; i < 100; i++) {
            check(pair.start(request(ECHO, 64).setReplySpace(new ReplySpace(REPLY_HEADER_BYTES + 64))), 64);
        }
        assertEquals(exposures, statistic(Counter.EXPOSURES));
        assertEquals(0, pair.server.statistics().get(Counter.REPLIES_WITHOUT_INVALIDATION)
                + pair.server.statistics().get(Counter.REMOTE_INVALIDATIONS) - exposures, "the server has seen no chunk");
    }

    @Test
    void shouldOfferLessWhereTheBudgetOfAllCallsIsSmaller() throws Exception {
        start(VersionPolicy.V1_ONLY, ResourceLimits.DEFAULT.withMaxTotalBytes(100_000));
        call(LOAD, 60_000);
    }

    private long statistic(Counter counter) {
        return pair.client.statistics().get(counter);
    }

    private RpcRequest request(int procedure, int bytes) {
        ByteBuf arguments = pair.channel.alloc().buffer();
        return new RpcRequest(PROGRAM, 1, procedure, procedure == LOAD ? arguments.writeInt(bytes)
                : arguments.writeBytes(CONTENT, 0, bytes));
    }

    private void call(int procedure, int bytes) throws Exception {
        check(pair.start(request(procedure, bytes)), bytes);
    }

    private void callAtOnce(int procedure, int bytes) throws Exception {
        for (Future<ByteBuf> call : startAtOnce(procedure, bytes)) {
            check(call, bytes);
        }
    }

    /** In one turn of the event loop, so that no reply comes before all are written. */
    private List<Future<ByteBuf>> startAtOnce(int procedure, int bytes) throws Exception {
        return pair.channel.eventLoop().submit(() -> {
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                calls.add(pair.start(request(procedure, bytes)));
            }
            return calls;
        }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private static void check(Future<ByteBuf> call, int bytes) throws Exception {
        ByteBuf results = RpcRdmaPair.result(call);
        try {
            assertEquals(bytes, results.readableBytes());
            int firstWrong = Arrays.mismatch(Arrays.copyOf(CONTENT, bytes), ByteBufUtil.getBytes(results));
            assertEquals(-1, firstWrong);
        } finally {
            results.release();
        }
    }

    private static byte[] content() {
        byte[] content = new byte[RpcRdmaLimits.DEFAULT.maxMessageBytes()];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) (i * 31 >>> 3);
        }
        return content;
    }

    private final class Program implements SingleVersionProgram {

        private final BlockingQueue<RpcCall> gathered = new LinkedBlockingQueue<>();

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public void call(RpcCall call) {
            served.incrementAndGet();
            switch (call.procedure()) {
                case ECHO -> call.reply(call.arguments().retain());
                case LOAD -> call.reply(call.alloc().buffer().writeBytes(CONTENT, 0, call.arguments().readInt()));
                default -> gather(call);
            }
        }

        private void gather(RpcCall call) {
            call.arguments().retain();
            gathered.add(call);
            if (gathered.size() == AT_ONCE) {
                gathered.forEach(waiting -> waiting.reply(waiting.arguments()));
            }
        }
    }
}
