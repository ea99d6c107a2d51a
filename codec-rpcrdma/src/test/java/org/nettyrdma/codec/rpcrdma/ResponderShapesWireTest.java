package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.nettyrdma.codec.rpcrdma.RawClient.CALL;
import static org.nettyrdma.codec.rpcrdma.RawClient.GARBAGE_ARGS;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_AUTH;
import static org.nettyrdma.codec.rpcrdma.RawClient.NO_CHUNKS;
import static org.nettyrdma.codec.rpcrdma.RawClient.SUCCESS;
import static org.nettyrdma.codec.rpcrdma.RawClient.chunk;
import static org.nettyrdma.codec.rpcrdma.RawClient.entry;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** Chunk lists of every shape that RFC 8166 allows, in calls written by hand. */
@Timeout(120)
class ResponderShapesWireTest {

    private static final String MSG = "00000000";
    private static final String NOMSG = "00000001";
    private static final String ERROR = "00000004";
    private static final String MARK = "12345678";
    private static final String X = "00000007";
    /** STORE_TWO of an opaque of 12 and one of 6 bytes behind an empty head, in the parts around them. */
    private static final String STORE_TWO = X + CALL + "00000007" + NO_AUTH + "00000000";
    private static final int A = 48;
    private static final int B = 48 + 12 + 8;

    private final byte[] data = Bytes.pattern(32, 9);
    private RawClient client;
    private ByteBuf memory;

    @BeforeEach
    void connect() throws Exception {
        client = new RawClient(ShortSends.server().program(new BulkProgram(true)).binding(BulkProgram.BINDING));
        memory = client.peer.registered(data);
    }

    @AfterEach
    void disconnect() {
        memory.release();
        client.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {6, 8})
    void shouldPutSeveralReadChunksIntoAnInlineCall(int lastChunkBytes) throws Exception {
        client.exchange(X, MSG, entry(A, client.readable(memory, 0, 12)) + entry(B, client.readable(memory, 12, lastChunkBytes))
                + NO_CHUNKS + STORE_TWO + "0000000c" + MARK + "00000006" + MARK, MSG, stored(12, 6));
        assertEquals(12 + lastChunkBytes, client.server.statistics().get(Counter.READ_CHUNK_BYTES));
    }

    @Test
    void shouldTakeReadChunksInAnyOrder() throws Exception {
        client.exchange(X, MSG, entry(B, client.readable(memory, 12, 4)) + entry(A, client.readable(memory, 0, 12))
                + entry(B, client.readable(memory, 16, 2))
                + NO_CHUNKS + STORE_TWO + "0000000c" + MARK + "00000006" + MARK, MSG, stored(12, 6));
    }

    @Test
    void shouldTakeOneArgumentInAChunkAndTheOtherInline() throws Exception {
        String a = ByteBufUtil.hexDump(data, 0, 12);
        client.exchange(X, MSG, entry(B, client.readable(memory, 12, 6))
                + NO_CHUNKS + STORE_TWO + "0000000c" + a + MARK + "00000006" + MARK, MSG, stored(12, 6));
    }

    /** The positions are those in the whole message, not those in what the Position Zero chunk holds. */
    @Test
    void shouldPutReadChunksIntoALongCallAtTheirPositionsInTheWholeMessage() throws Exception {
        ByteBuf stream = client.peer.channel().alloc().directBuffer()
                .writeBytes(Bytes.hex(STORE_TWO + "0000000c" + MARK + "00000006" + MARK));
        int half = 20;
        RemoteSegment first = client.readable(stream, 0, half);
        RemoteSegment second = client.readable(stream, half, stream.readableBytes() - half);
        RemoteSegment a = client.readable(memory, 0, 12);
        RemoteSegment b = client.readable(memory, 12, 6);
        client.exchange(X, NOMSG, entry(0, first) + entry(0, second) + entry(A, a) + entry(B, b) + NO_CHUNKS, MSG,
                stored(12, 6));
        stream.release();
    }

    @Test
    void shouldJoin64SegmentsOfAReadChunkOfWhichManyAreEmptyOrOneByteLong() throws Exception {
        StringBuilder list = new StringBuilder();
        for (int i = 0; i < 64; i++) {
            list.append(entry(A, i % 2 == 0 ? client.readable(memory, i / 2, 1) : new RemoteSegment(0xbad, 0, 0)));
        }
        client.exchange(X, MSG, list + NO_CHUNKS + STORE_TWO + "00000020" + MARK + "00000000" + MARK, MSG, stored(32, 0));

        client.exchange(X, MSG, list + entry(A, client.readable(memory, 31, 1)) + NO_CHUNKS + STORE_TWO + "00000021" + MARK
                + "00000000" + MARK, ERROR, "00000002"); // a 65th
        client.requireAlive();
    }

    @Test
    void shouldTakeAnEmptyReadChunkForAnEmptyArgument() throws Exception {
        client.exchange(X, MSG, entry(A, new RemoteSegment(0xbad, 0, 0)) + NO_CHUNKS + STORE_TWO + "00000000" + MARK
                + "00000000" + MARK, MSG, stored(0, 0));
    }

    @Test
    void shouldFill64SegmentsOfAWriteChunkAndOfTheReplyChunk() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[10_000]);
        RemoteSegment[] segments = new RemoteSegment[64];
        for (int i = 0; i < 64; i++) { // 1, 0, 1, 0, ... and a large one at the end
            segments[i] = client.writable(sink, i, i % 2 == 0 ? 1 : 4).withLength(i == 63 ? 4 : 1 - i % 2);
        }
        client.requireAlive();
        RemoteSegment[] written = segments.clone();
        written[63] = segments[63].withLength(1);
        client.exchange(X, MSG, "00000000" + chunk(segments) + "00000000 00000000" + loadTwo(33, 0), MSG, "00000000"
                + chunk(written) + "00000000 00000000" + X + SUCCESS + "00000021" + MARK + "00000000" + MARK);
        byte[] expected = Bytes.pattern(33, 1);
        for (int i = 0; i < 32; i++) {
            assertEquals(expected[i], sink.getByte(2 * i));
        }
        assertEquals(expected[32], sink.getByte(63));

        for (int i = 0; i < 64; i++) {
            segments[i] = client.writable(sink, 100 * i, 100);
            written[i] = segments[i].withLength(Math.max(0, Math.min(100, 6044 - 100 * i)));
        }
        client.exchange(X, MSG, "00000000 00000000" + chunk(segments) + loadTwo(5999, 3), NOMSG,
                "00000000 00000000" + chunk(written));
        assertEquals(Bytes.digits(X + SUCCESS + "0000176f"), ByteBufUtil.hexDump(sink, 0, 28));
        assertArrayEquals(Bytes.pattern(5999, 1), ByteBufUtil.getBytes(sink, 28, 5999));
        sink.release();
    }

    @Test
    void shouldMatchWriteChunksInOrderToResults() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[300]);
        RemoteSegment first = client.writable(sink, 0, 100);
        RemoteSegment second = client.writable(sink, 100, 100);
        RemoteSegment third = client.writable(sink, 200, 100);
        client.exchange(X, MSG, "00000000" + chunk(first) + chunk(second) + chunk(third) + "00000000 00000000"
                + loadTwo(9, 10), MSG, "00000000" + chunk(first.withLength(9)) + chunk(second.withLength(10))
                + chunk(third.withLength(0)) + "00000000 00000000"
                + X + SUCCESS + "00000009" + MARK + "0000000a" + MARK);
        assertArrayEquals(Arrays.copyOf(Bytes.pattern(9, 1), 100), ByteBufUtil.getBytes(sink, 0, 100), "and no padding");
        assertArrayEquals(Arrays.copyOf(Bytes.pattern(10, 2), 100), ByteBufUtil.getBytes(sink, 100, 100));
        assertArrayEquals(new byte[100], ByteBufUtil.getBytes(sink, 200, 100));
        sink.release();
    }

    @Test
    void shouldLeaveResultsInlineThatHaveNoWriteChunk() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[100]);
        RemoteSegment only = client.writable(sink, 0, 100);
        client.exchange(X, MSG, "00000000" + chunk(only) + "00000000 00000000" + loadTwo(9, 10), MSG,
                "00000000" + chunk(only.withLength(9)) + "00000000 00000000" + X + SUCCESS + "00000009" + MARK
                + "0000000a" + ByteBufUtil.hexDump(Bytes.pattern(10, 2)) + "0000" + MARK);
        sink.release();
    }

    /** No room at all is no room to be overrun: the result travels as if the chunk were not there, the next one has its own. */
    @Test
    void shouldLeaveResultInlineWhoseWriteChunkIsEmpty() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[100]);
        RemoteSegment second = client.writable(sink, 0, 100);
        RemoteSegment empty = new RemoteSegment(0xbad, 0, 0x1234);
        client.exchange(X, MSG, "00000000" + chunk(empty, empty) + chunk(second) + "00000000 00000000" + loadTwo(9, 10), MSG,
                "00000000" + chunk(empty, empty) + chunk(second.withLength(10)) + "00000000 00000000" + X + SUCCESS
                + "00000009" + ByteBufUtil.hexDump(Bytes.pattern(9, 1)) + "000000" + MARK + "0000000a" + MARK);
        sink.release();
    }

    /** What a client of NFSv4 sends to have one of several results inline (RFC 8166, section 4.3.2.3). */
    @Test
    void shouldLeaveResultInlineWhoseWriteChunkHasNoSegments() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[100]);
        RemoteSegment second = client.writable(sink, 0, 100);
        client.exchange(X, MSG, "00000000" + chunk() + chunk(second) + "00000000" + chunk() + loadTwo(9, 10), MSG,
                "00000000" + chunk() + chunk(second.withLength(10)) + "00000000" + chunk() + X + SUCCESS
                + "00000009" + ByteBufUtil.hexDump(Bytes.pattern(9, 1)) + "000000" + MARK + "0000000a" + MARK);
        assertArrayEquals(Bytes.pattern(10, 2), ByteBufUtil.getBytes(sink, 0, 10));
        client.exchange(X, MSG, "00000000 00000000" + chunk() + loadTwo(9, 5001), ERROR, "00000002");
        client.requireAlive();
        sink.release();
    }

    @Test
    void shouldRefuseWriteChunkThatIsTooShortForItsResultThoughAnotherHasRoom() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[300]);
        RemoteSegment longer = client.writable(sink, 0, 200);
        RemoteSegment shorter = client.writable(sink, 200, 9);
        client.exchange(X, MSG, "00000000" + chunk(longer) + chunk(shorter) + chunk(longer) + loadTwo(9, 10), ERROR,
                "00000002");
        assertArrayEquals(new byte[300], ByteBufUtil.getBytes(sink), "nothing was written");
        client.requireAlive();
        sink.release();
    }

    @Test
    void shouldUseWriteChunksAndTheReplyChunkInOneReply() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[10_000]);
        RemoteSegment placed = client.writable(sink, 0, 100);
        RemoteSegment rest = client.writable(sink, 100, 9000);
        // The rest: 24 bytes of header, the length of a, a mark, the whole of b, a mark.
        client.exchange(X, MSG, "00000000" + chunk(placed) + "00000000" + chunk(rest) + loadTwo(9, 5001), NOMSG,
                "00000000" + chunk(placed.withLength(9)) + "00000000" + chunk(rest.withLength(24 + 4 + 4 + 4 + 5004 + 4)));
        assertArrayEquals(Bytes.pattern(9, 1), ByteBufUtil.getBytes(sink, 0, 9));
        assertEquals(Bytes.digits(X + SUCCESS + "00000009" + MARK + "00001389"), ByteBufUtil.hexDump(sink, 100, 36));
        assertArrayEquals(Bytes.pattern(5001, 2), ByteBufUtil.getBytes(sink, 136, 5001));

        client.exchange(X, MSG, "00000000" + chunk(placed) + "00000000" + chunk(rest) + loadTwo(9, 0), MSG,
                "00000000" + chunk(placed.withLength(9)) + "00000000" + chunk(rest.withLength(0))
                + X + SUCCESS + "00000009" + MARK + "00000000" + MARK);
        sink.release();
    }

    @Test
    void shouldTreatRdmaMsgpAsRdmaMsgAndNotSendIt() throws Exception {
        client.exchange(X, "00000002", "00000100 00001000" + NO_CHUNKS + loadTwo(1, 0), MSG,
                NO_CHUNKS + X + SUCCESS + "00000001" + ByteBufUtil.hexDump(Bytes.pattern(1, 1)) + "000000" + MARK + "00000000"
                + MARK);
    }

    @ParameterizedTest
    @CsvSource({
        "44, 12, 12, 6",   // the length word of a
        "52, 8, 12, 6",    // the middle of a
        "48, 11, 12, 6",   // a byte short of the count that is left inline
        "48, 16, 12, 6",   // a word longer
        "48, 4, 12, 6",
        "60, 4, 12, 6",    // the mark
        "40, 12, 12, 6",   // the head, which is not eligible
    })
    void shouldAnswerGarbageArgumentsWhereAReadChunkIsNoEligibleArgument(int position, int chunkBytes, int a, int b)
            throws Exception {
        // What is inline is the call without as many bytes as the chunk makes up for, so that it is complete as such.
        String whole = Bytes.digits(STORE_TWO + String.format("%08x", a) + ByteBufUtil.hexDump(data, 0, a) + MARK
                + String.format("%08x", b) + ByteBufUtil.hexDump(data, 12, b) + "0000" + MARK);
        String inline = whole.substring(0, 2 * position)
                + whole.substring(2 * Math.min(position + (chunkBytes + 3) / 4 * 4, whole.length() / 2));
        client.exchange(X, MSG, entry(position, client.readable(memory, 0, chunkBytes)) + NO_CHUNKS + inline, MSG,
                NO_CHUNKS + X + GARBAGE_ARGS);
        client.requireAlive();
        assertEquals(1, client.server.statistics().get(Counter.BINDING_VIOLATIONS));
    }

    @Test
    void shouldAnswerGarbageArgumentsWhereTheBindingCannotParseTheCall() throws Exception {
        client.exchange(X, MSG, entry(48, client.readable(memory, 0, 4)) + NO_CHUNKS + STORE_TWO + "7fffffff", MSG,
                NO_CHUNKS + X + GARBAGE_ARGS);
        client.requireAlive();
    }

    /** A Position Zero chunk may hold anything, and what is in it is the program's to judge. */
    @Test
    void shouldPassUpLongCallThatTheBindingCannotParse() throws Exception {
        ByteBuf stream = client.peer.channel().alloc().directBuffer().writeBytes(Bytes.hex(X + CALL + "00000063" + NO_AUTH));
        client.exchange(X, NOMSG, entry(0, client.readable(stream, 0, 40)) + NO_CHUNKS, MSG,
                NO_CHUNKS + X + "00000001 00000000 00000000 00000000 00000003");
        stream.release();

        stream = client.peer.channel().alloc().directBuffer().writeBytes(Bytes.hex(STORE_TWO));
        client.exchange(X, NOMSG, entry(0, client.readable(stream, 0, 44)) + NO_CHUNKS, MSG, NO_CHUNKS + X + GARBAGE_ARGS);
        assertEquals(0, client.server.statistics().get(Counter.BINDING_VIOLATIONS));
        stream.release();
    }

    @Test
    void shouldReturnTheOfferedChunksUnusedWithGarbageArguments() throws Exception {
        ByteBuf sink = client.peer.registered(new byte[100]);
        RemoteSegment offered = client.writable(sink, 0, 100);
        client.exchange(X, MSG, entry(60, client.readable(memory, 0, 4)) + "00000000" + chunk(offered) + "00000000"
                + chunk(offered) + STORE_TWO + "0000000c" + ByteBufUtil.hexDump(data, 0, 12) + "00000006" + "000000000000"
                + "0000" + MARK, MSG, "00000000" + chunk(offered.withLength(0)) + "00000000" + chunk(offered.withLength(0))
                + X + GARBAGE_ARGS);
        sink.release();
    }

    @Test
    void shouldTakeReadChunksAnywhereInCallsOfProgramsWithoutABinding() throws Exception {
        try (RawClient plain = new RawClient(ShortSends.server().program(new BulkProgram(true)))) {
            ByteBuf source = plain.peer.registered(data);
            // ECHO of 24 bytes, of which the chunks have the first 12 and from 16 to 22.
            plain.exchange(X, MSG, entry(44, plain.readable(source, 0, 12)) + entry(60, plain.readable(source, 16, 6))
                    + NO_CHUNKS + X + CALL + "00000001" + NO_AUTH + "00000018" + ByteBufUtil.hexDump(data, 12, 4), MSG,
                    NO_CHUNKS + X + SUCCESS + "00000018" + ByteBufUtil.hexDump(data, 0, 22) + "0000");
            source.release();
        }
    }

    private static String loadTwo(int a, int b) {
        return X + CALL + "00000004" + NO_AUTH + String.format("%08x%08x", a, b);
    }

    /** From the lists on: the answer to STORE_TWO with an empty head and the first bytes of the data. */
    private String stored(int a, int b) {
        return NO_CHUNKS + X + SUCCESS + String.format("%08x%08x%08x%08x%08x%08x", 0, BulkProgram.sum(Unpooled.EMPTY_BUFFER),
                a, BulkProgram.sum(Unpooled.wrappedBuffer(data, 0, a)), b,
                BulkProgram.sum(Unpooled.wrappedBuffer(data, a, b)));
    }
}
