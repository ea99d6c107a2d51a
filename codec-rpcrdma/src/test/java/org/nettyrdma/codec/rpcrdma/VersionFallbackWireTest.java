package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.nettyrdma.codec.rpcrdma.VersionNegotiationClientWireTest.ERR_VERS_1;
import static org.nettyrdma.codec.rpcrdma.VersionNegotiationClientWireTest.failureOf;
import static org.nettyrdma.codec.rpcrdma.VersionNegotiationClientWireTest.reply;
import static org.nettyrdma.codec.rpcrdma.VersionNegotiationClientWireTest.requireCall;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.client.ReconnectingRpcClient;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;

/** Which version a client begins with that has lost a connection before (version-two-08, section 7.2). */
@Timeout(120)
class VersionFallbackWireTest {

    /** To a call of version 1: only version 2 is spoken. */
    private static final String ERR_VERS_TO_1 = " 00000001 00000020 00000004 00000001 00000002 00000002";

    private RawServer server;

    @BeforeEach
    void start() throws Exception {
        server = new RawServer(ShortSends.client().versions(VersionPolicy.PREFER_V2).binding(BulkProgram.BINDING));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private Future<ByteBuf> startNull() {
        return server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldBeginWithVersionOneWhereTheServerHasHungUpOnVersionTwoOrDroppedIt(boolean dropped) throws Exception {
        Future<ByteBuf> first = startNull();
        Future<ByteBuf> second = startNull();
        requireCall(server.peer, "00000002");
        if (dropped && first.cancel(false)) { // then it is the client that hangs up, in the end
            server.channel.close().sync();
        }
        hangUp(first, second);
        RpcRdmaPair.awaitValue(() -> server.client.statistics().get(Counter.VERSION_OFFERS_LOST), 1);
        callOnNextConnection("00000001");
        assertEquals(1, server.client.statistics().get(Counter.VERSION_FALLBACKS_REMEMBERED));
    }

    @Test
    void shouldBeginWithVersionOneWhereTheServerHasHungUpBehindItsErrVers() throws Exception {
        Future<ByteBuf> first = startNull();
        server.peer.sendHex(requireCall(server.peer, "00000002") + ERR_VERS_1);
        requireCall(server.peer, "00000001");
        hangUp(first);
        callOnNextConnection("00000001");
        assertEquals(1, server.client.statistics().get(Counter.VERSION_FALLBACKS_REMEMBERED));
    }

    @Test
    void shouldOfferVersionTwoAgainWhereTheServerHasShownThatItKnowsIt() throws Exception {
        Future<ByteBuf> first = startNull();
        requireCall(server.peer, "00000002");
        server.peer.sendHex("00000007 00000002 00000001 00000005 00000000 00000000");
        hangUp(first);
        callOnNextConnection("00000002");
    }

    @Test
    void shouldOfferVersionTwoAgainWhereItWasNotTheServerThatHungUp() throws Exception {
        Future<ByteBuf> first = startNull();
        requireCall(server.peer, "00000002");
        server.channel.close().sync();
        RpcRdmaPair.failure(first);
        callOnNextConnection("00000002");
        assertEquals(0, server.client.statistics().get(Counter.VERSION_OFFERS_LOST));
    }

    /** Then it is not the version, but perhaps a server that is slow. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldOfferVersionTwoAgainWhereVersionOneIsNotAnsweredEither(boolean dropped) throws Exception {
        Future<ByteBuf> first = startNull();
        requireCall(server.peer, "00000002");
        hangUp(first);
        loseNextConnection("", dropped);
        callOnNextConnection("00000002");
    }

    /** Also by an error. */
    @Test
    void shouldStayWithVersionOneWhereThatIsAnswered() throws Exception {
        Future<ByteBuf> first = startNull();
        requireCall(server.peer, "00000002");
        hangUp(first);
        loseNextConnection(" 00000001 00000020 00000004 00000002", false);
        callOnNextConnection("00000001");
    }

    /** It was lost for another reason: without this, each call would fail for as long as the server is remembered. */
    @Test
    void shouldOfferVersionTwoAgainWhereTheServerSpeaksNothingElse() throws Exception {
        Future<ByteBuf> first = startNull();
        requireCall(server.peer, "00000002");
        hangUp(first);
        RdmaChannel again = server.connect();
        try (RawPeer peer = server.accepted()) {
            Future<ByteBuf> call = callOn(again);
            peer.sendHex(requireCall(peer, "00000001") + ERR_VERS_TO_1);
            assertSame(Reason.REFUSED, failureOf(call).reason());
            peer.awaitClose();
        }
        callOnNextConnection("00000002");
    }

    @Test
    void shouldCarryACallOverToVersionTwoWhereTheServerSpeaksNothingElse() throws Exception {
        Bootstrap bootstrap = server.client.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class));
        try (ReconnectingRpcClient client = ReconnectingRpcClient.builder(bootstrap, server.channel.remoteAddress()).connect()) {
            Future<ByteBuf> call = client.call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER));
            try (RawPeer peer = server.accepted()) {
                requireCall(peer, "00000002");
            }
            try (RawPeer peer = server.accepted()) {
                peer.sendHex(requireCall(peer, "00000001") + ERR_VERS_TO_1);
            }
            try (RawPeer peer = server.accepted()) {
                reply(peer, "00000002", requireCall(peer, "00000002"));
                RpcRdmaPair.result(call).release();
            }
        }
    }

    @SafeVarargs
    private void hangUp(Future<ByteBuf>... calls) throws Exception {
        server.peer.channel().close();
        for (Future<ByteBuf> call : calls) {
            RpcRdmaPair.failure(call);
        }
        server.channel.closeFuture().sync();
        server.channel.eventLoop().submit(() -> { }).sync(); // behind channelInactive
    }

    /** The server answers a call of version 1 with this, if it is not empty, and then one of the two hangs up. */
    private void loseNextConnection(String answer, boolean dropped) throws Exception {
        RdmaChannel again = server.connect();
        try (RawPeer peer = server.accepted()) {
            Future<ByteBuf> call = callOn(again);
            String xid = requireCall(peer, "00000001");
            if (!answer.isEmpty()) {
                peer.sendHex(xid + answer);
                RpcRdmaPair.failure(call);
            }
            if (dropped && call.cancel(false)) {
                again.close();
            } else {
                peer.channel().close();
            }
            again.closeFuture().sync();
            again.eventLoop().submit(() -> { }).sync(); // behind channelInactive
        }
    }

    private void callOnNextConnection(String version) throws Exception {
        RdmaChannel again = server.connect();
        try (RawPeer peer = server.accepted()) {
            Future<ByteBuf> call = callOn(again);
            reply(peer, version, requireCall(peer, version));
            RpcRdmaPair.result(call).release();
            again.close().sync();
        }
    }

    private static Future<ByteBuf> callOn(RdmaChannel connection) {
        return connection.pipeline().get(RpcClient.class)
                .call(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER));
    }
}
