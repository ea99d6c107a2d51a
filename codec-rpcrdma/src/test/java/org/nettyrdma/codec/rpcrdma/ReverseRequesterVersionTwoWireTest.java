package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;
import static org.nettyrdma.codec.rpcrdma.RawClient.chunk;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.HANG;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.LISTS;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.LOAD;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.MSG;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.NULL;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.REVERSE_CREDITS;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.assertFails;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.call;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.dropHanging;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.error;
import static org.nettyrdma.codec.rpcrdma.ReverseResponderVersionTwoWireTest.reply;

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
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.VersionTwoServer.Call;
import org.nettyrdma.codec.rpcrdma.format.HeaderDigits;

/**
 * Our server of version 2, which calls a client that is written by hand, and may be hostile, from version-two-08, sections 3,
 * 4.2.2, 5.3 and 8.4.1.
 */
@Timeout(120)
class ReverseRequesterVersionTwoWireTest {

    private final BulkProgram program = new BulkProgram(true);
    private RawClient client;
    private RpcClient caller;

    private void connect() throws Exception {
        connect(ShortSends.server());
    }

    private void connect(RpcRdmaBuilder builder) throws Exception {
        client = new RawClient(builder.versions(VersionPolicy.V2_ONLY).reverse(REVERSE_CREDITS)
                .program(program).binding(BulkProgram.BINDING));
        client.peer.sendHex(call("00000100", HANG));
        RpcCall call = program.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
        assertEquals("00000005", client.peer.receiveHex().substring(24, 32), "RDMA2_CONNPROP");
        client.peer.receive().release();
        tellSupport("00000002");
        caller = call.channel().pipeline().get(RpcClient.class);
    }

    private void tellSupport(String support) throws Exception {
        client.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000001 00000002 00000004" + support);
        requireNothingElseWasSent();
    }

    /** A forward call would be answered behind whatever else had been sent. */
    private void requireNothingElseWasSent() throws Exception {
        client.peer.sendHex(call("00000200", NULL));
        assertEquals(reply("00000200", SUCCESS), client.peer.receiveHex());
    }

    @AfterEach
    void disconnect() {
        dropHanging(program);
        client.close();
    }

    private Future<ByteBuf> start(int procedure, ByteBuf arguments) {
        return caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
    }

    private Future<ByteBuf> startNull() {
        return start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
    }

    private Future<ByteBuf> startLoad(int length) {
        return start(BulkProgram.LOAD, Unpooled.buffer().writeInt(length).writeInt(0));
    }

    private Call receive() throws Exception {
        ByteBuf sent = client.peer.receive();
        try {
            return Call.parse(sent, HeaderDigits.TWO);
        } finally {
            sent.release();
        }
    }

    private void answer(Call call, String credits) throws Exception {
        client.peer.sendHex(reply(call.xid(), credits, MSG, LISTS + call.xid() + SUCCESS));
    }

    @Test
    void shouldOfferWriteChunkAndTakeWhatIsPlaced() throws Exception {
        connect();
        Future<ByteBuf> load = startLoad(5000);
        String sent = client.peer.receiveHex();
        String xid = sent.substring(0, 8);
        String handle = sent.substring(72, 80);
        assertEquals(Bytes.digits(xid + "00000002 00000004 00000000 00000000" + handle
                + "00000000 00000001 00000001" + handle + "00001388" + sent.substring(88, 104) + "00000000 00000000"
                + xid + CALL + LOAD + "00001388 00000000"), sent);
        RemoteSegment segment = RawServer.segmentAt(Bytes.hex(sent), 36);
        client.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(5000, 2)), segment));
        client.peer.send(new RdmaSend(Bytes.hex(reply(xid, "00000002", MSG, "00000000" + chunk(segment)
                + "00000000 00000000" + xid + SUCCESS + "00000000 00001388")), segment.steeringTag()));
        ByteBuf result = RpcRdmaPair.result(load);
        assertArrayEquals(Bytes.pattern(5000, 2), ByteBufUtil.getBytes(result, result.readerIndex() + 8, 5000));
        result.release();
        requireNothingElseWasSent();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000000 %h 00001388 %o 00000000 00000001 00000001 %h 00001388 %o 00000000 00000000 %s", // to be read
        "00000000 00000001 00000001 %h 00001389 %o 00000000 00000000 %s",              // more than was offered
        "00000000 00000001 00000001 %h 00001388 %o 00000001 00000001 %h 00001388 %o 00000000 00000000 %s", // one more
        "00000000 00000001 00000001 %h 00001388 %o 00000000 00000001 00000001 %h 00001388 %o %s", // a Reply chunk
        "00000000 00000001 00000001 %h 00001388 %o 00000000 00000000 %x 00000000",     // a call, and no reply
        "00000000 00000001 00000001 %h 00001388 %o 00000000 00000000 0000dead" + SUCCESS + "00000000 00001388",
        "00000000 00000001 00000001 %h 00001388 %o 00000000 00000000",                 // nothing
    })
    void shouldFailCallWhoseReplyReturnsOtherChunks(String rest) throws Exception {
        connect();
        Future<ByteBuf> load = startLoad(5000);
        Call call = receive();
        RemoteSegment segment = call.writes().get(0).get(0);
        client.peer.sendHex(reply(call.xid(), "00000004", MSG, rest.replace("%s", call.xid() + SUCCESS + "00000000 00001388")
                .replace("%h", String.format("%08x", segment.steeringTag())).replace("%o",
                        String.format("%016x", segment.offset())).replace("%x", call.xid())));
        assertFails(Reason.MALFORMED, load);
        requireAlive();
    }

    /** The memory of the call is closed and given back, and the next call is answered. */
    private void requireAlive() throws Exception {
        Future<ByteBuf> next = startNull();
        answer(receive(), "00000002");
        RpcRdmaPair.result(next).release();
        requireNothingElseWasSent();
        assertEquals(0, client.usedBytes());
    }

    @Test
    void shouldDropSecondReplyAndItsCredits() throws Exception {
        connect();
        Future<ByteBuf> first = startNull();
        Future<ByteBuf> second = startNull();
        Future<ByteBuf> third = startNull();
        Call call = receive();
        answer(call, "00000001");
        answer(call, "00000004");
        RpcRdmaPair.result(first).release();
        call = receive();
        requireNothingElseWasSent(); // one credit
        answer(call, "00000001");
        RpcRdmaPair.result(second).release();
        answer(receive(), "00000001");
        RpcRdmaPair.result(third).release();
        assertEquals(1, client.server.statistics().get(Counter.UNKNOWN_REPLIES_DROPPED));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000001 00000001", // ERR_VERS
        "00000002", "00000003", "00000009", "0000004d",
        "00000005 00000000",
    })
    void shouldEndCallThatIsRefused(String error) throws Exception {
        connect();
        Future<ByteBuf> call = startNull();
        client.peer.sendHex(error(receive().xid(), "ffffffff", error));
        assertFails(Reason.REFUSED, call);
        requireAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00000004", "00000007 00000000", "00000002 00000000 00000000"})
    void shouldEndCallWhoseErrorIsMalformed(String error) throws Exception {
        connect();
        Future<ByteBuf> call = startNull();
        client.peer.sendHex(error(receive().xid(), "ffffffff", error));
        assertFails(Reason.MALFORMED, call);
        requireAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000007 00000001 00002710", "00000008 00002710"})
    void shouldSendOnceMoreWithWhatTheReplyNeeds(String error) throws Exception {
        connect();
        Future<ByteBuf> load = startLoad(5000);
        Call call = receive();
        client.peer.sendHex(error(call.xid(), "00000000", error));
        Call again = receive();
        assertEquals(call.xid(), again.xid());
        client.peer.sendHex(error(call.xid(), "00000000", error));
        assertFails(Reason.REFUSED, load);
        requireAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000007 00000001 ffffffff", "00000007 ffffffff 00000001", "00000007 00000000 00002710",
        "00000007 00000000 00000000", "00000008 ffffffff", "00000008 00000000"})
    void shouldEndCallWhoseReplyNeedsWhatNobodyHas(String error) throws Exception {
        connect();
        Future<ByteBuf> load = startLoad(5000);
        client.peer.sendHex(error(receive().xid(), "00000000", error));
        assertFails(Reason.REFUSED, load);
        requireAlive();
    }

    @Test
    void shouldNotSendAgainToClientThatHasWithdrawnItsSupport() throws Exception {
        connect();
        Future<ByteBuf> load = startLoad(5000);
        Call call = receive();
        tellSupport("00000000");
        client.peer.sendHex(error(call.xid(), "00000000", "00000007 00000001 00002710"));
        assertFails(Reason.REFUSED, load);
        assertFails(Reason.UNSUPPORTED, startNull());
        tellSupport("00000002");
        requireAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000000", "00000001"})
    void shouldKeepWithinCreditsThatAreWithdrawn(String fewer) throws Exception {
        connect();
        Future<ByteBuf> first = startNull();
        answer(receive(), "00000004");
        RpcRdmaPair.result(first).release();
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(startNull());
        }
        List<Call> sent = List.of(receive(), receive(), receive(), receive());
        for (Call call : sent.subList(0, 3)) {
            answer(call, fewer);
        }
        requireNothingElseWasSent();
        answer(sent.get(3), fewer);
        Call fifth = receive();
        requireNothingElseWasSent();
        client.peer.sendHex(error(fifth.xid(), "ffffffff", "00000009")); // grants nothing, and gives its credit back
        Call sixth = receive();
        requireNothingElseWasSent();
        answer(sixth, "ffffffff");
        assertFails(Reason.REFUSED, calls.remove(4));
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.result(call).release();
        }
    }

    /** A peer could hold a connection for ever by one call that it does not answer. */
    @Test
    void shouldEndIdleConnectionOfClientThatOwesAReplyThatNobodyWaitsFor() throws Exception {
        connect(ShortSends.server().idleTimeoutMillis(1000));
        Future<ByteBuf> first = startNull();
        answer(receive(), "00000004"); // more than are lost
        RpcRdmaPair.result(first).release();
        Future<ByteBuf> lost = caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER)
                .setTimeoutMillis(50));
        assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(lost));
        client.peer.awaitClose();
    }

    @Test
    void shouldEndConnectionWhenForwardCallInvalidatesHandleOfReverseCall() throws Exception {
        connect();
        Future<ByteBuf> load = startLoad(5000);
        Call call = receive();
        client.peer.channel().writeAndFlush(new RdmaSend(Bytes.hex(call("00000300", NULL)), call.named()));
        client.peer.sendHex(call.xid() + call.emptyReply());
        RpcRdmaPair.failure(load);
        client.peer.awaitClose();
        assertEquals(0, client.usedBytes());
    }

    @Test
    void shouldFailCallOfACallThatIsFlaggedAsReply() throws Exception {
        connect();
        Future<ByteBuf> call = startNull();
        String xid = receive().xid();
        client.peer.sendHex(reply(xid, "00000002", MSG, LISTS + xid + CALL + NULL));
        assertFails(Reason.MALFORMED, call);
        requireAlive();
    }

    @Test
    void shouldAnswerReplyThatIsFlaggedAsCallAndWaitOn() throws Exception {
        connect();
        Future<ByteBuf> call = startNull();
        String xid = receive().xid();
        client.peer.sendHex(call(xid, MSG, "00000000", LISTS + xid + SUCCESS));
        assertEquals(error(xid, "00000002", "00000002"), client.peer.receiveHex());
        assertFalse(call.isDone());
        client.peer.sendHex(reply(xid, SUCCESS));
        RpcRdmaPair.result(call).release();
    }
}
