package org.nettyrdma.codec.rpcrdma.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.oncrpc.ExhaustedAllocator;

/** Parts of streams in several pieces. */
class ItemReductionTest {

    private static ByteBuf direct(String text) {
        return Unpooled.directBuffer().writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static CompositeByteBuf threePieces() {
        return Unpooled.compositeBuffer().addComponents(true, direct("abcd").skipBytes(1), direct("efgh"), direct("ijkl"));
    }

    @ParameterizedTest
    @CsvSource({"0,3", "0,1", "2,1", "3,4", "4,2", "6,1", "7,4", "0,11", "2,2", "1,9", "3,5", "0,0", "3,0", "11,0"})
    void shouldTakeAnyPartOfAStream(int index, int length) {
        CompositeByteBuf stream = threePieces();
        ByteBuf part = ItemReduction.retainedPart(stream, index, length);
        assertEquals("bcdefghijkl".substring(index, index + length), part.toString(StandardCharsets.US_ASCII));
        stream.release();
        assertEquals("bcdefghijkl".substring(index, index + length), part.toString(StandardCharsets.US_ASCII),
                "without the stream");
        part.release();
        assertEquals(0, stream.refCnt());
    }

    @Test
    void shouldFindTheMemoryOfAPartThatLiesInOnePiece() {
        CompositeByteBuf stream = threePieces();
        ByteBuf inOne = ItemReduction.retainedPart(stream, 3, 4);
        ByteBuf inTwo = ItemReduction.retainedPart(stream, 2, 4);
        ByteBuf ofPlain = ItemReduction.retainedPart(stream.component(1), 1, 2);
        assertTrue(inOne.hasMemoryAddress());
        assertFalse(inTwo.hasMemoryAddress());
        assertEquals("fg", ofPlain.toString(StandardCharsets.US_ASCII));
        stream.release();
        assertTrue(inTwo.release());
        assertEquals("65666768", ByteBufUtil.hexDump(inOne), "a piece outlives the stream");
        inOne.release();
        assertTrue(ofPlain.release());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void shouldReleaseAllWhereItCannotPutContentsIn(int pieces) {
        ByteBuf stream = direct("abcdefghijkl");
        List<ByteBuf> contents = List.of(direct("1234"), direct("5678"));
        assertThrows(OutOfMemoryError.class, () -> ItemReduction.putIn(ExhaustedAllocator.ofPieces(pieces), stream,
                List.of(new DataItem(4, 4), new DataItem(8, 4)), contents));
        assertEquals(0, stream.refCnt());
        contents.forEach(content -> assertEquals(0, content.refCnt()));
    }
}
