package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;
import static org.nettyrdma.codec.rpcrdma.RawClient.chunk;
import static org.nettyrdma.codec.rpcrdma.RawClient.entry;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.ExposedMemory;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer.Call;

/**
 * Our client of version 2, which is called by a server that is written by hand, and may be hostile, from version-two-08, sections
 * 3, 4.2.2, 5.3 and 8.4.1. The layout of chunks is that of forward calls.
 */
@Timeout(120)
class ReverseResponderVersionTwoWireTest {

    static final int REVERSE_CREDITS = 4;
    static final String LISTS = " 00000000 00000000 00000000 ";
    static final String NULL = "00000000" + NO_AUTH;
    static final String ECHO = "00000001" + NO_AUTH;
    static final String STORE = "00000002" + NO_AUTH;
    static final String LOAD = "00000003" + NO_AUTH;
    static final String HANG = "00000005" + NO_AUTH;
    static final String MSG = "00000000";
    static final String NOMSG = "00000001";

    /** A call from the XID on; asks for two credits. */
    static String call(String xid, String type, String named, String rest) {
        return xid + "00000002 00000002" + type + "00000000" + named + rest;
    }

    static String call(String xid, String procedure) {
        return call(xid, MSG, "00000000", LISTS + xid + CALL + procedure);
    }

    /** A reply from the XID on. */
    static String reply(String xid, String credits, String type, String rest) {
        return Bytes.digits(xid + "00000002" + credits + type + "00000001 00000000" + rest);
    }

    static String reply(String xid, String rest) {
        return reply(xid, "00000002", MSG, LISTS + xid + rest);
    }

    static String error(String xid, String credits, String codeAndBody) {
        return Bytes.digits(xid + "00000002" + credits + "00000004 00000001" + codeAndBody);
    }

    static void dropHanging(BulkProgram program) {
        for (RpcCall call = program.hanging.poll(); call != null; call = program.hanging.poll()) {
            call.arguments().release();
        }
    }

    static void assertFails(Reason reason, Future<ByteBuf> call) throws Exception {
        assertSame(reason, assertInstanceOf(RpcRdmaException.class, RpcRdmaPair.failure(call).getCause()).reason());
    }

    private final BulkProgram program = new BulkProgram(true);
    private final List<ByteBuf> exposed = new ArrayList<>();
    private VersionTwoServer server;
    private RawPeer peer;

    private void connect(RpcRdmaBuilder builder) throws Exception {
        server = new VersionTwoServer(builder);
        peer = server.raw.peer;
    }

    private void connect() throws Exception {
        connect(ShortSends.client().reverse(REVERSE_CREDITS).program(program));
    }

    @AfterEach
    void disconnect() {
        dropHanging(program);
        if (server != null) {
            server.close();
        }
        exposed.forEach(ByteBuf::release);
    }

    private void exchange(String sent, String answer) throws Exception {
        peer.sendHex(sent);
        assertEquals(Bytes.digits(answer), peer.receiveHex());
    }

    private ExposedMemory readable(byte[] bytes) throws Exception {
        ByteBuf memory = registered(bytes);
        return peer.expose(memory, 0, bytes.length, RemoteAccess.READ);
    }

    private ByteBuf memory(int length) {
        return registered(new byte[length]);
    }

    private ByteBuf registered(byte[] bytes) {
        ByteBuf memory = peer.registered(bytes);
        exposed.add(memory);
        return memory;
    }

    private RemoteSegment writable(ByteBuf memory) throws Exception {
        return peer.expose(memory, 0, memory.readableBytes(), RemoteAccess.WRITE).segment();
    }

    @Test
    void shouldFetchArgumentAndInvalidateItsHandle() throws Exception {
        connect();
        byte[] data = Bytes.pattern(5000, 3);
        ExposedMemory argument = readable(data);
        RemoteSegment segment = argument.segment();
        // 40 bytes of call header, mark, length: the argument belongs at 48
        exchange(call("0000cafe", MSG, String.format("%08x", segment.steeringTag()),
                        entry(48, segment) + LISTS + "0000cafe" + CALL + STORE + "0000abcd 00001388 0000abce"),
                reply("0000cafe", SUCCESS + "00001388" + String.format("%08x", BulkProgram.sum(Unpooled.wrappedBuffer(data)))
                        + "0000abce"));
        assertTrue(argument.isInvalidated());
    }

    @Test
    void shouldFetchWholeCall() throws Exception {
        connect();
        ByteBuf whole = Bytes.hex("0000cafe" + CALL + ECHO + "11223344");
        RemoteSegment segment = readable(ByteBufUtil.getBytes(whole)).segment();
        exchange(call("0000cafe", NOMSG, "00000000", entry(0, segment) + LISTS),
                reply("0000cafe", SUCCESS + "11223344"));
    }

    @Test
    void shouldPlaceResultIntoWriteChunk() throws Exception {
        connect();
        ByteBuf memory = memory(6000);
        RemoteSegment segment = writable(memory);
        exchange(call("0000cafe", MSG, "00000000",
                        "00000000" + chunk(segment) + "00000000 00000000" + "0000cafe" + CALL + LOAD + "00001388 00000000"),
                reply("0000cafe", "00000002", MSG, "00000000" + chunk(segment.withLength(5000)) + "00000000 00000000"
                        + "0000cafe" + SUCCESS + "00000000 00001388"));
        assertArrayEquals(Bytes.pattern(5000, 2), ByteBufUtil.getBytes(memory, 0, 5000));
    }

    @Test
    void shouldPlaceWholeReplyIntoReplyChunk() throws Exception {
        connect();
        ByteBuf memory = memory(6000);
        RemoteSegment segment = writable(memory);
        exchange(call("0000cafe", MSG, "00000000",
                        "00000000 00000000" + chunk(segment) + "0000cafe" + CALL + LOAD + "00001388 00000000"),
                reply("0000cafe", "00000002", NOMSG, "00000000 00000000" + chunk(segment.withLength(24 + 8 + 5000))));
        assertEquals(Bytes.digits("0000cafe" + SUCCESS + "00000000 00001388"), ByteBufUtil.hexDump(memory, 0, 32));
        assertArrayEquals(Bytes.pattern(5000, 2), ByteBufUtil.getBytes(memory, 32, 5000));
    }

    @Test
    void shouldSayWhatAReplyNeedsThatDoesNotFit() throws Exception {
        connect();
        String arguments = CALL + LOAD + "00001388 00000000";
        exchange(call("0000cafe", MSG, "00000000", LISTS + "0000cafe" + arguments),
                error("0000cafe", "00000002", "00000008" + "000013a8"));
        RemoteSegment small = writable(memory(1000));
        exchange(call("0000caff", MSG, "00000000", "00000000 00000000" + chunk(small) + "0000caff" + arguments),
                error("0000caff", "00000002", "00000008" + "000013a8"));
        exchange(call("0000cafd", MSG, "00000000", "00000000" + chunk(small) + "00000000 00000000" + "0000cafd" + arguments),
                error("0000cafd", "00000002", "00000007 00000001" + "00001388"));
        exchange(call("0000cafc", NULL), reply("0000cafc", SUCCESS));
        server.requireAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000000 00000000 00000000 00000000",                                     // no Position Zero Read chunk
        "00000000 00000007 00000000 00000000 00000000",                            // a list that is none
    })
    void shouldRefuseWholeCallThatIsNowhere(String rest) throws Exception {
        connect();
        exchange("0000cafe 00000002 00000002" + NOMSG + "00000000" + rest, error("0000cafe", "00000002", "00000002"));
        server.requireAlive();
    }

    /** What the memory of the server holds is a reply, and has the XID of a call of the client. */
    @Test
    void shouldRefuseWholeCallThatIsAReply() throws Exception {
        connect();
        Future<ByteBuf> forward = server.raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.receive().xid();
        RemoteSegment segment = readable(ByteBufUtil.getBytes(Bytes.hex(xid + SUCCESS))).segment();
        exchange(call(xid, NOMSG, "00000000", entry(0, segment) + LISTS), error(xid, "00000002", "00000002"));
        assertFalse(forward.isDone());
        peer.sendHex(xid + VersionTwoServer.plainReply(xid));
        RpcRdmaPair.result(forward).release();
    }

    @Test
    void shouldKeepCallsWithChunksOfBothDirectionsApartUnderOneXid() throws Exception {
        connect();
        Future<ByteBuf> forward = server.raw.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD,
                Unpooled.buffer().writeInt(5000).writeInt(0)));
        Call sent = server.receive();
        String xid = sent.xid();
        ByteBuf memory = memory(6000);
        RemoteSegment segment = writable(memory);
        exchange(call(xid, MSG, "00000000",
                        "00000000" + chunk(segment) + "00000000 00000000" + xid + CALL + LOAD + "00001388 00000000"),
                reply(xid, "00000002", MSG, "00000000" + chunk(segment.withLength(5000)) + "00000000 00000000"
                        + xid + SUCCESS + "00000000 00001388"));
        assertFalse(forward.isDone());
        peer.sendHex(xid + sent.emptyReply());
        RpcRdmaPair.result(forward).release();
    }

    @Test
    void shouldAnswerBothCallsUnderOneXid() throws Exception {
        connect();
        peer.sendHex(call("0000cafe", NULL));
        peer.receive().release(); // grants two
        peer.sendHex(call("0000cafe", HANG));
        ByteBuf memory = memory(6000);
        RemoteSegment segment = writable(memory);
        peer.sendHex(call("0000cafe", MSG, "00000000", "00000000 00000000" + chunk(segment) + "0000cafe" + CALL + HANG));
        RpcCall first = program.takeHanging();
        RpcCall second = program.takeHanging();
        first.reply(Unpooled.EMPTY_BUFFER);
        assertEquals(reply("0000cafe", SUCCESS), peer.receiveHex());
        second.reply(Unpooled.buffer().writeZero(5000));
        assertEquals(reply("0000cafe", "00000002", NOMSG, "00000000 00000000" + chunk(segment.withLength(5024))),
                peer.receiveHex());
        server.requireAlive();
    }

    @ParameterizedTest
    @CsvSource({"00000000,00000001", "00000002,00000002", "00000040,00000004", "ffffffff,00000004"})
    void shouldGrantFromItsOwnWindow(String wanted, String granted) throws Exception {
        connect();
        peer.sendHex("0000cafe 00000002" + wanted + MSG + "00000000 00000000" + LISTS + "0000cafe" + CALL + NULL);
        assertEquals(reply("0000cafe", granted, MSG, LISTS + "0000cafe" + SUCCESS), peer.receiveHex());
    }

    @Test
    void shouldEndConnectionOfServerThatExceedsItsCreditsWithFetches() throws Exception {
        connect();
        RemoteSegment segment = readable(ByteBufUtil.getBytes(Bytes.hex("0000cafe" + CALL + HANG))).segment();
        for (int i = 0; i < 2; i++) { // nothing was granted yet
            peer.channel().writeAndFlush(Bytes.hex(call("0000cafe", NOMSG, "00000000", entry(0, segment) + LISTS)));
        }
        peer.awaitClose();
    }

    @Test
    void shouldServeAheadOfTheFirstReply() throws Exception {
        try (RawServer raw = new RawServer(ShortSends.client().versions(VersionPolicy.PREFER_V2).reverse(REVERSE_CREDITS)
                .program(program).binding(BulkProgram.BINDING))) {
            Future<ByteBuf> first = raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = raw.peer.receiveHex().substring(0, 8);
            Future<ByteBuf> second = raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            raw.peer.sendHex(call("0000cafe", NULL));
            assertEquals(reply("0000cafe", SUCCESS), raw.peer.receiveHex());
            raw.peer.sendHex(xid + VersionTwoServer.plainReply(xid));
            assertEquals("00000005", raw.peer.receiveHex().substring(24, 32), "RDMA2_CONNPROP");
            xid = raw.peer.receiveHex().substring(0, 8);
            raw.peer.sendHex(xid + VersionTwoServer.plainReply(xid));
            RpcRdmaPair.result(first).release();
            RpcRdmaPair.result(second).release();
        }
    }

    /** Also where the call comes ahead of the properties, which say NONE. */
    @ParameterizedTest
    @ValueSource(strings = {MSG + "00000000 00000000" + LISTS, NOMSG + "00000000 00000000" + LISTS})
    void shouldRefuseCallWhereThatDirectionIsOff(String header) throws Exception {
        connect(ShortSends.client());
        Future<ByteBuf> forward = server.raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.receive().xid();
        exchange(xid + "00000002 00000002" + header + (header.startsWith(NOMSG) ? "" : xid + CALL + NULL),
                error(xid, "00000001", "00000009"));
        assertFalse(forward.isDone());
        peer.sendHex(xid + VersionTwoServer.plainReply(xid));
        RpcRdmaPair.result(forward).release();
        assertEquals(1, server.raw.client.statistics().get(Counter.STRAY_MESSAGES_DROPPED));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000007 00000002 00000000 00000005 00000000 00000001 00000001 00000004 00001000",
        "00000007 00000002 ffffffff 00000005 00000001 00000001 00000002 00000004 00000000", // as an answer; NONE
    })
    void shouldTakePropertiesWhileCallsOfBothDirectionsAreOut(String properties) throws Exception {
        connect();
        Future<ByteBuf> forward = server.raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.receive().xid();
        peer.sendHex(call("00000007", HANG));
        RpcCall reverse = program.takeHanging();
        peer.sendHex(properties);
        reverse.reply(Unpooled.EMPTY_BUFFER);
        assertEquals(reply("00000007", SUCCESS), peer.receiveHex());
        peer.sendHex(xid + VersionTwoServer.plainReply(xid));
        RpcRdmaPair.result(forward).release();
    }

    @Test
    void shouldFailTheForwardCallOfACallThatIsFlaggedAsReply() throws Exception {
        connect();
        Future<ByteBuf> forward = server.raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.receive().xid();
        peer.sendHex(xid + "00000002 00000020 00000000 00000001 00000000" + LISTS + xid + CALL + NULL);
        assertFails(Reason.MALFORMED, forward);
        server.requireAlive();
    }

    @Test
    void shouldRefuseReplyThatIsFlaggedAsCall() throws Exception {
        connect();
        Future<ByteBuf> forward = server.raw.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.receive().xid();
        exchange(xid + "00000002 00000002 00000000 00000000 00000000" + LISTS + xid + SUCCESS,
                error(xid, "00000002", "00000002"));
        peer.sendHex(xid + VersionTwoServer.plainReply(xid));
        RpcRdmaPair.result(forward).release();
    }
}
