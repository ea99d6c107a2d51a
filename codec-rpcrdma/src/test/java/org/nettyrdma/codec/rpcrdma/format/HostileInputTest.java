package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawServer.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawServer.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.rpcrdma.BulkProgram;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RawClient;
import org.nettyrdma.codec.rpcrdma.RawPeer;
import org.nettyrdma.codec.rpcrdma.RawServer;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPair;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.ShortSends;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer;
import org.nettyrdma.codec.rpcrdma.header.HeaderExtensions;

/** What a peer does to see what happens, where the tests of headers and of each side have not tried it in both versions. */
@Timeout(120)
class HostileInputTest {

    /** The header of a message of each version up to its lists. */
    private static final List<String> PREFIXES = List.of("00000005 00000001 00000020 00000000",
            "00000005 00000002 00000020 00000000 00000000 00000000");

    private static final HeaderFormat[] FORMATS = {
        new VersionOneFormat(RpcRdmaLimits.DEFAULT, SpokenVersions.BOTH),
        new VersionTwoFormat(RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE)};

    /** The words are a presence, a count, and one segment; the count does not say one. */
    @ParameterizedTest
    @ValueSource(strings = {"00000002", "00000041", "10000000", "10000001", "7fffffff", "80000000", "ffffffff"})
    void shouldRefuseSegmentCountsInBothVersions(String count) {
        String chunk = "00000001" + count + "00000007 00000001 0000000000000000";
        for (String lists : List.of("00000000" + chunk + "00000000 00000000", "00000000 00000000" + chunk)) {
            assertRefused(lists);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000002", "00000100", "01000000", "80000000", "80000001", "fffffffe", "ffffffff"})
    void shouldRefusePresenceWordsInBothVersions(String word) {
        assertRefused(word + "00000000 00000000");
        assertRefused("00000000" + word + "00000000");
        assertRefused("00000000 00000000" + word);
        assertRefused("00000001 00000000 00000007 00000001 0000000000000000" + word + "00000000 00000000");
    }

    /** Each list announces more than there is, wherever the message ends. */
    @Test
    void shouldRefuseListsThatAreLongerThanTheHeader() {
        String whole = Bytes.digits("00000001 00000000 00000007 00000001 0000000000000000 00000000"
                + "00000001 00000002 00000007 00000001 0000000000000000 00000008 00000001 0000000000000000 00000000"
                + "00000001 00000001 00000009 00000001 0000000000000000");
        for (int length = 0; length < whole.length(); length += 2) {
            assertRefused(whole.substring(0, length));
        }
    }

    private static void assertRefused(String lists) {
        for (int i = 0; i < FORMATS.length; i++) {
            HeaderFormat format = FORMATS[i];
            ByteBuf in = Bytes.hex(PREFIXES.get(i) + lists);
            RpcRdmaException refused = assertThrows(RpcRdmaException.class, () -> format.read(in), lists);
            assertEquals(Reason.MALFORMED, refused.reason());
        }
    }

    /** Whatever the length, the first eight bytes count, and fewer say nothing. */
    @Test
    void shouldTakePrivateDataOfEveryLength() {
        for (int length = 0; length <= 512; length++) {
            ByteBuf data = Unpooled.buffer().writeBytes(Bytes.hex("f6ab0e18 01 01 03 07")).writeZero(504).writerIndex(length);
            RpcRdmaPrivateData parsed = RpcRdmaPrivateData.parse(data);
            if (length < 8) {
                assertSame(RpcRdmaPrivateData.NONE, parsed);
            } else {
                assertEquals(new RpcRdmaPrivateData(true, 4096, 8192), parsed, "length " + length);
            }
        }
    }

    @Nested
    class Server {

        /** Lists of a call of ECHO with four bytes, whose message is 44 bytes long. */
        @ParameterizedTest
        @ValueSource(strings = {
            "00000001 00000004 00000bad 00000004 0000000000000000",                 // within the header of the call
            "00000001 00000024 00000bad 00000004 0000000000000000",                 // the last word of the header
            "00000001 00000030 00000bad 00000004 0000000000000000",                 // behind the end of the message
            "00000001 00000028 00000bad 00000008 0000000000000000"
                + "00000001 0000002c 00000bad 00000004 0000000000000000",           // overlap
            "00000001 00000000 00000bad 00000004 0000000000000000",                 // Position Zero chunk and a message
        })
        void shouldRefuseReadListThatMakesNoMessageInVersionTwo(String list) throws Exception {
            try (RawClient client = connect()) {
                client.peer.sendHex(PREFIXES.get(1) + list + NO_CHUNKS + "00000005" + CALL + "00000001" + NO_AUTH + "00000000");
                requireBadXdr(client);
            }
        }

        /** More than 2^32 bytes in one chunk: longer than any message that is taken. */
        @Test
        void shouldRefuseReadListOfSegmentsThatAreTooLongTogether() throws Exception {
            try (RawClient client = connect()) {
                client.peer.sendHex(PREFIXES.get(1) + "00000001 00000028 00000bad ffffffff 0000000000000000".repeat(2) + NO_CHUNKS
                        + "00000005" + CALL + "00000001" + NO_AUTH + "00000000");
                assertEquals(Bytes.digits("00000005 00000002 00000020 00000004 00000001 00000009"), client.peer.receiveHex());
            }
        }

        @Test
        void shouldRefuseRdma2NomsgWithoutChunks() throws Exception {
            try (RawClient client = connect()) {
                client.peer.sendHex("00000005 00000002 00000020 00000001 00000000 00000000" + NO_CHUNKS);
                requireBadXdr(client);
            }
        }

        private static RawClient connect() throws Exception {
            RawClient client = new RawClient(ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING)
                    .versions(VersionPolicy.V2_ONLY));
            sendNull(client);
            assertEquals("00000005", client.peer.receiveHex().substring(24, 32), "the properties come first");
            requireNullReply(client);
            return client;
        }

        private static void requireBadXdr(RawClient client) throws Exception {
            assertEquals(Bytes.digits("00000005 00000002 00000020 00000004 00000001 00000002"), client.peer.receiveHex());
            sendNull(client);
            requireNullReply(client);
        }

        private static void sendNull(RawClient client) throws Exception {
            client.peer.sendHex("0000cafe 00000002 00000020 00000000 00000000 00000000" + NO_CHUNKS + "0000cafe" + CALL
                    + "00000000"
                    + NO_AUTH);
        }

        private static void requireNullReply(RawClient client) throws Exception {
            assertEquals(Bytes.digits("0000cafe 00000002 00000020 00000000 00000001 00000000" + NO_CHUNKS + "0000cafe" + SUCCESS),
                    client.peer.receiveHex());
        }
    }

    @Nested
    class Client {

        /** The second one must not touch what belongs to the next call, nor let another call go. */
        @Test
        void shouldDropTheSecondReplyToACall() throws Exception {
            try (RawServer server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING))) {
                RawServer.Offer offer = server.offer(5000);
                server.peer.sendHex(offer.xid() + offer.emptyReply());
                RpcRdmaPair.result(offer.call()).release();
                server.peer.sendHex(offer.xid() + offer.emptyReply());
                server.requireAlive();
                assertEquals(1, server.client.statistics().get(Counter.UNKNOWN_REPLIES_DROPPED));
            }
        }

        /** From the type on, with the one Write chunk of the call as OFFERED, and one byte longer as LONGER. */
        @ParameterizedTest
        @ValueSource(strings = {
            "00000000 00000001 00000000 00000000 00000000 00000001 00000001 OFFERED XID",                  // a Reply chunk
            "00000001 00000001 00000000 00000000 00000000 00000001 00000001 OFFERED",
            "00000000 00000001 00000000 00000001 00000000 OFFERED 00000000 00000000 00000000 XID",         // a Read chunk
            "00000000 00000001 00000000 00000000 00000001 00000001 LONGER 00000000 00000000 XID",          // longer
            "00000000 00000001 00000000 00000000 00000001 00000002 OFFERED OFFERED 00000000 00000000 XID", // more segments
            "00000001 00000001 00000000 00000000 00000000 00000000",                                       // nothing at all
        })
        void shouldFailCallWhoseReplyHasOtherChunksInVersionTwo(String fromType) throws Exception {
            try (VersionTwoServer server = new VersionTwoServer(ShortSends.client())) {
                Future<ByteBuf> call = server.raw.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(5000).writeInt(0));
                VersionTwoServer.Call sent = server.receive();
                var offered = sent.writes().get(0).get(0);
                server.raw.peer.sendHex(sent.xid() + "00000002 00000020" + fromType
                        .replace("XID", sent.xid() + SUCCESS + "00000000 00001388").replace("OFFERED", RawPeer.hex(offered))
                        .replace("LONGER", RawPeer.hex(offered.withLength(offered.length() + 1))));

                assertEquals(Reason.MALFORMED, RawServer.failure(call).reason());
                server.requireAlive();
            }
        }
    }
}
