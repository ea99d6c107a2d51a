package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaSend;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;

/** A client as a server sees it that writes its replies by hand, byte for byte. */
@Timeout(120)
class RpcRdmaClientWireTest {

    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";

    private final RpcRdma client = ShortSends.client().binding(BulkProgram.BINDING).build();
    private Channel listener;
    private RdmaChannel channel;
    private RpcClient rpcClient;
    private RawPeer server;

    @BeforeEach
    void connect() throws Exception {
        BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
        listener = RawPeer.listen(RawPeer.LINUX_CLIENT, accepted);
        channel = (RdmaChannel) client.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
        rpcClient = channel.pipeline().get(RpcClient.class);
        server = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    @AfterEach
    void disconnect() {
        channel.close().syncUninterruptibly();
        server.close();
        listener.close().syncUninterruptibly();
    }

    @Test
    void shouldAnnounceItsThresholdWhenItConnects() {
        assertEquals("f6ab0e1801010303", hex(server.channel().peerPrivateData()));
    }

    @Test
    void shouldSendShortCallWithoutChunks() throws Exception {
        Future<ByteBuf> call = start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);

        String sent = server.receiveHex();
        String xid = sent.substring(0, 8);
        assertEquals(digits(xid + "00000001 00000080 00000000" + NO_CHUNKS + xid
                + "00000000 00000002 20000099 00000001 00000000 00000000 00000000 00000000 00000000"), sent);

        server.sendHex(xid + "00000001 00000040 00000000" + NO_CHUNKS + xid + SUCCESS);
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(0, results.readableBytes());
        results.release();
    }

    @Test
    void shouldWaitForTheFirstReplyBeforeItSendsAnotherCall() throws Exception {
        Future<ByteBuf> first = start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        Future<ByteBuf> second = start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        Future<ByteBuf> third = start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        awaitEventLoop();

        String xid = server.receiveHex().substring(0, 8);
        assertFalse(channel.isWritable());
        assertFalse(first.isDone());
        server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + SUCCESS);
        RpcRdmaPair.result(first).release();
        for (Future<ByteBuf> call : List.of(second, third)) {
            xid = server.receiveHex().substring(0, 8);
            server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + SUCCESS);
            RpcRdmaPair.result(call).release();
        }
    }

    @Test
    void shouldOfferEligibleArgumentWithoutItsPadding() throws Exception {
        byte[] data = Bytes.pattern(5001, 3);
        ByteBuf arguments = channel.alloc().compositeBuffer().addComponents(true,
                Unpooled.buffer().writeInt(1).writeInt(data.length), channel.alloc().directBuffer(5001).writeBytes(data),
                Unpooled.buffer().writeZero(3).writeInt(2));
        Future<ByteBuf> call = start(BulkProgram.STORE, arguments);

        ByteBuf sent = server.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment segment = segmentAt(sent, 24);
        assertEquals(5001, segment.length());
        assertEquals(digits(xid + "00000001 00000080 00000000 00000001 00000030" + RawPeer.hex(segment) + NO_CHUNKS + xid
                + "00000000 00000002 20000099 00000001 00000002 00000000 00000000 00000000 00000000"
                + "00000001 00001389 00000002"), hex(sent));
        sent.release();
        ByteBuf fetched = server.channel().alloc().directBuffer(5001);
        server.send(new RdmaRead(segment, fetched.retain()));
        assertArrayEquals(data, ByteBufUtil.getBytes(fetched));
        fetched.release();

        server.sendHex(xid + "00000001 00000002 00000000" + NO_CHUNKS + xid + SUCCESS + "0badcafe");
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(0x0badcafe, results.readInt());
        results.release();
        server.channel().writeAndFlush(new RdmaRead(segment, server.channel().alloc().directBuffer(5001)));
        server.awaitClose(); // the memory is closed to the server once the reply is there
    }

    /** Whether or not the responder wrote the padding, the reply has it. */
    @ParameterizedTest
    @CsvSource({"5001,5001", "5001,5004", "5004,5004", "5002,5002", "5003,5004"})
    void shouldPutPlacedResultBackIntoTheReply(int length, int written) throws Exception {
        Offer offer = offer(length);
        byte[] data = Bytes.pattern(written, 3);
        server.send(new RdmaWrite(Unpooled.wrappedBuffer(data), offer.segment.withLength(written)));
        server.sendHex(offer.xid + "00000001 00000002 00000000 00000000 00000001 00000001"
                + RawPeer.hex(offer.segment.withLength(written)) + "00000000 00000000" + offer.xid + SUCCESS + "00000000"
                + String.format("%08x", length));

        ByteBuf results = RpcRdmaPair.result(offer.call);
        byte[] expected = new byte[(length + 3) / 4 * 4];
        System.arraycopy(data, 0, expected, 0, length);
        assertEquals(0, results.readInt());
        assertEquals(length, results.readInt());
        assertArrayEquals(expected, ByteBufUtil.getBytes(results));
        results.release();
        assertEquals(1, client.statistics().get(Counter.REPLIES_WITH_WRITE_CHUNK));
    }

    @Test
    void shouldFenceTheMemoryBeforeTheCallerSeesIt() throws Exception {
        Offer offer = offer(5000);
        server.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(5000, 3)), offer.segment));
        server.sendHex(placedReply(offer, 5000, 5000));
        ByteBuf results = RpcRdmaPair.result(offer.call);
        byte[] seen = ByteBufUtil.getBytes(results);

        server.channel().writeAndFlush(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), offer.segment));
        server.awaitClose();
        assertArrayEquals(seen, ByteBufUtil.getBytes(results));
        results.release();
    }

    @Test
    void shouldAcceptInvalidationOfTheHandleThatItOffered() throws Exception {
        Offer offer = offer(5000);
        server.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(5000, 3)), offer.segment));
        server.send(new RdmaSend(hex(placedReply(offer, 5000, 5000)), offer.segment.steeringTag()));

        RpcRdmaPair.result(offer.call).release();
        assertEquals(1, client.statistics().get(Counter.REMOTE_INVALIDATIONS));
        assertTrue(channel.isActive());
    }

    @Test
    void shouldEndTheConnectionWhenAnotherHandleIsInvalidated() throws Exception {
        Offer offer = offer(5000);
        server.channel().writeAndFlush(new RdmaSend(hex(placedReply(offer, 5000, 0)), offer.segment.steeringTag() ^ 0x100));

        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(offer.call));
        assertTrue(channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    @Test
    void shouldTakeResultInlineWhereTheChunkIsReturnedUnusedOrNotAtAll() throws Exception {
        for (String list : new String[] {"00000001 00000001 SEGMENT 00000000", "00000000"}) {
            Offer offer = offer(5000);
            server.sendHex(offer.xid + "00000001 00000002 00000000 00000000"
                    + list.replace("SEGMENT", RawPeer.hex(offer.segment.withLength(0))) + "00000000" + offer.xid + SUCCESS
                    + "00000000 00000004 01020304");
            ByteBuf results = RpcRdmaPair.result(offer.call);
            assertEquals(digits("00000000 00000004 01020304"), hex(results));
            results.release();
        }
    }

    @Test
    void shouldReadLongReplyFromTheReplyChunk() throws Exception {
        Future<ByteBuf> call = start(BulkProgram.LOAD, Unpooled.buffer().writeInt(1).writeInt(9000));
        ByteBuf sent = server.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment segment = segmentAt(sent, 32);
        assertEquals(24 + 4 + 9000 + 4 + 4, segment.length());
        assertEquals(digits(xid + "00000001 00000080 00000000 00000000 00000000 00000001 00000001" + RawPeer.hex(segment)),
                hex(sent).substring(0, 2 * 48));
        sent.release();

        String reply = digits(xid + SUCCESS + "00000003 01020300 00000001 ff000000"); // 40 bytes
        server.send(new RdmaWrite(hex(reply), segment));
        server.sendHex(xid + "00000001 00000002 00000001 00000000 00000000 00000001 00000001"
                + RawPeer.hex(segment.withLength(40)));
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(digits("00000003 01020300 00000001 ff000000"), hex(results));
        results.release();
    }

    /** Type | what the server writes into the Reply chunk | so many bytes of it, as it says. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "00000001 | 00000000 00000001 00000000 00000000 00000000 00000000 00000000 00000000 | 32", // another XID
        "00000001 | XID 00000000 00000000 00000000 00000000 00000000 00000000 00000000      | 32", // a call
        "00000001 | XID 00000001                                                            | 7",
        "00000001 | XID 00000001 00000000 00000000 00000000 00000000 00000000 00000000      | 0",
        "00000000 | XID 00000001 00000000 00000000 00000000 00000000 00000000 00000000      | 32", // and one inline
    })
    void shouldFailCallWhoseReplyChunkHoldsNoReply(String type, String content, int bytes) throws Exception {
        Future<ByteBuf> call = start(BulkProgram.LOAD, Unpooled.buffer().writeInt(1).writeInt(9000));
        ByteBuf sent = server.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment segment = segmentAt(sent, 32);
        sent.release();

        server.send(new RdmaWrite(hex(content.replace("XID", xid)), segment));
        server.sendHex(xid + "00000001 00000002" + type + "00000000 00000000 00000001 00000001"
                + RawPeer.hex(segment.withLength(bytes)) + (type.equals("00000000") ? xid + SUCCESS + "00000000 00000000" : ""));
        assertEquals(Reason.MALFORMED, failure(call).reason());
        assertAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000000 00000000 00000001 00000001 OFFERED 00000000 00000000 XID" + SUCCESS + "00000000 00001384",  // not the count
        "00000000 00000000 00000001 00000001 SHORTER 00000000 00000000 XID" + SUCCESS + "00000000 00001388",  // not all of it
        "00000000 00000000 00000001 00000001 SHORTER 00000000 00000000 XID" + SUCCESS + "00000000 00001385",  // half its padding
        "00000000 00000000 00000001 00000001 LONGER 00000000 00000000 XID" + SUCCESS + "00000000 00001388",   // too much
        "00000000 00000000 00000001 00000001 LONGER 00000000 00000000 XID" + SUCCESS + "00000000 00001389",   // by the count, too
        "00000000 00000000 00000001 00000001 OFFERED 00000000 00000000 XID" + SUCCESS,                        // no result
        "00000000 00000000 00000001 00000001 OFFERED 00000000 00000000 XID" + SUCCESS + "00000000",
        "00000000 00000000 00000001 00000000 00000000 00000000 XID" + SUCCESS + "00000000 00000000",           // no segment
        "00000000 00000000 00000001 00000002 OFFERED OFFERED 00000000 00000000 XID" + SUCCESS + "00000000 00001388",
        "00000000 00000000 00000001 00000001 OFFERED 00000001 00000001 OFFERED 00000000 00000000 XID" + SUCCESS,
        "00000000 00000000 00000000 00000001 00000001 OFFERED XID" + SUCCESS + "00000000 00000000",           // Reply chunk
        "00000000 00000001 00000000 OFFERED 00000000 00000000 00000000 XID" + SUCCESS + "00000000 00000000",  // Read list
        "00000001 00000000 00000001 00000001 OFFERED 00000000 00000000",                                      // nothing at all
        "00000001 00000000 00000000 00000001 00000001 OFFERED",
        "00000000 00000000 00000002",
        "00000007",
        "00000000" + NO_CHUNKS,
        "00000000" + NO_CHUNKS + "00000000" + SUCCESS,                                                        // another XID
        "00000004",
        "00000004 00000003",
    })
    void shouldFailCallWhoseReplyIsMalformedAndKeepTheConnection(String fromType) throws Exception {
        Offer offer = offer(5000);
        server.sendHex(offer.xid + "00000001 00000002" + fromType.replace("XID", offer.xid)
                .replace("OFFERED", RawPeer.hex(offer.segment)).replace("LONGER", RawPeer.hex(offer.segment.withLength(5001)))
                .replace("SHORTER", RawPeer.hex(offer.segment.withLength(4998))));

        assertEquals(Reason.MALFORMED, failure(offer.call).reason());
        assertAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000040 00000004 00000001 00000002 00000003",
        "00000002 00000040 00000004 00000001 00000002 00000003",
        "00000001 00000040 00000004 00000002",
    })
    void shouldFailCallThatIsRefused(String fromVersion) throws Exception {
        Offer offer = offer(5000);
        server.sendHex(offer.xid + fromVersion);

        assertEquals(Reason.REFUSED, failure(offer.call).reason());
        assertAlive();
    }

    @ParameterizedTest
    @ValueSource(strings = {"00000002 00000040 00000000", "00000007 00000040 00000003"}) // there, 3 is not RDMA_DONE
    void shouldFailCallWhoseReplyHasAnotherVersion(String fromVersion) throws Exception {
        Offer offer = offer(5000);
        server.sendHex(offer.xid + fromVersion + NO_CHUNKS + offer.xid + SUCCESS);

        assertEquals(Reason.VERSION, failure(offer.call).reason());
        assertAlive();
    }

    @Test
    void shouldDropRepliesToNoCall() throws Exception {
        Offer offer = offer(5000);
        String other = String.format("%08x", Integer.parseUnsignedInt(offer.xid, 16) + 1);
        server.sendHex(other + "00000001 00000040 00000000" + NO_CHUNKS + other + SUCCESS);
        server.sendHex(other + "00000001 00000040 00000004 00000002");
        server.sendHex(offer.xid + "00000001 00000040 00000003");
        server.sendHex("00");
        server.sendHex(offer.xid + "00000001 00000040 00000000" + NO_CHUNKS + offer.xid + "00000000 00000002 00000000");
        assertFalse(offer.call.isDone());
        server.sendHex(placedReply(offer, 0, 0));

        RpcRdmaPair.result(offer.call).release();
        ChunkStatistics counted = client.statistics();
        assertEquals(2, counted.get(Counter.UNKNOWN_REPLIES_DROPPED));
        assertEquals(1, counted.get(Counter.DONE_MESSAGES_DROPPED));
        assertEquals(1, counted.get(Counter.SHORT_MESSAGES_DROPPED));
        assertEquals(1, counted.get(Counter.STRAY_MESSAGES_DROPPED));
    }

    @Test
    void shouldSayThatTheConnectionIsClosedBeforeItsHandlersAreTold() throws Exception {
        Future<ByteBuf> call = channel.eventLoop().submit(() -> {
            channel.close();
            return start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        }).get();
        RpcConnectionException failure = assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        assertInstanceOf(ClosedChannelException.class, failure.getCause());
        assertFalse(failure.mayHaveBeenSent());
    }

    @Test
    void shouldFailEveryCallOnceWhenTheConnectionIsLost() throws Exception {
        List<Future<ByteBuf>> calls = new ArrayList<>();
        Offer offer = offer(5000); // on its way; the following wait for a credit, with their memory exposed
        calls.add(offer.call);
        calls.add(start(BulkProgram.LOAD, Unpooled.buffer().writeInt(100000).writeInt(0)));
        calls.add(start(BulkProgram.STORE, Unpooled.buffer().writeInt(1).writeInt(60000).writeZero(60004)));
        calls.add(start(BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[60000])));
        awaitEventLoop();
        server.channel().close();

        for (Future<ByteBuf> call : calls) {
            assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        }
        assertInstanceOf(RpcConnectionException.class,
                RpcRdmaPair.failure(start(BulkProgram.ECHO, RpcRdmaPair.opaque(new byte[60000]))));
    }

    @Test
    void shouldWithdrawMemoryOfCallThatIsCancelledBeforeItIsSent() throws Exception {
        Offer offer = offer(5000);
        Future<ByteBuf> waiting = start(BulkProgram.LOAD, Unpooled.buffer().writeInt(100000).writeInt(0));
        awaitEventLoop();
        assertFalse(channel.isWritable()); // it waits for a credit, with its memory exposed
        assertTrue(waiting.cancel(false));
        awaitEventLoop(); // or the reply might be handled first, and its credit spent on the call
        assertTrue(channel.isWritable());
        server.sendHex(placedReply(offer, 0, 0));
        RpcRdmaPair.result(offer.call).release();
        assertAlive();
        assertNull(waiting.getNow());
    }

    /** A call of LOAD that the server has received. */
    private record Offer(Future<ByteBuf> call, String xid, RemoteSegment segment) {
    }

    private Offer offer(int length) throws Exception {
        Future<ByteBuf> call = start(BulkProgram.LOAD, Unpooled.buffer().writeInt(length).writeInt(0));
        ByteBuf sent = server.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment segment = segmentAt(sent, 28);
        assertEquals((length + 3) / 4 * 4, segment.length());
        assertEquals(digits(xid + "00000001 00000080 00000000 00000000 00000001 00000001" + RawPeer.hex(segment)
                + "00000000 00000000"), hex(sent).substring(0, 2 * 52));
        sent.release();
        return new Offer(call, xid, segment);
    }

    private static String placedReply(Offer offer, int length, int written) {
        return digits(offer.xid + "00000001 00000002 00000000 00000000 00000001 00000001"
                + RawPeer.hex(offer.segment.withLength(written)) + "00000000 00000000" + offer.xid + SUCCESS + "00000000"
                + String.format("%08x", length));
    }

    private static RemoteSegment segmentAt(ByteBuf message, int index) {
        return new RemoteSegment(message.getInt(index), message.getUnsignedInt(index + 4), message.getLong(index + 8));
    }

    private Future<ByteBuf> start(int procedure, ByteBuf arguments) {
        return rpcClient.call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
    }

    /** The client's event loop has run what this thread gave it so far: calls are written, or wait for a credit. */
    private void awaitEventLoop() throws Exception {
        channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private static RpcRdmaException failure(Future<ByteBuf> call) throws Exception {
        Throwable failure = assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(call));
        return assertInstanceOf(RpcRdmaException.class, failure.getCause());
    }

    private void assertAlive() throws Exception {
        Future<ByteBuf> call = start(BulkProgram.NULL, Unpooled.EMPTY_BUFFER);
        String xid = server.receiveHex().substring(0, 8);
        server.sendHex(xid + "00000001 00000040 00000000" + NO_CHUNKS + xid + SUCCESS);
        RpcRdmaPair.result(call).release();
    }
}
