package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.SingleVersionProgram;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** Two sides of which one receives, and sends, longer messages than the other: each call is executed once all the same. */
@Timeout(120)
@ParameterizedClass
@EnumSource
class UnequalThresholdsTest {

    private static final int SHORT_BYTES = 4096;
    private static final int LONG_BYTES = 65536;

    @Parameter
    VersionPolicy versions;

    private final Counting served = new Counting();
    private final Counting callbacks = new Counting();

    /** A program, and how many calls it has had. */
    private static final class Counting implements SingleVersionProgram {

        private final BulkProgram program = new BulkProgram(true);
        private final AtomicInteger calls = new AtomicInteger();

        @Override
        public int program() {
            return BulkProgram.PROGRAM;
        }

        @Override
        public void call(RpcCall call) {
            calls.incrementAndGet();
            program.call(call);
        }
    }

    private RpcRdmaPair connect(int serverBytes, int clientBytes) throws Exception {
        return new RpcRdmaPair(
                RpcRdma.server().versions(versions).program(served).binding(BulkProgram.BINDING).reverse(4)
                        .inlineThresholdBytes(serverBytes),
                RpcRdma.client().versions(versions).program(callbacks).binding(BulkProgram.BINDING).reverse(4)
                        .inlineThresholdBytes(clientBytes));
    }

    private static void assertLoaded(Future<ByteBuf> call, int bytes) throws Exception {
        ByteBuf loaded = RpcRdmaPair.result(call);
        assertEquals(bytes, Xdr.readOpaque(loaded, bytes, "extra").length);
        loaded.release();
    }

    /** A reply of so many bytes of which nothing is bulk data. */
    private static RpcRequest loading(RpcRdmaPair pair, int bytes) {
        return new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD, pair.words(0, bytes));
    }

    private static void load(RpcRdmaPair pair, int bytes) throws Exception {
        assertLoaded(pair.start(loading(pair, bytes)), bytes);
    }

    private static void assertNothingRefused(RpcRdmaPair pair) {
        assertEquals(0, pair.client.statistics().get(Counter.CHUNK_ERRORS) + pair.server.statistics().get(Counter.CHUNK_ERRORS));
    }

    @Test
    void shouldExecuteOnceWhatAServerWithAShorterThresholdReplies() throws Exception {
        try (RpcRdmaPair pair = connect(SHORT_BYTES, LONG_BYTES)) {
            int[] sizes = {8000, 3000, 8000, 40_000};
            for (int bytes : sizes) {
                load(pair, bytes);
            }
            assertEquals(sizes.length, served.calls.get());
            assertEquals(3, pair.client.statistics().get(Counter.LONG_REPLIES));
            assertNothingRefused(pair);
        }
    }

    @Test
    void shouldExecuteTheFirstCallOnceThoughItsServerSendsTheLeast() throws Exception {
        try (RpcRdmaPair pair = connect(1024, LONG_BYTES)) {
            load(pair, 2000);
            load(pair, 2000);
            assertEquals(2, served.calls.get());
            assertEquals(2, pair.client.statistics().get(Counter.LONG_REPLIES));
            assertNothingRefused(pair);
        }
    }

    @Test
    void shouldSendToTheLongerThresholdWhatFitsIntoTheShorter() throws Exception {
        try (RpcRdmaPair pair = connect(LONG_BYTES, SHORT_BYTES)) {
            load(pair, 3000);
            load(pair, 8000);
            assertEquals(2, served.calls.get());
            assertEquals(1, pair.client.statistics().get(Counter.LONG_REPLIES));
            assertNothingRefused(pair);
        }
    }

    @Test
    void shouldExecuteOnceWhatAClientWithAShorterThresholdReplies() throws Exception {
        assumeTrue(versions != VersionPolicy.V1_ONLY, "there are no chunks in this direction");
        try (RpcRdmaPair pair = connect(LONG_BYTES, SHORT_BYTES)) {
            Future<ByteBuf> forward = pair.start(BulkProgram.HANG, Unpooled.EMPTY_BUFFER);
            RpcCall call = served.program.takeHanging();
            call.reply(Unpooled.EMPTY_BUFFER);
            RpcRdmaPair.result(forward).release();
            pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release(); // behind the properties of the client
            assertLoaded(call.channel().pipeline().get(RpcClient.class).call(loading(pair, 8000)), 8000);
            assertEquals(1, callbacks.calls.get());
            assertNothingRefused(pair);
        }
    }
}
