package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/** A server that may speak version 2, and a client written by hand from version-two-08, sections 4, 5.3.4 and 7. */
@Timeout(120)
class VersionNegotiationServerWireTest {

    private static final String LISTS = " 00000000 00000000 00000000 ";
    private static final String NULL_CALL = CALL + "00000000" + NO_AUTH;
    /** From behind the XID: refused, with the version of the call as it stands, and the one that is spoken. */
    private static final String ERR_VERS_TO_2 = "00000002 00000020 00000004 00000001 00000001 00000001";

    private final BulkProgram program = new BulkProgram(true);
    private RawClient client;

    @AfterEach
    void close() {
        client.close();
    }

    private void start(RpcRdmaBuilder builder) throws Exception {
        client = new RawClient(builder.program(program).binding(BulkProgram.BINDING));
    }

    private void start(VersionPolicy versions) throws Exception {
        start(ShortSends.server().versions(versions));
    }

    private static String call(int version, String xid, String lists, String rpc) {
        return xid + (version == 1 ? "00000001 00000020 00000000" : "00000002 00000020 00000000 00000000 00000000") + lists
                + xid + rpc;
    }

    private static String reply(int version, String xid, String rest) {
        return Bytes.digits(xid + (version == 1 ? "00000001 00000020 00000000"
                : "00000002 00000020 00000000 00000001 00000000") + rest);
    }

    /** What a server tells: a receive buffer size and how much of calls in its own direction it copes with. */
    private static String properties(String bufferBytes, String support) {
        return Bytes.digits("00000000 00000002 00000001 00000005 00000000 00000002 00000001 00000004" + bufferBytes
                + "00000002 00000004" + support);
    }

    private void exchange(int version, String xid) throws Exception {
        client.peer.sendHex(call(version, xid, LISTS, NULL_CALL));
        assertEquals(reply(version, xid, LISTS + xid + SUCCESS), client.peer.receiveHex());
    }

    private void negotiate() throws Exception {
        client.peer.sendHex(call(2, "00000100", LISTS, NULL_CALL));
        assertEquals("00000005", client.peer.receiveHex().substring(24, 32));
        assertEquals(reply(2, "00000100", LISTS + "00000100" + SUCCESS), client.peer.receiveHex());
    }

    @Test
    void shouldTellItsPropertiesAheadOfTheFirstReplyOfVersionTwo() throws Exception {
        start(ShortSends.server().versions(VersionPolicy.PREFER_V2).inlineThresholdBytes(8192));
        client.peer.sendHex(call(2, "00000001", LISTS, NULL_CALL));
        assertEquals(properties("00002000", "00000000"), client.peer.receiveHex());
        assertEquals(reply(2, "00000001", LISTS + "00000001" + SUCCESS), client.peer.receiveHex());
        exchange(2, "00000002");
    }

    @Test
    void shouldAnswerVersionOneInVersionOneAndNoOtherFromThenOn() throws Exception {
        start(VersionPolicy.PREFER_V2);
        exchange(1, "00000001");
        client.peer.sendHex(call(2, "00000002", LISTS, NULL_CALL));
        assertEquals(Bytes.digits("00000002" + ERR_VERS_TO_2), client.peer.receiveHex());
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000000"); // no call, so no answer
        exchange(1, "00000003");
        assertEquals(1, client.server.statistics().get(Counter.VERSION_ERRORS));
        assertEquals(1, client.server.statistics().get(Counter.STRAY_MESSAGES_DROPPED));
    }

    @Test
    void shouldRefuseVersionOneBehindVersionTwo() throws Exception {
        start(VersionPolicy.PREFER_V2);
        negotiate();
        client.peer.sendHex(call(1, "00000002", LISTS, NULL_CALL));
        assertEquals(Bytes.digits("00000002 00000001 00000020 00000004 00000001 00000002 00000002"), client.peer.receiveHex());
        exchange(2, "00000003");
    }

    /** The version comes first, whatever else is wrong: a presence word, properties, a type that is unknown. */
    @Test
    void shouldRefuseAnotherVersionAlsoWhereTheRestCannotBeParsed() throws Exception {
        start(VersionPolicy.PREFER_V2);
        exchange(1, "00000001");
        client.peer.sendHex(call(2, "00000002", "00000000 00000007 00000000 00000000", NULL_CALL));
        assertEquals(Bytes.digits("00000002" + ERR_VERS_TO_2), client.peer.receiveHex());
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000000 00000007"); // no call, so no answer
        client.peer.sendHex("00000007 00000002 00000001 00000063 00000000 00000000");
        exchange(1, "00000003");
        assertEquals(2, client.server.statistics().get(Counter.STRAY_MESSAGES_DROPPED));
        assertEquals(3, client.server.statistics().get(Counter.MALFORMED_MESSAGES));
        assertEquals(1, client.server.statistics().get(Counter.VERSION_ERRORS));
    }

    @Test
    void shouldRefuseVersionOneBehindVersionTwoAlsoWhereTheRestCannotBeParsed() throws Exception {
        start(VersionPolicy.PREFER_V2);
        negotiate();
        client.peer.sendHex(call(1, "00000002", "00000007 00000000 00000000", NULL_CALL));
        assertEquals(Bytes.digits("00000002 00000001 00000020 00000004 00000001 00000002 00000002"), client.peer.receiveHex());
        exchange(2, "00000003");
    }

    @Test
    void shouldAcceptOnlyWhatThePolicySays() throws Exception {
        start(VersionPolicy.V2_ONLY);
        client.peer.sendHex(call(1, "00000001", LISTS, NULL_CALL));
        assertEquals(Bytes.digits("00000001 00000001 00000020 00000004 00000001 00000002 00000002"), client.peer.receiveHex());
        negotiate();
    }

    @Test
    void shouldRefuseVersionTwoByDefault() throws Exception {
        start(ShortSends.server());
        client.peer.sendHex(call(2, "00000002", LISTS, NULL_CALL));
        assertEquals(Bytes.digits("00000002" + ERR_VERS_TO_2), client.peer.receiveHex());
        exchange(1, "00000003");
    }

    @Test
    void shouldTakePropertiesAheadOfTheFirstCall() throws Exception {
        start(VersionPolicy.PREFER_V2);
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000000");
        assertEquals(properties("00001000", "00000000"), client.peer.receiveHex());
        exchange(2, "00000001");
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000002 00000004 00000003",          // Reverse Request Support 3
        "00000001 00000001 00000008 00000000 00001000", // Receive Buffer Size of 8 bytes
        "00000001 00000001 00000100 00001000",          // longer than the message
        "00000002 00000001 00000004 00001000"           // one is missing
    })
    void shouldAnswerPropertiesThatCannotBeParsedAndLeaveTheCreditsAlone(String set) throws Exception {
        start(ShortSends.server().versions(VersionPolicy.V2_ONLY).credits(2));
        client.peer.sendHex(call(2, "00000001", LISTS, NULL_CALL));
        client.peer.receiveHex();
        client.peer.receiveHex();
        client.peer.sendHex(call(2, "00000002", LISTS, CALL + "00000005" + NO_AUTH)); // HANG
        RpcCall hanging = program.hanging.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        for (int i = 0; i < 10; i++) {
            client.peer.sendHex("0000abcd 00000002 00000001 00000005 00000000" + set);
            assertEquals(Bytes.digits("0000abcd 00000002 00000002 00000004 00000001 00000002"), client.peer.receiveHex());
        }
        assertEquals(1, client.server.connections().credits(now -> now.served().inProgress()));
        hanging.arguments().release();
        hanging.reply(Unpooled.EMPTY_BUFFER);
        assertEquals("00000002", client.peer.receiveHex().substring(0, 8));
    }

    @Test
    void shouldNotAnswerWithReadChunksOfTheLegacyProfileInVersionTwo() throws Exception {
        start(ShortSends.server().versions(VersionPolicy.V2_ONLY).legacy(LegacyProfile.DEFAULT));
        negotiate();
        // LOAD of 5000 bytes, and no chunk for them.
        client.peer.sendHex(call(2, "00000002", LISTS, CALL + "00000003" + NO_AUTH + "00001388 00000000"));
        assertEquals("00000004", client.peer.receiveHex().substring(24, 32), "RDMA2_ERROR");
    }

    /** The flags say that it is no reply, so there is nothing that an answer could harm (version-two-08, section 5.3.3). */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldAnswerShortMessagesThatItCannotParseAlsoWhereCallsGoBothWays(boolean reverse) throws Exception {
        RpcRdmaBuilder builder = ShortSends.server().versions(VersionPolicy.V2_ONLY);
        start(reverse ? builder.reverse(4) : builder);
        client.peer.sendHex("0000abcd 00000002 00000020 00000000 00000000"); // RDMA2_MSG without lists
        assertEquals(Bytes.digits("0000abcd 00000002 00000020 00000004 00000001 00000002"), client.peer.receiveHex());
        client.peer.sendHex("0000abce 00000002 00000020 00000063 00000000"); // type 99
        assertEquals(Bytes.digits("0000abce 00000002 00000020 00000004 00000001 00000003"), client.peer.receiveHex());
    }

    @Test
    void shouldTakeAnyNumberOfProperties() throws Exception {
        start(ShortSends.server().versions(VersionPolicy.V2_ONLY).credits(1));
        for (int i = 0; i < 100; i++) {
            client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000000");
        }
        client.peer.receiveHex(); // the server's
        client.peer.sendHex(call(2, "00000002", LISTS, NULL_CALL));
        assertEquals(Bytes.digits("00000002 00000002 00000001 00000000 00000001 00000000" + LISTS + "00000002" + SUCCESS),
                client.peer.receiveHex());
    }

    @Test
    void shouldUseTheReceiveBufferSizeOfTheClient() throws Exception {
        start(ShortSends.server().versions(VersionPolicy.V2_ONLY).inlineThresholdBytes(16384));
        negotiate();
        ByteBuf memory = client.peer.registered(new byte[10_000]);
        try {
            RemoteSegment segment = client.writable(memory, 0, 10_000);
            String chunk = "00000000 00000000" + RawClient.chunk(segment);
            String load = CALL + "00000003" + NO_AUTH + "00001388 00000000"; // LOAD of 5000 bytes
            client.peer.sendHex(call(2, "00000002", chunk, load));
            assertEquals("00000001", client.peer.receiveHex().substring(24, 32), "RDMA2_NOMSG, as 4096 bytes hold");
            client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000001 00000004 00002000");
            client.peer.sendHex(call(2, "00000003", chunk, load));
            assertEquals("00000000", client.peer.receiveHex().substring(24, 32), "RDMA2_MSG, as 8192 bytes do");
        } finally {
            memory.release();
        }
    }

    /** 56 bytes are RDMA2_NOMSG with a Reply chunk of one segment. */
    @ParameterizedTest
    @ValueSource(strings = {"00000000", "00000001", "00000014", "00000037"})
    void shouldAnswerReceiveBufferSizeThatNothingFitsIntoAndEnd(String bytes) throws Exception {
        start(VersionPolicy.V2_ONLY);
        negotiate();
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000001 00000004" + bytes);
        assertEquals(Bytes.digits("00000007 00000002 00000020 00000004 00000001 00000002"), client.peer.receiveHex());
        client.peer.awaitClose();
        assertEquals(1, client.server.statistics().get(Counter.CHUNK_ERRORS));
    }

    @Test
    void shouldAnswerReceiveBufferSizeThatNothingFitsIntoAlsoAsTheFirstMessage() throws Exception {
        start(VersionPolicy.PREFER_V2);
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000001 00000004 00000000");
        assertEquals("00000005", client.peer.receiveHex().substring(24, 32));
        assertEquals(Bytes.digits("00000007 00000002 00000001 00000004 00000001 00000002"), client.peer.receiveHex());
        client.peer.awaitClose();
    }

    @Test
    void shouldServeClientWhoseReceivesTakeTheShortestReply() throws Exception {
        start(VersionPolicy.V2_ONLY);
        negotiate();
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000001 00000004 0000003c");
        exchange(2, "00000002");
    }

    /** What calls the client. */
    private RpcClient callerOf() throws Exception {
        client.peer.sendHex(call(2, "00000200", LISTS, CALL + "00000005" + NO_AUTH));
        RpcCall call = program.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
        assertEquals("00000200", client.peer.receiveHex().substring(0, 8));
        return call.channel().pipeline().get(RpcClient.class);
    }

    private static Future<ByteBuf> echo(RpcClient caller, int length) {
        return caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[length])));
    }

    private static void assertFails(Reason reason, Future<ByteBuf> call) throws Exception {
        assertSame(reason, assertInstanceOf(RpcRdmaException.class, RpcRdmaPair.failure(call).getCause()).reason());
    }

    @Test
    void shouldCallTheClientWithoutChunksUnlessItAllowsThem() throws Exception {
        start(ShortSends.server().versions(VersionPolicy.V2_ONLY).reverse(4));
        negotiate();
        RpcClient caller = callerOf();
        assertFails(Reason.TOO_LARGE, echo(caller, 5000)); // INLINE is the default
        Future<ByteBuf> small = echo(caller, 8);
        String sent = client.peer.receiveHex();
        String xid = sent.substring(0, 8);
        assertEquals(Bytes.digits("00000002 00000004 00000000 00000000 00000000" + LISTS + xid), sent.substring(8, 80));
        client.peer.sendHex(xid + "00000002 00000004 00000000 00000001 00000000" + LISTS + xid + SUCCESS + "00000000");
        RpcRdmaPair.result(small).release();

        tellSupport("00000000");
        assertFails(Reason.UNSUPPORTED, echo(caller, 8));

        tellSupport("00000002");
        Future<ByteBuf> large = echo(caller, 5000);
        sent = client.peer.receiveHex();
        assertEquals("00000001", sent.substring(24, 32), "RDMA2_NOMSG");
        assertEquals("00000001" + "00000000", sent.substring(48, 64), "a Position Zero Read chunk");
        xid = sent.substring(0, 8);
        client.peer.sendHex(xid + "00000002 00000004 00000000 00000001 00000000" + LISTS + xid + SUCCESS + "00000000");
        RpcRdmaPair.result(large).release();
    }

    private void tellSupport(String support) throws Exception {
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000002 00000004" + support);
        exchange(2, "00000300"); // behind it
    }

    @Test
    void shouldHoldItsCallsBackUntilTheVersionIsKnown() throws Exception {
        client = new RawClient(ShortSends.server().versions(VersionPolicy.PREFER_V2).reverse(4).handlers(
                pipeline -> pipeline.addLast(new RpcClient(), new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelActive(ChannelHandlerContext ctx) {
                        echo(ctx.pipeline().get(RpcClient.class), 8);
                    }
                })));
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000000");
        assertEquals(properties("00001000", "00000002").replaceFirst("0000000200000001", "0000000200000004"),
                client.peer.receiveHex());
        String sent = client.peer.receiveHex();
        assertEquals(Bytes.digits("00000002 00000004 00000000 00000000 00000000" + LISTS), sent.substring(8, 72));
    }
}
