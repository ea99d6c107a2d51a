package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.internal.PlatformDependent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** Calls and replies where nobody has said how long a Send may be: as long as the provider prefers, if there is memory. */
@Timeout(120)
class LongSendsTest {

    private static final int DATA_BYTES = 64 << 10;
    private static final int SHORT_BYTES = 4096;
    private static final int LONG_BYTES = 69632;

    /** Without a word of the user. */
    private static RpcRdmaBuilder server(VersionPolicy versions) {
        return RpcRdma.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING).versions(versions);
    }

    private static RpcRdmaBuilder client(VersionPolicy versions) {
        return RpcRdma.client().binding(BulkProgram.BINDING).versions(versions);
    }

    /** Whether the provider prefers them, and there is memory for those of other tests, too. */
    private static boolean hasLongReceives() {
        return Rdma.provider().longestPreferredSendBytes() == LONG_BYTES && PlatformDependent.maxDirectMemory() >= 2L << 30;
    }

    private static void assertTerms(RpcRdmaPair pair, int sendBytes, int receiveBytes) {
        ConnectionTerms terms = RpcRdma.connection(pair.channel).terms();
        assertEquals(sendBytes, terms.sendBytes(), "sent by the client");
        assertEquals(receiveBytes, terms.receiveBytes(), "sent by the server");
    }

    /** One call with so much data, and one whose reply has it; both have to come out right, however they travel. */
    private static void move(RpcRdmaPair pair, int bytes) throws Exception {
        byte[] data = Bytes.pattern(bytes, 5);
        ByteBuf stored = pair.call(BulkProgram.STORE, pair.storeArguments(pair.registered(data)));
        assertEquals(bytes, stored.readInt());
        assertEquals(BulkProgram.sum(Unpooled.wrappedBuffer(data)), stored.readInt());
        stored.release();
        ByteBuf loaded = pair.call(BulkProgram.LOAD, pair.words(bytes, 3));
        assertEquals(ByteBufUtil.hexDump(Bytes.pattern(3, 1)), ByteBufUtil.hexDump(Xdr.readOpaque(loaded, 3, "extra")));
        assertEquals(ByteBufUtil.hexDump(Bytes.pattern(bytes, 2)), ByteBufUtil.hexDump(Xdr.readOpaque(loaded, bytes, "data")));
        loaded.release();
    }

    private static void assertInline(RpcRdmaPair pair, long before) {
        assertEquals(before + 2, pair.client.statistics().get(Counter.CALLS_INLINE));
        assertEquals(0, pair.client.statistics().get(Counter.CALLS_WITH_READ_CHUNK));
        assertEquals(0, pair.client.statistics().get(Counter.REPLIES_WITH_WRITE_CHUNK));
    }

    private static void assertInChunks(RpcRdmaPair pair) {
        assertEquals(1, pair.client.statistics().get(Counter.CALLS_WITH_READ_CHUNK));
        assertEquals(1, pair.client.statistics().get(Counter.REPLIES_WITH_WRITE_CHUNK));
    }

    @ParameterizedTest
    @EnumSource(names = {"V1_ONLY", "V2_ONLY"})
    void shouldSendWholeWhatTheProviderPrefersToSendWhole(VersionPolicy versions) throws Exception {
        assumeTrue(hasLongReceives());
        try (RpcRdmaPair pair = new RpcRdmaPair(server(versions), client(versions)).negotiated()) {
            assertTerms(pair, LONG_BYTES, LONG_BYTES);
            long before = pair.client.statistics().get(Counter.CALLS_INLINE);
            move(pair, DATA_BYTES);
            assertInline(pair, before);
            move(pair, LONG_BYTES);
            assertInChunks(pair);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"V1_ONLY", "V2_ONLY"})
    void shouldKeepToWhatTheUserSays(VersionPolicy versions) throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(server(versions), client(versions).inlineThresholdBytes(SHORT_BYTES))
                .negotiated()) {
            assertTerms(pair, SHORT_BYTES, SHORT_BYTES);
            move(pair, DATA_BYTES);
            assertInChunks(pair);
        }
    }

    /** Calls that have no chunks must not be possible on some connections only, which are those that come first. */
    @Test
    void shouldStayShortWhereTheServerCallsTheClient() throws Exception {
        RpcRdmaBuilder server = server(VersionPolicy.V1_ONLY).reverse(4);
        RpcRdmaBuilder client = client(VersionPolicy.V1_ONLY).reverse(4).program(new BulkProgram(true));
        try (RpcRdmaPair pair = new RpcRdmaPair(server, client)) {
            assertTerms(pair, SHORT_BYTES, SHORT_BYTES);
            move(pair, DATA_BYTES);
            assertInChunks(pair);
        }
    }

    @Test
    void shouldServeAClientThatHasShortReceives() throws Exception {
        try (RpcRdmaPair pair = new RpcRdmaPair(server(VersionPolicy.V1_ONLY), client(VersionPolicy.V1_ONLY))) {
            Channel other = pair.connect(new Bootstrap().option(RdmaChannelOption.SHARED_RECEIVES, false)).sync().channel();
            ConnectionTerms terms = RpcRdma.connection(other).terms();
            assertEquals(SHORT_BYTES, terms.sendBytes());
            assertEquals(SHORT_BYTES, terms.receiveBytes());
        }
    }

    @Test
    void shouldAnnounceLongReceivesAndSendToLinuxWhatItTakes() throws Exception {
        assumeTrue(hasLongReceives());
        try (RawServer linux = new RawServer(client(VersionPolicy.V1_ONLY))) {
            assertEquals("f6ab0e1801014343", ByteBufUtil.hexDump(linux.peer.channel().peerPrivateData()));
            ConnectionTerms terms = RpcRdma.connection(linux.channel).terms();
            assertEquals(SHORT_BYTES, terms.sendBytes());
            assertEquals(SHORT_BYTES, terms.receiveBytes());
        }
    }
}
