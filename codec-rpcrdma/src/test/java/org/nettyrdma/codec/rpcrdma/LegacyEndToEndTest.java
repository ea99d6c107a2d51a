package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/** Replies with Read chunks between our own two ends, to a client that offers nothing for its replies. */
@Timeout(120)
class LegacyEndToEndTest {

    private static final RpcRdmaLimits NO_OFFERS = RpcRdmaLimits.DEFAULT.withDefaultReplyChunkBytes(0);

    private static RpcRdmaPair pair(boolean tellsItems, int credits, LegacyProfile profile) throws Exception {
        return new RpcRdmaPair(
                ShortSends.server().program(new BulkProgram(tellsItems)).binding(BulkProgram.BINDING).credits(credits)
                .legacy(profile),
                RpcRdma.client().limits(NO_OFFERS.withCredits(credits)).legacy(LegacyProfile.DEFAULT));
    }

    @ParameterizedTest
    @CsvSource({"true,0,0", "true,5000,0", "true,5001,8000", "true,1000000,3", "false,4097,2", "false,300000,100000"})
    void shouldCarryEveryReplyWhole(boolean tellsItems, int length, int extra) throws Exception {
        try (RpcRdmaPair pair = pair(tellsItems, 16, LegacyProfile.DEFAULT)) {
            assertLoaded(RpcRdmaPair.result(load(pair, length, extra)), length, extra);
        }
    }

    @Test
    void shouldCarrySeveralReadChunks() throws Exception {
        try (RpcRdmaPair pair = pair(true, 16, LegacyProfile.DEFAULT)) {
            ByteBuf results = pair.call(BulkProgram.LOAD_TWO, pair.words(5001, 6002));
            ByteBuf expected = RpcRdmaPair.opaque(Bytes.pattern(5001, 1)).writeInt(BulkProgram.MARK)
                    .writeBytes(RpcRdmaPair.opaque(Bytes.pattern(6002, 2))).writeInt(BulkProgram.MARK);
            assertEquals(Bytes.hex(expected), Bytes.hex(results));
            results.release();
            assertEquals(11003, pair.server.statistics().get(Counter.READ_CHUNK_BYTES));
            assertEquals(11003, pair.client.statistics().get(Counter.READ_CHUNK_BYTES));
        }
    }

    /** The client's credits bound what waits for RDMA_DONE, so a server whose bound is not lower refuses nothing. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldServeManyCallsWithFewCredits(int credits) throws Exception {
        try (RpcRdmaPair pair = pair(true, credits, new LegacyProfile(credits, 16 << 20, 60_000))) {
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                calls.add(load(pair, 5000 + i, i));
            }
            for (int i = 0; i < calls.size(); i++) {
                assertLoaded(RpcRdmaPair.result(calls.get(i)), 5000 + i, i);
            }
            assertEquals(300, pair.server.statistics().get(Counter.REPLIES_WITH_READ_CHUNK));
            pair.call(BulkProgram.NULL, pair.words()).release(); // behind the last RDMA_DONE
            assertEquals(300, pair.server.statistics().get(Counter.DONE_MESSAGES));
            assertEquals(0, pair.server.statistics().get(Counter.CHUNK_ERRORS));
        }
    }

    @Test
    void shouldStillUseChunksThatTheCallOffers() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                ShortSends.server().program(new BulkProgram(true)).legacy(LegacyProfile.DEFAULT),
                ShortSends.client().binding(BulkProgram.BINDING).legacy(LegacyProfile.DEFAULT))) {
            assertLoaded(RpcRdmaPair.result(load(pair, 50_000, 8)), 50_000, 8);
            assertEquals(1, pair.server.statistics().get(Counter.REPLIES_WITH_WRITE_CHUNK));
            assertEquals(0, pair.server.statistics().get(Counter.REPLIES_WITH_READ_CHUNK));
        }
    }

    @Test
    void shouldFailTheCallOfAClientWithoutTheProfileAndKeepTheConnection() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(
                ShortSends.server().program(new BulkProgram(true)).legacy(new LegacyProfile(1, 1 << 20, 10)),
                RpcRdma.client().limits(NO_OFFERS))) {
            assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(load(pair, 5000, 0)));
            while (pair.server.statistics().get(Counter.DONE_TIMEOUTS) == 0) {
                pair.call(BulkProgram.NULL, pair.words()).release();
            }
            assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(load(pair, 5000, 0)));
            pair.call(BulkProgram.NULL, pair.words()).release();
            assertTrue(pair.channel.isActive());
            assertEquals(1, pair.server.statistics().get(Counter.CHUNK_ERRORS)); // the second one was not even exposed
        }
    }

    @Test
    void shouldLeakNothingWhenTheConnectionEndsUnderLoad() throws Exception {
        for (int i = 0; i < 10; i++) {
            List<Future<ByteBuf>> calls = new ArrayList<>();
            try (RpcRdmaPair pair = pair(true, 16, LegacyProfile.DEFAULT)) {
                RpcRdmaPair.result(load(pair, 100_000, 0)).release();
                for (int j = 0; j < 40; j++) {
                    calls.add(load(pair, 100_000, 0));
                }
                RpcRdmaPair.result(calls.remove(0)).release();
            }
            for (Future<ByteBuf> call : calls) {
                call.await();
                if (call.isSuccess()) {
                    call.getNow().release();
                }
            }
        }
    }

    @Test
    void shouldCheckTheProfile() {
        for (int[] wrong : new int[][] {{0, 1, 1}, {1025, 1, 1}, {1, 0, 1},
                {1, (1 << 30) + 1, 1}, {1, 1, 0}, {1, 1, 3_600_001}}) {
            assertThrows(IllegalArgumentException.class, () -> new LegacyProfile(wrong[0], wrong[1], wrong[2]));
        }
        assertEquals(new LegacyProfile(16, 16 << 20, 30_000), LegacyProfile.DEFAULT);
    }

    private static Future<ByteBuf> load(RpcRdmaPair pair, int length, int extra) {
        return pair.start(BulkProgram.LOAD, pair.words(length, extra));
    }

    private static void assertLoaded(ByteBuf results, int length, int extra) {
        ByteBuf expected = RpcRdmaPair.opaque(Bytes.pattern(extra, 1)).writeBytes(RpcRdmaPair.opaque(Bytes.pattern(length, 2)));
        try {
            assertArrayEquals(ByteBufUtil.getBytes(expected), ByteBufUtil.getBytes(results));
        } finally {
            results.release();
        }
    }
}
