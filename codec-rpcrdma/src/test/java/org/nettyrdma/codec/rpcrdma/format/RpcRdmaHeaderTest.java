package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.Bytes.digits;
import static org.nettyrdma.codec.rpcrdma.Bytes.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException.Reason;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The bytes come from the XDR of RFC 8166, section 4.1.2, and from what a Linux kernel sent and accepted. */
class RpcRdmaHeaderTest {

    private static final HeaderFormat FORMAT = new VersionOneFormat(RpcRdmaLimits.DEFAULT, SpokenVersions.ONE);

    private static final String CHUNK_FREE = "0000002a 00000001 00000020 00000000 | 00000000 00000000 00000000";

    /** A READ call of the Linux client: one Write chunk with a data and a padding segment. */
    private static final String WRITE_CHUNK_CALL = """
            e8f06022 00000001 00000080 00000000 | 00000000 | 00000001 00000002
            cfd9ab01 00001001 e8f06022 02e0f000
            84b69e01 00000004 00000000 00a2af2c
            00000000 | 00000000""";

    /** Two Read chunks, the first of two segments; Write chunks of three and two segments; a Reply chunk of two. */
    private static final String ALL_CHUNKS = """
            00000007 00000001 00000003 00000000
            00000001 00000030 00000a01 00000010 00000000 00001000
            00000001 00000030 00000a02 00000005 00000000 00002000
            00000001 00000060 00000a03 00000007 80000000 00003000
            00000000
            00000001 00000003 00000b01 00000100 00000000 00000001
                              00000b02 00000200 00000000 00000002
                              00000b03 00000300 00000000 00000003
            00000001 00000002 00000b04 00000400 00000000 00000004
                              00000b05 00000500 00000000 00000005
            00000000
            00000001 00000002 ffffffff ffffffff 00000000 00000000
                              00000c02 00000000 ffffffff ffffffff""";

    private static final String LONG_CALL = """
            00000002 00000001 00000020 00000001
            00000001 00000000 00002200 00000028 00000000 00000000 00000000
            00000000 00000000""";

    private static final String LONG_REPLY = """
            00000003 00000001 00000040 00000001 | 00000000 00000000
            00000001 00000001 00003300 00000018 00000000 00000040""";

    private static final String ERR_VERS = "00000004 00000002 00000040 00000004 00000001 00000001 00000001";

    private static final String ERR_CHUNK = "00000005 00000001 00000040 00000004 00000002";

    static Stream<String> wellFormed() {
        return Stream.of(CHUNK_FREE, WRITE_CHUNK_CALL, ALL_CHUNKS, LONG_CALL, LONG_REPLY, ERR_VERS, ERR_CHUNK);
    }

    @Test
    void shouldDecodeMessageWithoutChunks() throws RpcRdmaException {
        ByteBuf in = hex(CHUNK_FREE + "0000002a 00000000");

        Msg header = assertInstanceOf(Msg.class, read(in));

        assertEquals(42, header.xid());
        assertEquals(1, header.version());
        assertEquals(32, header.credits());
        assertSame(ChunkLists.EMPTY, header.chunks());
        assertEquals(8, in.readableBytes(), "the RPC message follows");
    }

    @Test
    void shouldDecodeWriteChunkOfSeveralSegments() throws RpcRdmaException {
        Msg header = assertInstanceOf(Msg.class, read(hex(WRITE_CHUNK_CALL)));

        assertEquals(0xe8f06022, header.xid());
        WriteChunk chunk = new WriteChunk(List.of(new RemoteSegment(0xcfd9ab01, 4097, 0xe8f0602202e0f000L),
                new RemoteSegment(0x84b69e01, 4, 0x00a2af2cL)));
        assertEquals(new ChunkLists(List.of(), List.of(chunk), null), header.chunks());
        assertEquals(4101, chunk.lengthBytes());
    }

    @Test
    void shouldDecodeChunksOfEveryKind() throws RpcRdmaException {
        ChunkLists chunks = assertInstanceOf(Msg.class, read(hex(ALL_CHUNKS))).chunks();

        assertEquals(List.of(
                new ReadChunk(0x30, List.of(new RemoteSegment(0xa01, 16, 0x1000), new RemoteSegment(0xa02, 5, 0x2000))),
                new ReadChunk(0x60, List.of(new RemoteSegment(0xa03, 7, 0x8000000000003000L)))), chunks.readChunks());
        assertEquals(List.of(3, 2), chunks.writeChunks().stream().map(chunk -> chunk.segments().size()).toList());
        assertEquals(0x600, chunks.writeChunks().get(0).lengthBytes());
        assertEquals(0x900, chunks.writeChunks().get(1).lengthBytes());
        assertEquals(List.of(new RemoteSegment(-1, 0xFFFFFFFFL, 0), new RemoteSegment(0xc02, 0, -1)),
                chunks.replyChunk().segments());
    }

    @Test
    void shouldDecodeLongCallAndLongReply() throws RpcRdmaException {
        NoMsg call = assertInstanceOf(NoMsg.class, read(hex(LONG_CALL)));
        assertTrue(call.chunks().hasPositionZeroChunk());
        assertEquals(new RemoteSegment(0x2200, 40, 0), call.chunks().readChunks().get(0).segments().get(0));
        assertNull(call.chunks().replyChunk());

        NoMsg reply = assertInstanceOf(NoMsg.class, read(hex(LONG_REPLY)));
        assertEquals(new WriteChunk(List.of(new RemoteSegment(0x3300, 24, 0x40))), reply.chunks().replyChunk());
    }

    @Test
    void shouldDecodeErrors() throws RpcRdmaException {
        assertEquals(new VersionError(4, 2, 64, 1, 1), read(hex(ERR_VERS)));
        assertEquals(new ChunkError(5, 1, 64), read(hex(ERR_CHUNK)));
    }

    @Test
    void shouldTreatObsoletePaddedMessageAsMessage() throws RpcRdmaException {
        ByteBuf in = hex("00000001 00000001 00000020 00000002 | 00001000 00000400 | 00000000 00000000 00000000 | 00000001");

        assertEquals(new Msg(1, 32, ChunkLists.EMPTY), read(in));
        assertEquals(4, in.readableBytes());
    }

    @Test
    void shouldSortReadChunksAndJoinSegmentsOfEqualPosition() throws RpcRdmaException {
        Msg header = assertInstanceOf(Msg.class, read(hex("""
                00000007 00000001 00000003 00000000
                00000001 00000060 00000003 00000003 00000000 00000000
                00000001 00000030 00000001 00000001 00000000 00000000
                00000001 00000060 00000004 00000004 00000000 00000000
                00000000 00000000 00000000""")));

        assertEquals(List.of(
                new ReadChunk(0x30, List.of(new RemoteSegment(1, 1, 0))),
                new ReadChunk(0x60, List.of(new RemoteSegment(3, 3, 0), new RemoteSegment(4, 4, 0)))),
                header.chunks().readChunks());
    }

    @ParameterizedTest
    @MethodSource("wellFormed")
    void shouldEncodeWhatWasDecoded(String digits) throws RpcRdmaException {
        RpcRdmaHeader header = read(hex(digits));
        ByteBuf out = Unpooled.buffer();

        FORMAT.write(header, Role.NEITHER, out);

        assertEquals(digits(digits), hex(out));
        assertEquals(out.readableBytes(), FORMAT.lengthOf(header));
    }

    @ParameterizedTest
    @MethodSource("wellFormed")
    void shouldRejectEveryTruncation(String digits) {
        ByteBuf whole = hex(digits);
        for (int length = HeaderLayout.FIXED_LENGTH; length < whole.readableBytes(); length++) {
            ByteBuf truncated = whole.copy(0, length);
            RpcRdmaException e = assertThrows(RpcRdmaException.class, () -> read(truncated), "length " + length);
            assertEquals(Reason.MALFORMED, e.reason());
            assertEquals(1, truncated.refCnt(), "the reader neither keeps nor releases the message");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 3, 0x7fffffff, -1})
    void shouldRefuseOtherVersions(int version) {
        ByteBuf in = hex(CHUNK_FREE).setInt(4, version);
        RpcRdmaException e = assertThrows(RpcRdmaException.class, () -> read(in));
        assertEquals(Reason.VERSION, e.reason());
        assertTrue(e.getMessage().contains(Integer.toUnsignedString(version)), e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 6, 0x10000, -1})
    void shouldRefuseUnknownTypes(int type) {
        assertMalformed(hex(CHUNK_FREE).setInt(12, type), Integer.toUnsignedString(type));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00000001 00000001 00000020 00000001 | 00000000 00000000 00000000 | 00",              // bytes after RDMA_NOMSG
        "00000005 00000001 00000040 00000004 00000002 00000000",                              // bytes after an error
        "00000005 00000001 00000040 00000004 00000003",                                       // unknown error
        "00000001 00000001 00000020 00000000 | 00000002 00000000 00000000",                   // presence neither 0 nor 1
        "00000001 00000001 00000020 00000000 | 00000000 ffffffff 00000000",
        "00000001 00000001 00000020 00000000 | 00000000 00000000 00000100",
    })
    void shouldRefuseOtherDefects(String digits) {
        assertMalformed(hex(digits), "");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 0x33, 0x7ffffffc, 0x80000000, -1, -4})
    void shouldRefusePositionsThatCannotBe(int position) {
        assertMalformed(hex(LONG_CALL).setInt(20, position), Integer.toUnsignedString(position));
    }

    @ParameterizedTest
    @ValueSource(ints = {65, 0x0fffffff, 0x10000000, 0x7fffffff, 0x80000000, -1})
    void shouldRefuseSegmentCountsBeyondTheLimitAndTheBytes(int count) {
        assertMalformed(hex(WRITE_CHUNK_CALL).setInt(24, count), Integer.toUnsignedString(count));
        assertMalformed(hex(LONG_REPLY).setInt(28, count), Integer.toUnsignedString(count));
    }

    @Test
    void shouldRefuseSegmentsThatWrapAround() throws RpcRdmaException {
        ByteBuf atTheEnd = hex(LONG_REPLY).setLong(40, -24L);
        assertInstanceOf(NoMsg.class, read(atTheEnd), "the last byte of the address space is a byte");

        assertMalformed(hex(LONG_REPLY).setLong(40, -23L), "address space");
    }

    @Test
    void shouldAcceptChunksUpToTheLimitsAndNotBeyond() throws RpcRdmaException {
        for (int segments : new int[] {1, 16, 64}) {
            assertEquals(segments, readChunks(message(1, segments, 0, 0)).readChunks().get(0).segments().size());
            assertEquals(segments, readChunks(message(0, 0, 1, segments)).writeChunks().get(0).segments().size());
        }
        assertMalformed(message(1, 65, 0, 0), "65");
        assertMalformed(message(0, 0, 1, 65), "65");

        assertEquals(8, readChunks(message(8, 1, 8, 1)).readChunks().size());
        assertEquals(8, readChunks(message(8, 2, 8, 2)).writeChunks().size());
        assertMalformed(message(9, 1, 0, 0), "8");
        assertMalformed(message(0, 0, 9, 1), "8");
    }

    @Test
    void shouldCountSegmentsOfAChunkAlsoWhenItsEntriesAreApart() {
        ByteBuf in = Unpooled.buffer().writeBytes(hex("00000007 00000001 00000003 00000000"));
        for (int i = 0; i < 65; i++) {
            for (int position : new int[] {0x30, 0x60}) {
                in.writeInt(1).writeInt(position).writeInt(i).writeInt(1).writeLong(0);
            }
        }
        assertMalformed(in.writeZero(12), "65");
    }

    @Test
    void shouldBeBoundedByItsOwnLimits() throws RpcRdmaException {
        HeaderFormat strict = new VersionOneFormat(RpcRdmaLimits.DEFAULT.withMaxChunks(2, 1, 1)
                .withMaxMessageBytes(1024), SpokenVersions.ONE);
        strict.read(message(1, 2, 1, 2));
        assertRefused(strict, message(1, 3, 0, 0), "2, RpcRdmaLimits.maxSegmentsPerChunk)");
        assertRefused(strict, message(0, 0, 1, 3), "2, RpcRdmaLimits.maxSegmentsPerChunk)");
        assertRefused(strict, message(2, 1, 0, 0), "more than 1 Read chunks (RpcRdmaLimits.maxReadChunks)");
        assertRefused(strict, message(0, 0, 2, 1), "more than 1 Write chunks (RpcRdmaLimits.maxWriteChunks)");
        assertRefused(strict, hex(LONG_CALL).setInt(20, 1028), "1024, RpcRdmaLimits.maxMessageBytes)");
    }

    private static void assertRefused(HeaderFormat format, ByteBuf in, String why) {
        String text = assertThrows(RpcRdmaException.class, () -> format.read(in)).getMessage();
        assertTrue(text.contains(why), text);
    }

    @Test
    void shouldKnowEveryTypeByItsCode() {
        for (MessageType type : MessageType.values()) {
            assertEquals(type == MessageType.UNKNOWN ? MessageType.UNKNOWN : type, MessageType.of(type.code()));
        }
        assertEquals(MessageType.UNKNOWN, MessageType.of(5));
        assertEquals(4, MessageType.RDMA_ERROR.code());
    }

    /** A message with so many chunks of so many segments, put together by the XDR of the draft. */
    private static ByteBuf message(int readChunks, int readSegments, int writeChunks, int writeSegments) {
        ByteBuf out = Unpooled.buffer();
        out.writeInt(7).writeInt(1).writeInt(3).writeInt(0);
        for (int chunk = 0; chunk < readChunks; chunk++) {
            for (int i = 0; i < readSegments; i++) {
                out.writeInt(1).writeInt(0x40 + 4 * chunk).writeInt(i).writeInt(1).writeLong(0);
            }
        }
        out.writeInt(0);
        for (int chunk = 0; chunk < writeChunks; chunk++) {
            out.writeInt(1).writeInt(writeSegments);
            for (int i = 0; i < writeSegments; i++) {
                out.writeInt(i).writeInt(1).writeLong(0);
            }
        }
        return out.writeInt(0).writeInt(0);
    }

    private static RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        return FORMAT.read(in);
    }

    private static ChunkLists readChunks(ByteBuf in) throws RpcRdmaException {
        return assertInstanceOf(Msg.class, read(in)).chunks();
    }

    private static void assertMalformed(ByteBuf in, String named) {
        RpcRdmaException e = assertThrows(RpcRdmaException.class, () -> read(in));
        assertEquals(Reason.MALFORMED, e.reason());
        assertTrue(e.getMessage().contains(named), e.getMessage());
    }
}
