package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RawServer.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawServer.SUCCESS;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.concurrent.Future;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RdmaWrite;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;

/** Chunk lists of every shape, as a server sees them and answers them that is written by hand. */
@Timeout(120)
class RequesterShapesWireTest {

    private RawServer server;

    private void connect(PeerPolicy policy) throws Exception {
        server = new RawServer(ShortSends.client().binding(BulkProgram.BINDING).peerPolicy(policy));
    }

    @AfterEach
    void disconnect() {
        server.close();
    }

    @Test
    void shouldSendSeveralReadChunksInOrder() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = storeTwo(1, 5001, 6002);
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment a = RawServer.segmentAt(sent, 24);
        RemoteSegment b = RawServer.segmentAt(sent, 48);
        assertEquals(5001, a.length());
        assertEquals(6002, b.length());
        // 40 bytes of header, 8 of the head, the length word; then 5004 bytes, the mark and a length word.
        int positionB = 52 + 5004 + 8;
        assertEquals(Bytes.digits(xid + "00000001 00000080 00000000 00000001 00000034" + RawPeer.hex(a)
                + "00000001" + String.format("%08x", positionB) + RawPeer.hex(b) + NO_CHUNKS + xid
                + "00000000 00000002 20000099 00000001 00000007 00000000 00000000 00000000 00000000"
                + "00000001 01000000 00001389 12345678 00001772 12345678"), Bytes.hex(sent));
        sent.release();
        assertArrayEquals(Bytes.pattern(5001, 2), fetch(List.of(a)));
        assertArrayEquals(Bytes.pattern(6002, 3), fetch(List.of(b)));
        answer(call, xid);
    }

    @Test
    void shouldKeepLargeArgumentsInChunksOfTheirOwnInALongCall() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = storeTwo(6001, 5001, 4000); // b is short enough for a Send, and stays
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        assertEquals(1, sent.getInt(12), "RDMA_NOMSG");
        List<RemoteSegment> message = new ArrayList<>();
        int index = 16;
        for (; sent.getInt(index) == 1 && sent.getInt(index + 4) == 0; index += 24) {
            message.add(RawServer.segmentAt(sent, index + 8));
        }
        int positionA = 40 + 4 + 6004 + 4; // in the whole message, not in what the Position Zero chunk holds after the head
        RemoteSegment a = RawServer.segmentAt(sent, index + 8);
        assertEquals(Bytes.digits("00000001" + String.format("%08x", positionA) + RawPeer.hex(a) + NO_CHUNKS),
                ByteBufUtil.hexDump(sent, index, sent.writerIndex() - index));
        sent.release();
        assertArrayEquals(Bytes.pattern(5001, 2), fetch(List.of(a)));
        byte[] stream = fetch(message);
        assertEquals(40 + 4 + 6004 + 4 + 4 + 4 + 4000 + 4, stream.length);
        assertEquals("0000138912345678" + "00000fa0", ByteBufUtil.hexDump(stream, positionA - 4, 12), "without a and its pad");
        assertEquals(1, server.client.statistics().get(Counter.LONG_CALLS));
        answer(call, xid);
    }

    @Test
    void shouldSendOneReadChunkToPeersThatAreKnownToTakeNoMore() throws Exception {
        connect(PeerPolicy.CONSERVATIVE);
        for (int head : new int[] {1, 6001}) {
            Future<ByteBuf> call = storeTwo(head, 5001, 6002);
            ByteBuf sent = server.peer.receive();
            String xid = ByteBufUtil.hexDump(sent, 0, 4);
            for (int index = 16; sent.getInt(index) == 1; index += 24) {
                assertEquals(0, sent.getInt(index + 4), "position");
            }
            sent.release();
            answer(call, xid);
        }
        assertEquals(2, server.client.statistics().get(Counter.LONG_CALLS));
    }

    @Test
    void shouldExposeNoEmptyPieceOfAnArgument() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        CompositeByteBuf data = server.channel.alloc().compositeBuffer(100);
        for (int length : new int[] {1, 0, 5000, 0, 1}) {
            data.addComponent(true, server.channel.alloc().directBuffer(8).writeBytes(Bytes.pattern(length, length)));
        }
        ByteBuf arguments = server.channel.alloc().compositeBuffer(100)
                .addComponent(true, Unpooled.buffer().writeInt(1).writeInt(5002)).addFlattenedComponents(true, data)
                .addComponent(true, Unpooled.buffer().writeZero(2).writeInt(2));
        Future<ByteBuf> call = server.start(BulkProgram.STORE, arguments);
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        List<RemoteSegment> segments = readList(sent);
        assertEquals(List.of(1L, 5000L, 1L), segments.stream().map(RemoteSegment::length).toList());
        sent.release();
        answer(call, xid);
    }

    @Test
    void shouldSplitAnArgumentInto64Segments() throws Exception {
        connect(new PeerPolicy(8, true, 64, 100));
        Future<ByteBuf> call = storeTwo(0, 6301, 0);
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        List<RemoteSegment> segments = readList(sent);
        assertEquals(64, segments.size());
        assertEquals(1, segments.get(63).length());
        sent.release();
        assertArrayEquals(Bytes.pattern(6301, 2), fetch(segments));
        answer(call, xid);
    }

    /** Whatever is written of the last segments, and whether the padding is. */
    @ParameterizedTest
    @CsvSource({"6397,6397", "6397,6400", "6400,6400", "1,1", "1,4", "0,0", "99,100", "5801,5801"})
    void shouldOfferAndReadBackWriteChunkOf64Segments(int length, int written) throws Exception {
        connect(new PeerPolicy(8, true, 64, 100));
        Future<ByteBuf> call = server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(6397).writeInt(0));
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        assertEquals(Bytes.digits("00000000 00000001 00000040"), ByteBufUtil.hexDump(sent, 16, 12));
        List<RemoteSegment> segments = writeChunk(sent, 24);
        sent.release();
        byte[] data = Bytes.pattern(written, 3);
        String list = place(segments, data, 100);
        server.peer.sendHex(xid + "00000001 00000020 00000000 00000000 00000001 00000040" + list + "00000000 00000000" + xid
                + SUCCESS + "00000000" + String.format("%08x", length));
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(0, results.readInt());
        byte[] expected = new byte[(length + 3) / 4 * 4];
        System.arraycopy(data, 0, expected, 0, length);
        assertEquals(length, results.readInt());
        assertArrayEquals(expected, ByteBufUtil.getBytes(results));
        results.release();
    }

    /** The contents of the segments are one after the other, as RFC 8166, section 3.4.6.1 has it, filled or not. */
    @Test
    void shouldConcatenateSegmentsOfAWriteChunkThatWereNotFilled() throws Exception {
        connect(new PeerPolicy(8, true, 64, 1000));
        Future<ByteBuf> call = server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(5000).writeInt(0));
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        List<RemoteSegment> segments = writeChunk(sent, 24);
        sent.release();
        byte[] data = Bytes.pattern(2501, 3);
        int[] lengths = {1, 0, 1000, 500, 1000};
        StringBuilder list = new StringBuilder();
        int position = 0;
        for (int i = 0; i < 5; i++) {
            RemoteSegment segment = segments.get(i).withLength(lengths[i]);
            if (lengths[i] > 0) {
                server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(data, position, lengths[i]), segment));
            }
            position += lengths[i];
            list.append(RawPeer.hex(segment));
        }
        server.peer.sendHex(xid + "00000001 00000020 00000000 00000000 00000001 00000005" + list + "00000000 00000000" + xid
                + SUCCESS + "00000000 000009c5");
        ByteBuf results = RpcRdmaPair.result(call);
        assertArrayEquals(data, ByteBufUtil.getBytes(results, results.readerIndex() + 8, 2501));
        results.release();
    }

    @Test
    void shouldIgnoreWhatWasWrittenIntoAnUnusedWriteChunk() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        RawServer.Offer offer = server.offer(5000);
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(5000, 3)), offer.segment()));
        server.peer.sendHex(offer.xid() + "00000001 00000020 00000000 00000000 00000001 00000001"
                + RawPeer.hex(offer.segment().withLength(0)) + "00000000 00000000" + offer.xid() + SUCCESS
                + "00000000 00000004 01020304");
        ByteBuf results = RpcRdmaPair.result(offer.call());
        assertEquals(Bytes.digits("00000000 00000004 01020304"), Bytes.hex(results));
        results.release();
    }

    @Test
    void shouldFailCallWhoseEligibleArgumentIsNotAligned() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = server.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.STORE,
                Unpooled.buffer().writeZero(6000)).setDataItems(List.of(new DataItem(6, 5000))));
        Throwable cause = assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call)).getCause();
        assertEquals("position: 46 (expected: a multiple of 4, at least 0)", cause.getMessage());
        server.requireAlive();
    }

    @Test
    void shouldOfferAndReadBackReplyChunkOf64Segments() throws Exception {
        connect(new PeerPolicy(8, true, 64, 100));
        Future<ByteBuf> call = server.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.NULL, Unpooled.EMPTY_BUFFER)
                .setDataItems(List.of()).setReplySpace(new ReplySpace(6400)));
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        assertEquals(Bytes.digits("00000000 00000000 00000001 00000040"), ByteBufUtil.hexDump(sent, 16, 16));
        List<RemoteSegment> segments = writeChunk(sent, 28);
        sent.release();
        byte[] reply = Unpooled.wrappedBuffer(Bytes.hex(xid + SUCCESS), Unpooled.wrappedBuffer(Bytes.pattern(6277, 5)))
                .copy().array();
        byte[] whole = Arrays.copyOf(reply, 24 + 6277);
        String list = place(segments, whole, 100);
        server.peer.sendHex(xid + "00000001 00000020 00000001 00000000 00000000 00000001 00000040" + list);
        ByteBuf results = RpcRdmaPair.result(call);
        assertArrayEquals(Bytes.pattern(6277, 5), ByteBufUtil.getBytes(results));
        results.release();
    }

    @Test
    void shouldFailCallThatNeedsMoreSegmentsThanPolicyAllowsBeforeItIsSent() throws Exception {
        connect(new PeerPolicy(8, true, 64, 100));
        for (Future<ByteBuf> call : List.of(storeTwo(0, 6401, 0), storeTwo(6401, 0, 0),
                server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(6401).writeInt(0)))) {
            Throwable cause = assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(call)).getCause();
            assertEquals(Reason.TOO_LARGE, assertInstanceOf(RpcRdmaException.class, cause).reason());
            assertTrue(cause.getMessage().contains("in segments of 100 (limit: 64 segments, PeerPolicy.maxSegmentsPerChunk)"),
                    cause.getMessage());
        }
        server.requireAlive();
    }

    @Test
    void shouldFindPlacedResultsByTheBindingWhereSomeChunksWereNotUsed() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = server.start(BulkProgram.LOAD_TWO, Unpooled.buffer().writeInt(5000).writeInt(6001));
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment first = writeChunk(sent, 24).get(0);
        RemoteSegment second = writeChunk(sent, 48).get(0);
        sent.release();
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(6001, 4)), second));
        // The first result is inline, since it turned out to be short; its chunk is unused.
        server.peer.sendHex(xid + "00000001 00000020 00000000 00000000"
                + "00000001 00000001" + RawPeer.hex(first.withLength(0))
                + "00000001 00000001" + RawPeer.hex(second.withLength(6001)) + "00000000 00000000"
                + xid + SUCCESS + "00000003 aabbcc00 12345678 00001771 12345678");
        ByteBuf results = RpcRdmaPair.result(call);
        assertEquals(Bytes.digits("00000003 aabbcc00 12345678 00001771"),
                ByteBufUtil.hexDump(results, results.readerIndex(), 16));
        assertArrayEquals(Bytes.pattern(6001, 4), ByteBufUtil.getBytes(results, results.readerIndex() + 16, 6001));
        assertEquals(Bytes.digits("000000 12345678"), ByteBufUtil.hexDump(results, results.readerIndex() + 16 + 6001, 7));
        results.release();
    }

    /** Which of the two was left out nobody could know. */
    @Test
    void shouldFailCallThatGetsFewerWriteChunksBackThanItOffered() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = server.start(new RpcRequest(BulkProgram.PROGRAM + 1, 1, 0, Unpooled.EMPTY_BUFFER)
                .setDataItems(List.of()).setReplySpace(new ReplySpace(24, List.of(5000, 6001)))); // no binding refuses it
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment first = writeChunk(sent, 24).get(0);
        sent.release();
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(4999, 4)), first.withLength(4999)));
        server.peer.sendHex(xid + "00000001 00000020 00000000 00000000 00000001 00000001" + RawPeer.hex(first.withLength(4999))
                + "00000000 00000000" + xid + SUCCESS + "00001387");
        assertEquals(Reason.MALFORMED, RawServer.failure(call).reason());
        server.requireAlive();
    }

    @Test
    void shouldReadResultsFromWriteChunkAndReplyChunkOfOneReply() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = server.start(BulkProgram.LOAD, Unpooled.buffer().writeInt(5001).writeInt(9002));
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment placed = writeChunk(sent, 24).get(0);
        RemoteSegment rest = writeChunk(sent, 52).get(0);
        assertEquals(Bytes.digits("00000000 00000001 00000001" + RawPeer.hex(placed) + "00000000 00000001 00000001"
                + RawPeer.hex(rest)), ByteBufUtil.hexDump(sent, 16, 56));
        assertEquals(24 + 4 + 9004 + 4, rest.length());
        sent.release();
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(Bytes.pattern(5001, 4)), placed.withLength(5001)));
        ByteBuf stream = Unpooled.wrappedBuffer(Bytes.hex(xid + SUCCESS + "0000232a"),
                Unpooled.wrappedBuffer(Bytes.pattern(9002, 5)), Bytes.hex("0000 00001389"));
        server.peer.send(new RdmaWrite(stream, rest));
        server.peer.sendHex(xid + "00000001 00000020 00000001 00000000 00000001 00000001"
                + RawPeer.hex(placed.withLength(5001)) + "00000000 00000001 00000001" + RawPeer.hex(rest));
        ByteBuf results = RpcRdmaPair.result(call);
        assertArrayEquals(Bytes.pattern(9002, 5), Xdr.readOpaque(results, 9002, "extra"));
        assertArrayEquals(Bytes.pattern(5001, 4), Xdr.readOpaque(results, 5001, "data"));
        assertEquals(0, results.readableBytes());
        results.release();
    }

    @Test
    void shouldFailCallWhoseReplyHasPlacedWhatTheBindingDoesNotAllow() throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        Future<ByteBuf> call = server.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.ECHO, Unpooled.EMPTY_BUFFER)
                .setDataItems(List.of()).setReplySpace(new ReplySpace(24, List.of(5000))));
        ByteBuf sent = server.peer.receive();
        String xid = ByteBufUtil.hexDump(sent, 0, 4);
        RemoteSegment chunk = writeChunk(sent, 24).get(0);
        sent.release();
        server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(new byte[5000]), chunk));
        server.peer.sendHex(xid + "00000001 00000020 00000000 00000000 00000001 00000001" + RawPeer.hex(chunk)
                + "00000000 00000000" + xid + SUCCESS + "00001388");
        assertEquals(Reason.MALFORMED, RawServer.failure(call).reason());
        server.requireAlive();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSayWhatACallOfferedWhoseReplyWasRefused(boolean known) throws Exception {
        connect(PeerPolicy.SPECIFICATION);
        RpcRequest request = new RpcRequest(BulkProgram.PROGRAM + 1, 1, 0, Unpooled.EMPTY_BUFFER);
        if (known) {
            request.setDataItems(List.of()).setReplySpace(new ReplySpace(5000, List.of(7001)));
        }
        Future<ByteBuf> call = server.start(request);
        server.peer.sendHex(server.peer.receiveHex().substring(0, 8) + "00000001 00000020 00000004 00000002");
        RpcRdmaException failure = RawServer.failure(call);
        assertEquals(Reason.REFUSED, failure.reason());
        String message = failure.getMessage();
        if (known) { // 4096 - 28 - 24 - 20 bytes inline
            assertTrue(message.endsWith("it offered a Write chunk of 7004 bytes, a Reply chunk of 5000 bytes, 4024 bytes inline; "
                    + "the request or its UpperLayerBinding says that the reply is within "
                    + "ReplySpace[maxReplyBytes=5000, maxDataItemBytes=[7001]]"), message);
        } else {
            assertTrue(message.contains("it offered a Reply chunk of 1114112 bytes, 4048 bytes inline; nobody said how large the "
                    + "reply can get"), message);
        }
        server.requireAlive();
    }

    private Future<ByteBuf> storeTwo(int head, int a, int b) {
        ByteBuf arguments = server.channel.alloc().directBuffer();
        Xdr.writeOpaque(arguments, Bytes.pattern(head, 1));
        Xdr.writeOpaque(arguments, Bytes.pattern(a, 2));
        arguments.writeInt(BulkProgram.MARK);
        Xdr.writeOpaque(arguments, Bytes.pattern(b, 3));
        return server.start(BulkProgram.STORE_TWO, arguments.writeInt(BulkProgram.MARK));
    }

    private void answer(Future<ByteBuf> call, String xid) throws Exception {
        server.peer.sendHex(xid + "00000001 00000020 00000000" + NO_CHUNKS + xid + SUCCESS);
        RpcRdmaPair.result(call).release();
    }

    private byte[] fetch(List<RemoteSegment> segments) throws Exception {
        ByteBuf all = Unpooled.buffer();
        for (RemoteSegment segment : segments) {
            ByteBuf part = server.peer.channel().alloc().directBuffer((int) segment.length(), (int) segment.length());
            server.peer.send(new RdmaRead(segment, part.retain()));
            all.writeBytes(part);
            part.release();
        }
        return ByteBufUtil.getBytes(all);
    }

    /** Writes data into segments in order, and returns the segments as a reply has them. */
    private String place(List<RemoteSegment> segments, byte[] data, int segmentBytes) throws Exception {
        StringBuilder list = new StringBuilder();
        int position = 0;
        for (RemoteSegment segment : segments) {
            assertEquals(segmentBytes, segment.length());
            RemoteSegment part = segment.withLength(Math.min(segmentBytes, data.length - position));
            if (part.length() > 0) {
                server.peer.send(new RdmaWrite(Unpooled.wrappedBuffer(data, position, (int) part.length()), part));
            }
            position += (int) part.length();
            list.append(RawPeer.hex(part));
        }
        return list.toString();
    }

    private static List<RemoteSegment> readList(ByteBuf sent) {
        List<RemoteSegment> segments = new ArrayList<>();
        for (int index = 16; sent.getInt(index) == 1; index += 24) {
            segments.add(RawServer.segmentAt(sent, index + 8));
        }
        return segments;
    }

    /** The segments of a chunk whose number of segments is at {@code index}. */
    private static List<RemoteSegment> writeChunk(ByteBuf sent, int index) {
        List<RemoteSegment> segments = new ArrayList<>();
        for (int i = 0; i < sent.getInt(index); i++) {
            segments.add(RawServer.segmentAt(sent, index + 4 + 16 * i));
        }
        return segments;
    }
}
