package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.junit.jupiter.api.Test;

class MessageAssemblyTest {

    private static final ByteBufAllocator ALLOC = UnpooledByteBufAllocator.DEFAULT;
    private static final int BODY_BYTES = 2 * MessageAssembly.MAX_COPIED_BYTES;

    private static CompositeByteBuf body(int maxPieces) {
        return ALLOC.compositeBuffer(maxPieces).addComponent(true, Unpooled.buffer().writeInt(7))
                .addComponent(true, Unpooled.buffer().writeZero(BODY_BYTES - 4));
    }

    private static ByteBuf join(ByteBuf body) {
        return MessageAssembly.join(ALLOC, Unpooled.buffer().writeInt(1).writeInt(2), body);
    }

    private static void assertWhole(ByteBuf message) {
        ByteBuf expected = Unpooled.buffer().writeInt(1).writeInt(2).writeInt(7).writeZero(BODY_BYTES - 4);
        assertTrue(ByteBufUtil.equals(expected, message));
        expected.release();
    }

    @Test
    void shouldPutTheHeaderInFrontOfPiecesThatHaveRoomForIt() {
        CompositeByteBuf body = body(3);
        ByteBuf message = join(body);
        assertSame(body, message);
        assertEquals(3, body.numComponents());
        assertWhole(message);
        assertTrue(message.release());
    }

    @Test
    void shouldLeavePiecesWithoutRoomAsTheyAreAndCopyNone() {
        CompositeByteBuf body = body(2);
        CompositeByteBuf message = (CompositeByteBuf) join(body);
        assertNotSame(body, message);
        assertEquals(3, message.numComponents());
        assertWhole(message);
        assertTrue(message.release());
        assertEquals(0, body.refCnt());
    }

    @Test
    void shouldNotChangePiecesThatSomebodyElseLooksAt() {
        CompositeByteBuf body = body(3).retain();
        ByteBuf message = join(body);
        assertEquals(BODY_BYTES, body.readableBytes());
        assertEquals(7, body.getInt(0));
        assertWhole(message);
        assertTrue(message.release());
        assertTrue(body.release());
    }

    @Test
    void shouldTakePiecesFromTheirReaderIndexOn() {
        CompositeByteBuf body = body(3).addComponent(true, 0, Unpooled.buffer().writeInt(9));
        body.readerIndex(4);
        ByteBuf message = join(body);
        assertWhole(message);
        assertTrue(message.release());
    }

    @Test
    void shouldReleaseBothWherePiecesCannotTakeTheHeader() {
        CompositeByteBuf body = ExhaustedAllocator.ofPieces(1).compositeBuffer(16)
                .addComponent(true, Unpooled.buffer().writeZero(BODY_BYTES));
        ByteBuf header = Unpooled.buffer().writeInt(1);
        assertThrows(OutOfMemoryError.class, () -> MessageAssembly.join(ALLOC, header, body));
        assertEquals(0, header.refCnt());
        assertEquals(0, body.refCnt());
    }

    @Test
    void shouldReleaseBothWhereTheMessageCannotTakeTheHeader() {
        ByteBuf header = Unpooled.buffer().writeInt(1);
        ByteBuf body = Unpooled.buffer().writeZero(BODY_BYTES);
        assertThrows(OutOfMemoryError.class, () -> MessageAssembly.join(ExhaustedAllocator.ofPieces(0), header, body));
        assertEquals(0, header.refCnt());
        assertEquals(0, body.refCnt());
    }
}
