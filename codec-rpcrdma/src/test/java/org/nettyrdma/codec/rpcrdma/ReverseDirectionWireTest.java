package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaServerChannel;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;

/** Calls from server to client, byte for byte as the peer sees and writes them. */
@Timeout(120)
class ReverseDirectionWireTest {

    private static final int REVERSE_CREDITS = 16;
    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    /** From behind the XID on: a call of version 1 of the bulk program without credentials, before the procedure. */
    private static final String CALL = " 00000000 00000002 20000099 00000001 ";
    private static final String NO_AUTH = " 00000000 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    private static final String SYSTEM_ERR = " 00000001 00000000 00000000 00000000 00000005 ";
    private static final String NULL = "00000000";
    private static final String ECHO = "00000001";
    private static final String HANG = "00000005";

    private final BulkProgram program = new BulkProgram(true);
    private Channel listener;
    private RawPeer peer;
    /** Our end. */
    private RdmaChannel channel;
    private RpcRdma rpcRdma;

    @AfterEach
    void disconnect() {
        for (RpcCall call = program.hanging.poll(); call != null; call = program.hanging.poll()) {
            call.arguments().release();
        }
        peer.close();
        if (channel != null) {
            channel.close().syncUninterruptibly();
        }
        listener.close().syncUninterruptibly();
    }

    /** Our client, the peer is a server. */
    private void client(RpcRdmaBuilder builder, String peersPrivateData) throws Exception {
        BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
        listener = RawPeer.listen(peersPrivateData, accepted);
        rpcRdma = builder.build();
        channel = (RdmaChannel) rpcRdma.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
        peer = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private void client() throws Exception {
        client(ShortSends.client().reverse(REVERSE_CREDITS).program(program), RawPeer.LINUX_CLIENT);
    }

    /** Our server, the peer is a client; returns what calls the peer. */
    private RpcClient server(String peersPrivateData) throws Exception {
        rpcRdma = ShortSends.server().program(program).reverse(REVERSE_CREDITS).build();
        listener = rpcRdma.configure(new ServerBootstrap().group(RawPeer.GROUP).channel(RdmaServerChannel.class))
                .bind(RawPeer.loopback()).sync().channel();
        peer = RawPeer.connect(listener, peersPrivateData);
        peer.sendHex("00000001 00000001 00000020 00000000" + NO_CHUNKS + "00000001" + CALL + HANG + NO_AUTH);
        RpcCall call = program.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
        peer.receive().release();
        return call.channel().pipeline().get(RpcClient.class);
    }

    private static Future<ByteBuf> call(RpcClient client, int procedure, ByteBuf arguments) {
        return client.call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
    }

    private static Future<ByteBuf> call(RpcClient client) {
        return call(client, BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
    }

    private static String reverseCall(String xid, String credits, String procedure) {
        return xid + "00000001" + credits + "00000000" + NO_CHUNKS + xid + CALL + procedure + NO_AUTH;
    }

    private static String reply(String xid, String credits, String status) {
        return xid + "00000001" + credits + "00000000" + NO_CHUNKS + xid + status;
    }

    /** The XID of the next message. */
    private String receiveXid() throws Exception {
        return peer.receiveHex().substring(0, 8);
    }

    @ParameterizedTest
    @CsvSource({"00000000,00000001", "00000002,00000002", "00000040,00000010", "ffffffff,00000010"})
    void shouldAnswerReverseCallAndGrantFromItsOwnWindow(String wanted, String granted) throws Exception {
        client();
        peer.sendHex(reverseCall("0000cafe", wanted, NULL));

        assertEquals(digits(reply("0000cafe", granted, SUCCESS)), peer.receiveHex());
        assertEquals(1, rpcRdma.statistics().get(Counter.REVERSE_CALLS));
        assertEquals(1, rpcRdma.statistics().get(Counter.REVERSE_REPLIES));
    }

    @Test
    void shouldKeepXidsOfBothDirectionsApartAtTheClient() throws Exception {
        client();
        Future<ByteBuf> forward = call(channel.pipeline().get(RpcClient.class));
        String xid = receiveXid();

        peer.sendHex(reverseCall(xid, "00000002", NULL));
        assertEquals(digits(reply(xid, "00000002", SUCCESS)), peer.receiveHex());
        peer.sendHex(reply(xid, "00000040", SUCCESS));
        RpcRdmaPair.result(forward).release();
    }

    @Test
    void shouldRefuseReverseCallWithChunks() throws Exception {
        client();
        peer.sendHex("0000cafe 00000001 00000002 00000000 00000000"
                + "00000001 00000001 00001111 00000010 0000000000000000 00000000 00000000"
                + "0000cafe" + CALL + NULL + NO_AUTH);

        assertEquals(digits("0000cafe 00000001 00000002 00000004 00000002"), peer.receiveHex());
    }

    /** It does not say that it is a call, but no reply has a Position Zero Read chunk. */
    @Test
    void shouldRefuseLongReverseCallAndLeaveTheForwardCallOfItsXidAlone() throws Exception {
        client();
        Future<ByteBuf> forward = call(channel.pipeline().get(RpcClient.class));
        String xid = receiveXid();
        peer.sendHex(xid + "00000001 00000002 00000001"
                + "00000001 00000000 00001111 00000028 0000000000000000 00000000 00000000 00000000");
        assertEquals(xid + digits("00000001 00000002 00000004 00000002"), peer.receiveHex());
        peer.sendHex(reply(xid, "00000040", SUCCESS));
        RpcRdmaPair.result(forward).release();
    }

    @Test
    void shouldRefuseReverseCallWhereThatDirectionIsOff() throws Exception {
        client(ShortSends.client(), RawPeer.LINUX_CLIENT);
        Future<ByteBuf> forward = call(channel.pipeline().get(RpcClient.class));
        String xid = receiveXid();
        peer.sendHex(reverseCall(xid, "00000002", NULL));
        assertEquals(xid + digits("00000001 00000001 00000004 00000002"), peer.receiveHex());
        peer.sendHex(reply(xid, "00000040", SUCCESS));

        RpcRdmaPair.result(forward).release();
        assertEquals(1, rpcRdma.statistics().get(Counter.STRAY_MESSAGES_DROPPED));
    }

    @Test
    void shouldAnswerWithSystemErrorWhenReplyDoesNotFitIntoOneSend() throws Exception {
        client(ShortSends.client().reverse(REVERSE_CREDITS).program(program), ""); // a peer that takes 1024 bytes
        ByteBuf call = Bytes.hex(reverseCall("0000cafe", "00000002", ECHO));
        ByteBuf data = Unpooled.buffer().writeInt(980).writeZero(980); // its reply has 28 + 24 + 4 + 980 bytes
        peer.send(Unpooled.wrappedBuffer(call, data));
        assertEquals(digits(reply("0000cafe", "00000002", SYSTEM_ERR)), peer.receiveHex());

        call = Bytes.hex(reverseCall("0000caff", "00000002", ECHO));
        data = Unpooled.buffer().writeInt(968).writeZero(968);
        peer.send(Unpooled.wrappedBuffer(call, data));
        ByteBuf reply = peer.receive();
        assertEquals(1024, reply.readableBytes());
        reply.release();
        assertEquals(1, rpcRdma.statistics().get(Counter.REVERSE_MESSAGES_TOO_LARGE));
    }

    @Test
    void shouldCloseConnectionOfServerThatExceedsItsCredits() throws Exception {
        client();
        peer.sendHex(reverseCall("00000001", "00000002", HANG));
        peer.sendHex(reverseCall("00000002", "00000002", HANG)); // nothing was granted yet
        peer.awaitClose();
    }

    @Test
    void shouldSendReverseCallWithoutChunksAndWithItsOwnCredits() throws Exception {
        RpcClient caller = server(RawPeer.LINUX_CLIENT);
        Future<ByteBuf> call = call(caller);
        String sent = peer.receiveHex();
        String xid = sent.substring(0, 8);
        assertEquals(digits(reverseCall(xid, "00000010", NULL)), sent);

        // A forward call under the same XID is another one.
        peer.sendHex(reverseCall(xid, "00000020", NULL));
        assertEquals(digits(reply(xid, "00000020", SUCCESS)), peer.receiveHex());
        peer.sendHex(reply(xid, "00000002", SUCCESS));
        RpcRdmaPair.result(call).release();
    }

    @Test
    void shouldKeepWithinTheCreditsThatTheClientGrants() throws Exception {
        RpcClient caller = server(RawPeer.LINUX_CLIENT);
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            calls.add(call(caller));
        }
        String first = receiveXid();
        requireNothingElseWasSent("00000101");
        peer.sendHex(reply(first, "00000003", SUCCESS));
        List<String> xids = List.of(receiveXid(), receiveXid(), receiveXid());
        requireNothingElseWasSent("00000102");
        for (String xid : xids) {
            peer.sendHex(reply(xid, "ffffffff", SUCCESS)); // more than was asked for is no more than that
        }
        for (int i = 0; i < 2; i++) {
            peer.sendHex(reply(receiveXid(), "00000003", SUCCESS));
        }
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.result(call).release();
        }
    }

    /** A forward call would be answered behind whatever else had been sent. */
    private void requireNothingElseWasSent(String xid) throws Exception {
        peer.sendHex(reverseCall(xid, "00000020", NULL));
        assertEquals(digits(reply(xid, "00000020", SUCCESS)), peer.receiveHex());
    }

    @Test
    void shouldRefuseReverseCallThatDoesNotFitIntoOneSendBeforeItIsSent() throws Exception {
        RpcClient caller = server(""); // a peer that takes 1024 bytes
        ByteBuf arguments = Unpooled.buffer().writeInt(956).writeZero(956); // behind 28 + 40 bytes
        Throwable failure = RpcRdmaPair.failure(call(caller, BulkProgram.ECHO, arguments));
        RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class,
                assertInstanceOf(RpcConnectionException.class, failure).getCause());
        assertEquals(Reason.TOO_LARGE, cause.reason());
        assertEquals("reverse call of 1000 bytes (expected: at most 996 by the inline threshold, as it cannot have chunks)",
                cause.getMessage());
        assertEquals(0, arguments.refCnt());

        Future<ByteBuf> next = call(caller, BulkProgram.ECHO, Unpooled.buffer().writeInt(952).writeZero(952));
        ByteBuf sent = peer.receive();
        assertEquals(1024, sent.readableBytes());
        peer.sendHex(reply(Bytes.hex(sent).substring(0, 8), "00000002", SUCCESS));
        sent.release();
        RpcRdmaPair.result(next).release();
    }

    @Test
    void shouldFailReverseCallWhoseReplyHasChunks() throws Exception {
        Future<ByteBuf> call = call(server(RawPeer.LINUX_CLIENT));
        String xid = receiveXid();
        peer.sendHex(xid + "00000001 00000002 00000000 00000000"
                + "00000001 00000001 00001111 00000010 0000000000000000 00000000 00000000" + xid + SUCCESS);
        assertReason(Reason.MALFORMED, call);
    }

    @ParameterizedTest
    @CsvSource({"00000002", "00000001 00000001 00000001"})
    void shouldFailReverseCallThatIsRefused(String error) throws Exception {
        Future<ByteBuf> call = call(server(RawPeer.LINUX_CLIENT));
        peer.sendHex(receiveXid() + "00000001 00000002 00000004" + error);
        assertReason(Reason.REFUSED, call);
    }

    @Test
    void shouldFailReverseCallWithMalformedErrorAndNotAnswerIt() throws Exception {
        Future<ByteBuf> call = call(server(RawPeer.LINUX_CLIENT));
        peer.sendHex(receiveXid() + "00000001 00000002 00000004 00000077");
        assertReason(Reason.MALFORMED, call);
        requireNothingElseWasSent("00000101");
    }

    private static void assertReason(Reason reason, Future<ByteBuf> call) throws Exception {
        Throwable failure = assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(call));
        assertEquals(reason, assertInstanceOf(RpcRdmaException.class, failure.getCause()).reason());
    }

    @Test
    void shouldUseNothingOfMessagesThatAreTooShortToHaveADirection() throws Exception {
        RpcClient caller = server(RawPeer.LINUX_CLIENT);
        Future<ByteBuf> first = call(caller);
        Future<ByteBuf> second = call(caller);
        String xid = receiveXid();
        String reply = digits(reply(xid, "00000010", SUCCESS));
        for (int length = 0; length < 36; length++) {
            peer.sendHex(reply.substring(0, 2 * length));
        }
        requireNothingElseWasSent("00000101"); // no answer, and no call for the credits
        assertEquals(36, rpcRdma.statistics().get(Counter.SHORT_MESSAGES_DROPPED));
        peer.sendHex(reply);
        peer.sendHex(reply(receiveXid(), "00000010", SUCCESS));
        RpcRdmaPair.result(first).release();
        RpcRdmaPair.result(second).release();
    }

    @Test
    void shouldIgnoreReplyToNoReverseCall() throws Exception {
        RpcClient caller = server(RawPeer.LINUX_CLIENT);
        peer.sendHex(reply("0000dead", "00000010", SUCCESS));
        requireNothingElseWasSent("00000101");
        assertEquals(1, caller.statistics().unmatchedReplies());
    }
}
