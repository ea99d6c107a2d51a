package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The short way of headers without chunks in version 1, against the way of all others with the same bytes. */
class InlineHeaderTest {

    private static final int XID = 0x8000_0001;

    private static byte[] header(long credits) {
        ByteBuf out = Unpooled.buffer();
        new VersionOneFormat(RpcRdmaLimits.DEFAULT, SpokenVersions.ONE)
                .write(new Msg(XID, credits, ChunkLists.EMPTY), Role.REQUEST, out);
        return ByteBufUtil.getBytes(out);
    }

    /** A whole call without chunks. */
    private static byte[] call() {
        return ByteBufUtil.getBytes(Unpooled.buffer().writeBytes(header(7)).writeInt(XID).writeInt(0));
    }

    /** Returns whether a message counts as a call without chunks; then the reader must find no fault and no chunk in it. */
    private static boolean isInline(byte[] bytes, SpokenVersions spoken) throws RpcRdmaException {
        ByteBuf in = Unpooled.wrappedBuffer(new byte[3], bytes).skipBytes(3);
        HeaderFormat format = new VersionOneFormat(RpcRdmaLimits.DEFAULT, spoken);
        if (!format.isInline(in, false)) {
            return false;
        }
        assertEquals(new Msg(XID, in.getUnsignedInt(3 + HeaderLayout.CREDITS_OFFSET), ChunkLists.EMPTY), format.read(in));
        assertEquals(3 + HeaderLayout.CHUNK_FREE_LENGTH, in.readerIndex());
        return true;
    }

    @ParameterizedTest
    @EnumSource(RpcRdmaVersion.class)
    void shouldTakeForInlineWhatIsWhole(RpcRdmaVersion highest) throws RpcRdmaException {
        SpokenVersions spoken = new SpokenVersions(RpcRdmaVersion.ONE, highest);
        for (int length = HeaderLayout.FIXED_LENGTH; length < HeaderLayout.CHUNK_FREE_LENGTH + 8; length++) {
            assertFalse(isInline(Arrays.copyOf(call(), length), spoken), length + " bytes");
        }
        assertTrue(isInline(Arrays.copyOf(call(), HeaderLayout.CHUNK_FREE_LENGTH + 8), spoken));
        assertTrue(isInline(Arrays.copyOf(call(), HeaderLayout.CHUNK_FREE_LENGTH + 40), spoken));
        assertFalse(isInline(call(), SpokenVersions.TWO));
    }

    @Test
    void shouldTakeForInlineWhatHasNoOtherBitThanThoseOfItsCredits() throws RpcRdmaException {
        for (int bit = 0; bit < (HeaderLayout.CHUNK_FREE_LENGTH + 8) * Byte.SIZE; bit++) {
            byte[] changed = Arrays.copyOf(call(), HeaderLayout.CHUNK_FREE_LENGTH + 8);
            changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertEquals(bit / Integer.SIZE == HeaderLayout.CREDITS_OFFSET / Integer.BYTES, isInline(changed, SpokenVersions.ONE),
                    "bit " + bit);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 0x7FFF_FFFFL, 0x8000_0000L, 0xFFFF_FFFFL})
    void shouldWriteAsAllHeaders(long credits) {
        ConveyingMessage message = new ConveyingMessage(HeaderLayout.VERSION, XID, 0, ChunkLists.EMPTY, false, Role.REQUEST,
                Unpooled.EMPTY_BUFFER);
        message.withCredits((int) credits);
        ByteBuf out = Unpooled.buffer();

        HeaderFormat format = new VersionOneFormat(RpcRdmaLimits.DEFAULT, SpokenVersions.ONE);
        format.write(message, out);

        assertArrayEquals(header(credits), ByteBufUtil.getBytes(out));
        format.writeInline(XID, (int) credits, false, out.clear());
        assertArrayEquals(header(credits), ByteBufUtil.getBytes(out));
    }
}
