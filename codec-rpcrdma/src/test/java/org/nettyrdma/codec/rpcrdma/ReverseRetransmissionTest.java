package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;

/** What RFC 8167, sections 4.3 and 5.4 say about calls that are made again, seen from a peer written by hand. */
@Timeout(120)
class ReverseRetransmissionTest {

    private static final int CREDITS = 3;
    private static final int REVERSE_CREDITS = 5;
    private static final int XID = 0x77;
    private static final String NULL = "00000000";
    private static final String HANG = "00000005";

    private final BulkProgram program = new BulkProgram(true);
    private RawClient client;

    @BeforeEach
    void listen() throws Exception {
        client = new RawClient(ShortSends.server().program(program).credits(CREDITS).reverse(REVERSE_CREDITS));
    }

    @AfterEach
    void close() {
        program.hanging.forEach(call -> call.arguments().release());
        client.close();
    }

    private static String message(String xid, String body) {
        return xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + body;
    }

    /** Our end of a connection. */
    private Channel channelOf(RawPeer peer) throws Exception {
        peer.sendHex(message("0000cafe", CALL + HANG + NO_AUTH));
        RpcCall call = program.takeHanging();
        call.reply(Unpooled.EMPTY_BUFFER);
        peer.receive().release();
        return call.channel();
    }

    private static Future<ByteBuf> call(Channel channel) {
        return call(channel.pipeline().get(RpcClient.class));
    }

    private static Future<ByteBuf> call(RpcClient caller) {
        return caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL).setXid(XID));
    }

    private static String requireCall(RawPeer peer) throws Exception {
        String sent = peer.receiveHex();
        String xid = sent.substring(0, 8);
        assertEquals(Bytes.digits(xid + "00000001 00000005 00000000" + NO_CHUNKS + xid + CALL + NULL + NO_AUTH), sent);
        return xid;
    }

    private static void requireLost(Future<ByteBuf> call) throws Exception {
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
    }

    @Test
    void shouldSendACallAgainUnderItsXidWhenTheClientHasConnectedAgain() throws Exception {
        Channel first = channelOf(client.peer);
        Future<ByteBuf> lost = call(first);
        assertEquals("00000077", requireCall(client.peer));
        client.peer.close();
        requireLost(lost);

        try (RawPeer again = RawPeer.connect(client.listener, RawPeer.LINUX_CLIENT)) {
            Channel second = channelOf(again);
            assertNotSame(first, second);
            Future<ByteBuf> repeated = call(second);
            assertEquals("00000077", requireCall(again), "the same call");
            again.sendHex(message("00000077", SUCCESS));
            RpcRdmaPair.result(repeated).release();
        }
    }

    /** A server does not establish connections, so there is nothing that it could send the call on, and no wait for it here. */
    @Test
    void shouldFailAtOnceWhileThereIsNoConnection() throws Exception {
        Channel channel = channelOf(client.peer);
        RpcClient caller = channel.pipeline().get(RpcClient.class);
        client.peer.close();
        assertTrue(channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        for (int i = 0; i < 3; i++) {
            requireLost(call(caller));
        }
        assertFalse(channel.isActive());
    }

    @Test
    void shouldKeepNothingOfALostCallForTheNextConnection() throws Exception {
        Future<ByteBuf> lost = call(channelOf(client.peer));
        requireCall(client.peer);
        client.peer.close();
        requireLost(lost);

        try (RawPeer again = RawPeer.connect(client.listener, RawPeer.LINUX_CLIENT)) {
            Channel second = channelOf(again);
            again.sendHex(message("00000077", SUCCESS)); // the reply to a call of the connection before: nobody's
            again.sendHex(message("00000078", CALL + NULL + NO_AUTH));
            assertEquals(Bytes.digits("00000078 00000001 00000003 00000000" + NO_CHUNKS + "00000078" + SUCCESS),
                    again.receiveHex(), "and no call was sent by itself");
            assertEquals(1, second.pipeline().get(RpcClient.class).statistics().unmatchedReplies());

            List<Future<ByteBuf>> calls = new ArrayList<>(); // the credits of the old connection are void
            for (int i = 0; i < 2; i++) {
                calls.add(second.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL)));
            }
            String xid = requireCall(again);
            again.sendHex(message("00000079", CALL + NULL + NO_AUTH));
            assertEquals("00000079", again.receiveHex().substring(0, 8), "one call until the first reply");
            again.sendHex(message(xid, SUCCESS));
            again.sendHex(message(requireCall(again), SUCCESS));
            for (Future<ByteBuf> call : calls) {
                RpcRdmaPair.result(call).release();
            }
        }
    }

    /** An RDMA connection loses nothing, so to send again on the same one is of no use, and would exceed the credits. */
    @Test
    void shouldNotSendACallAgainOnTheSameConnection() throws Exception {
        Channel channel = channelOf(client.peer);
        Future<ByteBuf> late = channel.pipeline().get(RpcClient.class)
                .call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL).setXid(XID).setTimeoutMillis(50));
        requireCall(client.peer);
        assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(late));
        Future<ByteBuf> repeated = call(channel); // waits for a credit
        client.peer.sendHex(message("00000078", CALL + NULL + NO_AUTH));
        assertEquals("00000078", client.peer.receiveHex().substring(0, 8), "nothing was sent");

        client.peer.sendHex(message("00000077", SUCCESS)); // late, but the answer, and it brings the credit
        assertEquals("00000077", requireCall(client.peer));
        client.peer.sendHex(message("00000077", SUCCESS));
        RpcRdmaPair.result(repeated).release();
        client.peer.sendHex(message("00000079", CALL + NULL + NO_AUTH));
        assertEquals("00000079", client.peer.receiveHex().substring(0, 8), "behind that reply");
        assertEquals(1, channel.pipeline().get(RpcClient.class).statistics().unmatchedReplies());
    }

    /** Section 8.2.2.2: on each connection as many as there may be forward calls and replies to reverse calls, all at once. */
    @Test
    void shouldPostReceivesForBothDirectionsOnAFreshConnectionOfAServer() throws Exception {
        client.peer.close();
        try (RawPeer again = RawPeer.connect(client.listener, RawPeer.LINUX_CLIENT)) {
            Channel channel = channelOf(again);
            RpcClient caller = channel.pipeline().get(RpcClient.class);
            Future<ByteBuf> first = caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL));
            again.sendHex(message(requireCall(again), SUCCESS)); // from here there are as many credits as wanted
            RpcRdmaPair.result(first).release();
            List<Future<ByteBuf>> calls = new ArrayList<>();
            for (int i = 0; i < REVERSE_CREDITS; i++) {
                calls.add(caller.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL)));
            }
            List<String> xids = new ArrayList<>();
            for (int i = 0; i < REVERSE_CREDITS; i++) {
                xids.add(requireCall(again));
            }
            channel.config().setAutoRead(false);
            for (String xid : xids) {
                again.sendHex(message(xid, SUCCESS));
            }
            for (int i = 0; i < CREDITS; i++) {
                again.sendHex(message("0000010" + i, CALL + NULL + NO_AUTH));
            }
            channel.config().setAutoRead(true);
            for (Future<ByteBuf> call : calls) {
                RpcRdmaPair.result(call).release();
            }
            for (int i = 0; i < CREDITS; i++) {
                assertEquals("0000010" + i, again.receiveHex().substring(0, 8));
            }
        }
    }

    /** Section 8.2.2.1: the same for a client, which has also one for the reply to each call that it makes again. */
    @Test
    void shouldPostReceivesForBothDirectionsOnAFreshConnectionOfAClient() throws Exception {
        BulkProgram callbacks = new BulkProgram(true);
        RpcRdmaBuilder builder = ShortSends.client().credits(CREDITS).reverse(REVERSE_CREDITS).program(callbacks)
                .limits(RpcRdmaLimits.DEFAULT.withCredits(CREDITS).withDefaultReplyChunkBytes(0));
        try (RawServer server = new RawServer(builder)) {
            server.requireAlive();
        }
        try (RawServer again = new RawServer(builder)) {
            again.requireAlive();
            again.peer.sendHex(message("00000200", CALL + NULL + NO_AUTH));
            assertEquals("00000200", again.peer.receiveHex().substring(0, 8)); // from here 5 credits are granted
            List<Future<ByteBuf>> calls = new ArrayList<>();
            List<String> xids = new ArrayList<>();
            for (int i = 0; i < CREDITS; i++) {
                calls.add(again.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL).setXid(XID + i)));
                xids.add(again.peer.receiveHex().substring(0, 8));
            }
            again.channel.config().setAutoRead(false);
            for (String xid : xids) {
                again.peer.sendHex(message(xid, SUCCESS));
            }
            for (int i = 0; i < REVERSE_CREDITS; i++) {
                again.peer.sendHex(message("0000030" + i, CALL + NULL + NO_AUTH));
            }
            again.channel.config().setAutoRead(true);
            for (Future<ByteBuf> call : calls) {
                RpcRdmaPair.result(call).release();
            }
            for (int i = 0; i < REVERSE_CREDITS; i++) {
                assertEquals("0000030" + i, again.peer.receiveHex().substring(0, 8));
            }
        }
    }
}
