package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteAccess;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTransportException;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/** A client with the legacy profile as an old server sees it that writes its replies by hand, byte for byte. */
@Timeout(120)
class LegacyClientWireTest {

    private static final String NO_CHUNKS = " 00000000 00000000 00000000 ";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000 ";
    private static final RpcRdmaLimits NO_OFFERS = RpcRdmaLimits.DEFAULT.withDefaultReplyChunkBytes(0);
    private static final ResourceLimits ONE_FETCH = ResourceLimits.DEFAULT.withMaxConnectionBytes(1);

    private final List<ByteBuf> exposed = new ArrayList<>();
    private final List<ReplyRoute> routes = new ArrayList<>();
    private RpcRdma client;
    private Channel listener;
    private RdmaChannel channel;
    private RawPeer server;

    private void connect(RpcRdmaBuilder builder) throws Exception {
        BlockingQueue<RawPeer> accepted = new LinkedBlockingQueue<>();
        client = builder.callObserver((program, version, procedure, call, reply) -> routes.add(reply)).build();
        listener = RawPeer.listen("", accepted);
        channel = (RdmaChannel) client.configure(new Bootstrap().group(RawPeer.GROUP).channel(RdmaChannel.class))
                .connect(listener.localAddress()).sync().channel();
        server = accepted.poll(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private void connect() throws Exception {
        connect(RpcRdma.client().limits(NO_OFFERS).legacy(LegacyProfile.DEFAULT));
    }

    @AfterEach
    void disconnect() {
        channel.close().syncUninterruptibly();
        server.close();
        exposed.forEach(ByteBuf::release);
        listener.close().syncUninterruptibly();
    }

    @ParameterizedTest
    @CsvSource({"3000,3000", "3001,3001", "3001,3004", "1,1", "100000,100000"})
    void shouldFetchReadChunkAndSendDone(int length, int chunkBytes) throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD);
        String xid = receiveCall();
        byte[] data = Bytes.pattern(chunkBytes, 4);
        server.sendHex(xid + "00000001 00000002 00000000 00000001 0000001c" + expose(data) + NO_CHUNKS + xid + SUCCESS
                + String.format("%08x", length) + "0badcafe");

        ByteBuf results = RpcRdmaPair.result(call);
        int padded = (length + 3) / 4 * 4;
        assertEquals(4 + padded + 4, results.readableBytes());
        assertEquals(length, results.readInt());
        ByteBuf content = results.readSlice(padded).slice(0, length);
        assertArrayEquals(Arrays.copyOf(data, length), ByteBufUtil.getBytes(content));
        assertEquals(0x0badcafe, results.readInt());
        results.release();
        assertEquals(done(xid), server.receiveHex());
        assertAlive();
        assertEquals(1, client.statistics().get(Counter.REPLIES_WITH_READ_CHUNK));
        assertEquals(1, client.statistics().get(Counter.DONE_MESSAGES));
        assertEquals(chunkBytes, client.statistics().get(Counter.READ_CHUNK_BYTES));
        assertEquals(List.of(ReplyRoute.READ_CHUNK, ReplyRoute.INLINE), routes);
    }

    @Test
    void shouldFetchWholeReplyFromSegmentsOfPositionZero() throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.ECHO);
        String xid = receiveCall();
        byte[] data = Bytes.pattern(5000, 4);
        String reply = xid + digits(SUCCESS) + ByteBufUtil.hexDump(data);
        byte[] bytes = ByteBufUtil.decodeHexDump(reply);
        server.sendHex(xid + "00000001 00000002 00000001"
                + "00000001 00000000" + expose(Arrays.copyOfRange(bytes, 0, 3))
                + "00000001 00000000" + expose(Arrays.copyOfRange(bytes, 3, 5024)) + NO_CHUNKS);

        ByteBuf results = RpcRdmaPair.result(call);
        assertArrayEquals(data, ByteBufUtil.getBytes(results));
        results.release();
        assertEquals(done(xid), server.receiveHex());
    }

    @Test
    void shouldFetchSeveralReadChunks() throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD_TWO);
        String xid = receiveCall();
        // opaque<5>, mark, opaque<6>, mark: positions 28 and 28 + 8 + 8
        server.sendHex(xid + "00000001 00000002 00000000"
                + "00000001 0000001c" + expose(new byte[] {1, 2, 3, 4, 5})
                + "00000001 0000002c" + expose(new byte[] {6, 7, 8, 9, 10, 11}) + NO_CHUNKS
                + xid + SUCCESS + "00000005 12345678 00000006 12345678");

        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(digits("00000005 01020304 05000000 12345678 00000006 06070809 0a0b0000 12345678"), hex(results));
        results.release();
        assertEquals(done(xid), server.receiveHex());
    }

    /** The stream says 8 bytes, the chunk has 4: whoever decodes the results finds out, as with what comes inline. */
    @Test
    void shouldLeaveByteCountsToTheDecoder() throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD);
        String xid = receiveCall();
        server.sendHex(xid + "00000001 00000002 00000000 00000001 0000001c" + expose(new byte[] {1, 2, 3, 4}) + NO_CHUNKS + xid
                + SUCCESS + "00000008");

        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(digits("00000008 01020304"), hex(results));
        assertThrows(XdrException.class, () -> Xdr.readOpaque(results, 100, "data"));
        results.release();
    }

    /** The whole of the reply but one result, which has been written where the call offered. */
    @Test
    void shouldPutPlacedResultIntoFetchedReply() throws Exception {
        connect(RpcRdma.client().limits(NO_OFFERS).legacy(LegacyProfile.DEFAULT).binding(BulkProgram.BINDING));
        Future<ByteBuf> call = call(BulkProgram.LOAD, Unpooled.buffer().writeInt(5000).writeInt(0));
        ByteBuf sent = server.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment offered = new RemoteSegment(sent.getInt(28), sent.getUnsignedInt(32), sent.getLong(36));
        sent.release();
        byte[] data = Bytes.pattern(5000, 3);
        server.send(new RdmaWrite(Unpooled.wrappedBuffer(data), offered));
        server.sendHex(xid + "00000001 00000002 00000001 00000001 00000000"
                + expose(ByteBufUtil.decodeHexDump(xid + digits(SUCCESS) + "0000000000001388"))
                + "00000000 00000001 00000001" + RawPeer.hex(offered) + "00000000 00000000");

        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(0, results.readInt());
        assertEquals(5000, results.readInt());
        assertArrayEquals(data, ByteBufUtil.getBytes(results));
        results.release();
        assertEquals(done(xid), server.receiveHex());
    }

    /** The call fails, the server may free its memory, and nobody else suffers. */
    @ParameterizedTest
    @ValueSource(strings = {
        "00000000 00000001 00000014 SEGMENT NO_CHUNKS XID SUCCESS 00000004",              // within the header
        "00000000 00000001 00000030 SEGMENT NO_CHUNKS XID SUCCESS 00000004",              // behind the end
        "00000000 00000001 0000001c HUGE NO_CHUNKS XID SUCCESS 00000004",                 // too large
        "00000001 00000001 00000000 HUGE NO_CHUNKS",
        "00000001 00000001 0000001c SEGMENT NO_CHUNKS",                                   // RDMA_NOMSG without a message
        "00000000 00000001 00000000 SEGMENT NO_CHUNKS XID SUCCESS 00000004",              // RDMA_MSG with two messages
        "00000001 00000001 00000000 SEGMENT NO_CHUNKS",                                   // no reply in it
        "00000001 00000001 00000000 SEGMENT 00000000 00000000 00000001 00000001 SEGMENT", // and a Reply chunk
        "00000000 00000001 0000001c SEGMENT 00000000 00000001 00000001 SEGMENT 00000000 00000000 XID SUCCESS 00000004",
    })
    void shouldFailCallWhoseReplyBreaksARuleAndSendDone(String fromType) throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD);
        String xid = receiveCall();
        String segment = expose(new byte[40]);
        server.sendHex(xid + "00000001 00000002" + fromType.replace("SEGMENT", segment)
                .replace("HUGE", "00000bad 7fffffff 0000000000000000").replace("XID", xid).replace("SUCCESS", SUCCESS)
                .replace("NO_CHUNKS", NO_CHUNKS));

        assertEquals(fromType.contains("HUGE") ? Reason.TOO_LARGE : Reason.MALFORMED, failure(call).reason());
        assertEquals(done(xid), server.receiveHex());
        assertAlive();
        assertEquals(1, client.statistics().get(Counter.MALFORMED_MESSAGES));
    }

    @Test
    void shouldEndTheConnectionWhenAReadFails() throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD);
        Future<ByteBuf> waiting = start(BulkProgram.LOAD);
        String xid = receiveCall();
        server.sendHex(xid + "00000001 00000002 00000000 00000001 0000001c 00000bad 00000004 0000000000000000" + NO_CHUNKS
                + xid + SUCCESS + "00000004");

        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(waiting));
        server.awaitClose();
    }

    /** Its composite buffer comes after the place for the chunk. */
    @Test
    void shouldEndTheConnectionWhereThereIsNoMemoryToPutAReplyTogether() throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD);
        String xid = receiveCall();
        channel.config().setAllocator(new ExhaustedAllocator(1));
        server.sendHex(xid + "00000001 00000002 00000000 00000001 0000001c" + expose(Bytes.pattern(3000, 4)) + NO_CHUNKS + xid
                + SUCCESS + "00000bb8 0badcafe");
        assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        assertTrue(channel.closeFuture().await(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS));
    }

    /** The reply, or the end of the wait for it, would be taken for that of the other call. */
    @Test
    void shouldKeepTheXidInUseUntilTheReplyIsFetched() throws Exception {
        connect();
        Future<ByteBuf> call = start(BulkProgram.LOAD);
        String xid = receiveCall();
        // It grants no credit to the other call, which would wait for one.
        ByteBuf reply = hex(xid + "00000001 00000001 00000000 00000001 0000001c" + expose(new byte[4]) + NO_CHUNKS + xid + SUCCESS
                + "00000004");
        String nullCall = xid + "00000000 00000002 20000099 00000001 00000000 00000000 00000000 00000000 00000000";
        ByteBuf other = hex(nullCall);
        Throwable refusal = channel.eventLoop().submit(() -> {
            channel.pipeline().fireChannelRead(reply);
            return channel.write(other).cause();
        }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertInstanceOf(IllegalStateException.class, refusal);
        assertEquals(0, other.refCnt());
        RpcRdmaPair.result(call).release();
        assertEquals(done(xid), server.receiveHex());

        channel.writeAndFlush(hex(nullCall)).sync();
        assertEquals(xid, receiveCall());
    }

    @Test
    void shouldDropFetchesThatWaitWhenTheConnectionIsLost() throws Exception {
        connect(RpcRdma.client().limits(NO_OFFERS).resources(ONE_FETCH).legacy(LegacyProfile.DEFAULT));
        openWindow(4);
        List<Future<ByteBuf>> calls = List.of(start(BulkProgram.LOAD), start(BulkProgram.LOAD), start(BulkProgram.LOAD));
        for (int i = 0; i < calls.size(); i++) {
            String xid = receiveCall();
            // The first read fails, the others wait for it.
            server.channel().write(hex(xid + "00000001 00000004 00000000 00000001 0000001c 00000bad 00000100 0000000000000000"
                    + NO_CHUNKS + xid + SUCCESS + "00000100"));
        }
        server.channel().flush();
        for (Future<ByteBuf> call : calls) {
            assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call));
        }
    }

    @Test
    void shouldFetchOneAfterTheOtherWhereTheLimitSaysSo() throws Exception {
        connect(RpcRdma.client().limits(NO_OFFERS).resources(ONE_FETCH).legacy(LegacyProfile.DEFAULT));
        openWindow(4);
        List<Future<ByteBuf>> calls = List.of(start(BulkProgram.LOAD), start(BulkProgram.LOAD), start(BulkProgram.LOAD));
        List<String> dones = new ArrayList<>();
        for (int i = 0; i < calls.size(); i++) {
            String xid = receiveCall();
            dones.add(done(xid).substring(0, 8));
            server.channel().write(hex(xid + "00000001 00000004 00000000 00000001 0000001c" + expose(new byte[256]) + NO_CHUNKS
                    + xid + SUCCESS + "00000100"));
        }
        server.channel().flush();
        for (int i = 0; i < calls.size(); i++) {
            RpcRdmaPair.result(calls.get(i)).release();
            assertEquals(dones.get(i), server.receiveHex().substring(0, 8));
        }
    }

    /** A message without an answer uses a receive of the server; it takes the credit of its call until it must have come. */
    @Test
    void shouldCountDoneAgainstTheCredits() throws Exception {
        connect();
        openWindow(2);
        Future<ByteBuf> first = start(BulkProgram.LOAD);
        String firstXid = receiveCall();
        Future<ByteBuf> second = start(BulkProgram.NULL);
        String secondXid = receiveCall();
        Future<ByteBuf> third = start(BulkProgram.NULL);
        server.sendHex(firstXid + "00000001 00000002 00000000 00000001 0000001c" + expose(new byte[256]) + NO_CHUNKS + firstXid
                + SUCCESS + "00000100");
        RpcRdmaPair.result(first).release();
        assertEquals(done(firstXid).substring(0, 8), server.receiveHex().substring(0, 8));
        awaitEventLoop();
        assertFalse(channel.isWritable()); // the third still waits
        server.sendHex(secondXid + "00000001 00000002 00000000" + NO_CHUNKS + secondXid + SUCCESS);
        RpcRdmaPair.result(second).release();
        String thirdXid = receiveCall();
        Future<ByteBuf> fourth = start(BulkProgram.NULL);
        awaitEventLoop();
        assertFalse(channel.isWritable()); // the second was sent before RDMA_DONE, and says nothing of it
        server.sendHex(thirdXid + "00000001 00000002 00000000" + NO_CHUNKS + thirdXid + SUCCESS);
        RpcRdmaPair.result(third).release();
        String fourthXid = receiveCall();
        server.sendHex(fourthXid + "00000001 00000002 00000000" + NO_CHUNKS + fourthXid + SUCCESS);
        RpcRdmaPair.result(fourth).release();
        assertTrue(channel.isWritable());
    }

    @Test
    void shouldGoOnWhereASingleCreditIsGranted() throws Exception {
        connect();
        for (int i = 0; i < 3; i++) {
            Future<ByteBuf> call = start(BulkProgram.LOAD);
            String xid = receiveCall();
            server.sendHex(xid + "00000001 00000001 00000000 00000001 0000001c" + expose(new byte[4]) + NO_CHUNKS + xid + SUCCESS
                    + "00000004");
            RpcRdmaPair.result(call).release();
            assertEquals(done(xid), server.receiveHex());
        }
    }

    @Test
    void shouldFailTheCallAndSendNoDoneByDefault() throws Exception {
        connect(RpcRdma.client().limits(NO_OFFERS));
        for (String fromType : new String[] {
            "00000000 00000001 0000001c SEGMENT NO_CHUNKS XID SUCCESS 00000004",
                    "00000001 00000001 00000000 SEGMENT NO_CHUNKS"}) {
            Future<ByteBuf> call = start(BulkProgram.LOAD);
            String xid = receiveCall();
            server.sendHex(xid + "00000001 00000002" + fromType.replace("SEGMENT", expose(new byte[4])).replace("XID", xid)
                    .replace("SUCCESS", SUCCESS).replace("NO_CHUNKS", NO_CHUNKS));

            RpcRdmaException failure = failure(call);
            assertEquals(Reason.MALFORMED, failure.reason());
            assertEquals("reply with a Read list, which only the legacy profile fetches", failure.getMessage());
            assertAlive(); // and what the server sees is the next call
        }
        assertEquals(0, client.statistics().get(Counter.DONE_MESSAGES));
    }

    /** A client has nothing that could be done. */
    @Test
    void shouldDropDone() throws Exception {
        connect();
        server.sendHex("00000001 00000001 00000020 00000003");
        assertAlive();
        assertEquals(1, client.statistics().get(Counter.DONE_MESSAGES_DROPPED));
    }

    private static String done(String xid) {
        return digits(xid + "00000001 00000080 00000003");
    }

    private Future<ByteBuf> start(int procedure) {
        return call(procedure, Unpooled.EMPTY_BUFFER);
    }

    private Future<ByteBuf> call(int procedure, ByteBuf arguments) {
        return channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1, procedure, arguments));
    }

    /** The XID of a call that offers nothing. */
    private String receiveCall() throws Exception {
        String sent = server.receiveHex();
        assertEquals(digits("00000001 00000080 00000000" + NO_CHUNKS), sent.substring(8, 8 + 48));
        return sent.substring(0, 8);
    }

    private String expose(byte[] bytes) throws Exception {
        ByteBuf memory = server.registered(bytes);
        exposed.add(memory);
        return RawPeer.hex(server.expose(memory, 0, bytes.length, RemoteAccess.READ).segment());
    }

    private void openWindow(int credits) throws Exception {
        Future<ByteBuf> call = start(BulkProgram.NULL);
        String xid = receiveCall();
        server.sendHex(xid + "00000001" + String.format("%08x", credits) + "00000000" + NO_CHUNKS + xid + SUCCESS);
        RpcRdmaPair.result(call).release();
    }

    private void assertAlive() throws Exception {
        openWindow(2);
    }

    private void awaitEventLoop() throws Exception {
        channel.eventLoop().submit(() -> { }).get(RpcRdmaPair.TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }

    private static RpcRdmaException failure(Future<ByteBuf> call) throws Exception {
        Throwable failure = assertInstanceOf(RpcTransportException.class, RpcRdmaPair.failure(call));
        return assertInstanceOf(RpcRdmaException.class, failure.getCause());
    }
}
