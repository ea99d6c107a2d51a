package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RawServer.Offer;

/** What a server may withdraw with its reply, and what happens to one that withdraws something else. */
@Timeout(120)
class RemoteInvalidationWireTest {

    private RawServer server;

    @BeforeEach
    void connect() throws Exception {
        server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING));
        server.requireAlive();
    }

    @AfterEach
    void disconnect() {
        server.close();
    }

    @Test
    void shouldTakeInvalidationsOfEachCallByItsOwnReply() throws Exception {
        Offer first = server.offer(5000);
        Offer second = server.offer(5000);
        Offer third = server.offer(5000);
        server.sendInvalidating(third.segment().steeringTag(), third.xid() + third.emptyReply());
        server.peer.sendHex(second.xid() + second.emptyReply());
        server.sendInvalidating(first.segment().steeringTag(), first.xid() + first.emptyReply());

        for (Offer offer : new Offer[] {first, second, third}) {
            RpcRdmaPair.result(offer.call()).release();
        }
        assertEquals(2, server.client.statistics().get(Counter.REMOTE_INVALIDATIONS));
        server.requireAlive();
    }

    @Test
    void shouldEndTheConnectionWhenTheOnlyHandleOfAnotherCallIsInvalidated() throws Exception {
        Offer first = server.offer(5000);
        Offer second = server.offer(5000);
        server.sendInvalidating(second.segment().steeringTag(), first.xid() + first.emptyReply());
        assertLost(first.call(), second.call());
    }

    @Test
    void shouldEndTheConnectionWhenAReplyToACallWithoutChunksInvalidates() throws Exception {
        Offer offer = server.offer(5000);
        Future<ByteBuf> plain = server.start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.peer.receiveHex().substring(0, 8);
        server.sendInvalidating(offer.segment().steeringTag(), xid + "00000001 00000020 00000000" + RawServer.NO_CHUNKS + xid
                + RawServer.SUCCESS);
        assertLost(plain, offer.call());
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000020 00000004 00000002",                                          // refuses no call of ours
        "00000001 00000020 00000000 00000000 00000000 00000000 0000dead 00000001 00000000 00000000 00000000 00000000",
    })
    void shouldEndTheConnectionWhenAReplyToNoCallInvalidates(String fromVersion) throws Exception {
        Offer offer = server.offer(5000);
        server.sendInvalidating(offer.segment().steeringTag(), "0000dead" + fromVersion);
        assertLost(offer.call());
    }

    /** What was done by a message that never came up shows with the reply to the call that it was done to. */
    @ParameterizedTest
    @ValueSource(strings = {"00000001 00000020 00000003", ""})
    void shouldEndTheConnectionWhenADroppedMessageInvalidates(String fromVersion) throws Exception {
        Offer offer = server.offer(5000);
        server.sendInvalidating(offer.segment().steeringTag(), offer.xid() + fromVersion);
        server.peer.channel().writeAndFlush(Bytes.hex(offer.xid() + offer.emptyReply()));
        assertLost(offer.call());
    }

    @Test
    void shouldEndTheConnectionWhenAMessageInvalidatesWhatAnEarlierOneHasTaken() throws Exception {
        Future<ByteBuf> call = server.start(BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[9000])); // two handles
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        int readTag = RawServer.segmentAt(sent, 24).steeringTag();
        int replyTag = RawServer.segmentAt(sent, 24 + 16 + 4 + 4 + 4 + 4).steeringTag();
        sent.release();
        server.sendInvalidating(readTag, xid + "00000001 00000020 00000003"); // RDMA_DONE
        server.sendInvalidating(replyTag, xid + "00000001 00000020 00000004 00000002");
        assertLost(call);
    }

    @Test
    void shouldEndTheConnectionWhenTheServerWasNotToldThatItMay() throws Exception {
        BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
        Channel listener = RawPeer.listen(RawPeer.LINUX_CLIENT, accepted);
        Channel quiet = server.client.configure(new Bootstrap().group(RawPeer.GROUP)
                .channel(RdmaChannel.class))
                .option(RdmaChannelOption.PRIVATE_DATA, Bytes.hex("f6ab0e18 01 00 03 03").array())
                .connect(listener.localAddress()).sync().channel();
        RawPeer peer = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        Future<ByteBuf> call = quiet.pipeline().get(RpcClient.class).call(
                new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD,
                        Unpooled.buffer().writeInt(5000).writeInt(0)));
        ByteBuf sent = peer.receive();
        Offer offer = new Offer(call, ByteBufUtil.hexDump(sent, 0, 4), RawServer.segmentAt(sent, 28));
        sent.release();
        peer.channel().writeAndFlush(new RdmaSend(Bytes.hex(offer.xid() + offer.emptyReply()),
                offer.segment().steeringTag()));

        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        peer.close();
        quiet.close().syncUninterruptibly();
        listener.close().syncUninterruptibly();
    }

    @SafeVarargs
    private void assertLost(Future<ByteBuf>... calls) throws Exception {
        assertTrue(server.channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
        for (Future<ByteBuf> call : calls) {
            assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        }
    }
}
