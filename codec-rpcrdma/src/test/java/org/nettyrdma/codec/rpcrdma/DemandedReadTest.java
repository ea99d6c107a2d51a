package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.characteristics.Characteristics;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/**
 * An application that has AUTO_READ off asks once for each call or reply. What comes ahead of it and is not for the application
 * is not what it has asked for.
 */
@Timeout(120)
class DemandedReadTest {

    private static final String NULL_CALL = "00000009" + CALL + "00000000" + NO_AUTH;

    private static void stopReading(Channel channel) throws Exception {
        channel.eventLoop().submit(() -> channel.config().setAutoRead(false)).sync();
    }

    private static RpcRdmaBuilder serverOf(VersionPolicy versions) {
        Characteristics characteristics = Characteristics.builder().build();
        return ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING).versions(versions)
                .extensions(characteristics.extensions()).extensionHandlers(pipeline -> {
                    if (versions.speaks(RpcRdmaVersion.TWO)) {
                        characteristics.install(pipeline);
                    }
                });
    }

    /** The answers to other messages may come ahead of it. */
    private static void awaitAnswer(RawPeer peer, String xid) throws Exception {
        for (String answer = peer.receiveHex(); !answer.startsWith(xid);) {
            answer = peer.receiveHex();
        }
    }

    /** {@code answer} is the XID of what the server says to the message, if it says anything. */
    @ParameterizedTest
    @CsvSource({
        "00000005,",                                                                    // too short
        "00000005 00000001 00000020 00000003,",                                         // RDMA_DONE
        "00000005 00000001 00000020 00000000 00000000 00000000 00000000 00000005" + SUCCESS + ',', // a reply
        "00000005 00000001 00000020 00000000 00000007 00000000 00000000, 00000005",     // a list that is none
        "00000005 00000001 00000020 00000001 00000000 00000000 00000000, 00000005",     // RDMA_NOMSG without a chunk
    })
    void shouldReadOnAtTheServerOfVersionOne(String message, String answer) throws Exception {
        try (RawClient client = new RawClient(serverOf(VersionPolicy.V1_ONLY))) {
            Channel ours = client.child();
            stopReading(ours);
            client.peer.sendHex(message);
            ours.read();
            if (answer != null) {
                awaitAnswer(client.peer, answer);
            }
            client.peer.sendHex("00000009 00000001 00000020 00000000" + NO_CHUNKS + NULL_CALL);
            awaitAnswer(client.peer, "00000009");
            assertFalse(ours.config().isAutoRead());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000007 00000002 00000001 00000005 00000000 00000000",                        // RDMA2_CONNPROP
        "00000007 00000002 00000001 00000005 00000000 00000000 00000007",               // properties that are none
        "00000007 00000002 00000001 00000007 00000000 00000000",                        // RDMA2_REQPROP, for nothing
        "00000007 00000002 00000001 00000063 00000000 00000000",                        // a type that is unknown
        "00000007 00000001 00000001 00000003",                                          // RDMA_DONE
    })
    void shouldReadOnAtTheServerOfVersionTwo(String message) throws Exception {
        try (RawClient client = new RawClient(serverOf(VersionPolicy.V2_ONLY))) {
            Channel ours = client.child();
            stopReading(ours);
            client.peer.sendHex(message);
            client.peer.sendHex("00000009 00000002 00000020 00000000 00000000 00000000" + NO_CHUNKS + NULL_CALL);
            ours.read();
            awaitAnswer(client.peer, "00000009");
        }
    }

    /** What is wrong with such a call shows when its Read chunk is there. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadOnWhereAFetchedCallIsRefused(boolean whole) throws Exception {
        try (RawClient client = new RawClient(serverOf(VersionPolicy.V1_ONLY))) {
            Channel ours = client.child();
            stopReading(ours);
            ByteBuf memory = client.peer.registered(new byte[40]);
            RemoteSegment segment = client.readable(memory, 0, 40);
            client.peer.sendHex("00000005 00000001 00000020" + (whole
                    ? "00000001" + RawClient.entry(0, segment) + NO_CHUNKS // no call
                    : "00000000" + RawClient.entry(48, segment) + NO_CHUNKS + "00000005" + CALL + "00000002" + NO_AUTH
                            + "00000001 7fffffff"));
            ours.read();
            awaitAnswer(client.peer, "00000005");
            memory.release();
            client.peer.sendHex("00000009 00000001 00000020 00000000" + NO_CHUNKS + NULL_CALL);
            awaitAnswer(client.peer, "00000009");
            assertEquals(whole ? 0 : 1, client.server.statistics().get(Counter.BINDING_VIOLATIONS));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000005",                                                                     // too short
        "00000005 00000001 00000020 00000000 00000000 00000000 00000000 00000005" + SUCCESS, // a reply to nothing
        "00000005 00000001 00000020 00000004 00000002",                                 // ERR_CHUNK for nothing
    })
    void shouldReadOnAtTheClient(String message) throws Exception {
        try (RawServer server = new RawServer(ShortSends.client())) {
            stopReading(server.channel);
            Future<ByteBuf> call = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = server.peer.receiveHex().substring(0, 8);
            server.peer.sendHex(message);
            server.peer.sendHex(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS);
            server.channel.read();
            RpcRdmaPair.result(call).release();
        }
    }

    /** The memory of the first call is open until then, or is withdrawn; its reply is for nobody either way. */
    @Test
    void shouldReadOnBehindALateReply() throws Exception {
        try (RawServer server = new RawServer(ShortSends.client())) {
            server.requireAlive();
            stopReading(server.channel);
            RpcRequest late = new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER)
                    .setReplySpace(new ReplySpace(24)).setTimeoutMillis(1);
            Future<ByteBuf> first = server.start(late);
            String firstXid = server.peer.receiveHex().substring(0, 8);
            assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(first));
            Future<ByteBuf> call = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = server.peer.receiveHex().substring(0, 8);
            server.peer.sendHex(firstXid + "00000001 00000020 00000000" + NO_CHUNKS + firstXid + SUCCESS);
            server.peer.sendHex(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS);
            server.channel.read();
            RpcRdmaPair.result(call).release();
        }
    }

    /** Version 1, where calls of the server have no chunks. */
    @Test
    void shouldReadOnAtTheClientBehindACallOfTheServerThatIsRefused() throws Exception {
        try (RawServer server = new RawServer(ShortSends.client().reverse(1).program(new BulkProgram(true)))) {
            stopReading(server.channel);
            Future<ByteBuf> call = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            String xid = server.peer.receiveHex().substring(0, 8);
            server.peer.sendHex("00000009 00000001 00000001 00000000 00000000 00000001 00000001 00000007 00000040"
                    + "0000000000000000 00000000 00000000" + NULL_CALL);
            server.channel.read();
            awaitAnswer(server.peer, "00000009");
            server.peer.sendHex(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS);
            RpcRdmaPair.result(call).release();
        }
    }

    @Test
    void shouldReadOnWhereACallIsSentAgain() throws Exception {
        try (VersionTwoServer server = new VersionTwoServer(ShortSends.client())) {
            stopReading(server.raw.channel);
            RpcRequest request = new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
            Future<ByteBuf> call = server.raw.start(request.setReplySpace(new ReplySpace(24)));
            String xid = server.receive().xid();
            server.raw.peer.sendHex(xid + VersionTwoServer.error("00000008 00001388"));
            server.raw.channel.read();
            assertEquals(xid, server.receive().xid());
            server.raw.peer.sendHex(xid + VersionTwoServer.plainReply(xid));
            RpcRdmaPair.result(call).release();
        }
    }
}
