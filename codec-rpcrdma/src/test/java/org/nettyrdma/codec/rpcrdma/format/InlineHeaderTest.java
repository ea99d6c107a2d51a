package org.nettyrdma.codec.rpcrdma.format;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ConveyingMessage;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaHeader.Msg;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

/** The short way of headers without chunks in version 1, against the way of all others with the same bytes. */
class InlineHeaderTest {

    private static final int XID = 0x8000_0001;

    private static byte[] header(long credits) {
        ByteBuf out = Unpooled.buffer();
        VersionOneHeaderWriter.write(new Msg(XID, credits, ChunkLists.EMPTY), out);
        return ByteBufUtil.getBytes(out);
    }

    /** What came of it: the chunks and where the header ends, or the words of the refusal. */
    private static String outcome(ChunkReader reader, byte[] bytes) {
        ByteBuf in = Unpooled.wrappedBuffer(new byte[3], bytes).skipBytes(3);
        try {
            return reader.read(in) + " up to " + in.readerIndex();
        } catch (RpcRdmaException e) {
            return e.reason() + " " + e.getMessage();
        }
    }

    private interface ChunkReader {

        ChunkLists read(ByteBuf in) throws RpcRdmaException;
    }

    private static void assertReadAlike(byte[] bytes) {
        int type = Unpooled.wrappedBuffer(bytes).getInt(HeaderLayout.TYPE_OFFSET);
        for (SpokenVersions spoken : new SpokenVersions[] {SpokenVersions.ONE, SpokenVersions.BOTH, SpokenVersions.TWO}) {
            HeaderFormat format = new VersionOneFormat(RpcRdmaLimits.DEFAULT, spoken);
            if (format.conveys(type)) {
                VersionOneHeaderReader ordinary = new VersionOneHeaderReader(RpcRdmaLimits.DEFAULT, spoken);
                assertEquals(outcome(in -> ordinary.readChunks(in, MessageType.of(type)), bytes),
                        outcome(in -> format.readChunks(in, type), bytes));
            }
        }
    }

    @Test
    void shouldReadWhatIsWholeAndWhatIsCutOffAnywhereAsAllHeaders() {
        byte[] withBody = Arrays.copyOf(header(7), HeaderLayout.CHUNK_FREE_LENGTH + 40);

        for (int length = HeaderLayout.FIXED_LENGTH; length <= withBody.length; length++) {
            assertReadAlike(Arrays.copyOf(withBody, length));
        }
    }

    @Test
    void shouldReadWhatHasAnyBitChangedAsAllHeaders() {
        for (int bit = 0; bit < HeaderLayout.CHUNK_FREE_LENGTH * Byte.SIZE; bit++) {
            byte[] changed = Arrays.copyOf(header(7), HeaderLayout.CHUNK_FREE_LENGTH + 8);
            changed[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
            assertReadAlike(changed);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 0x7FFF_FFFFL, 0x8000_0000L, 0xFFFF_FFFFL})
    void shouldWriteAsAllHeaders(long credits) {
        ConveyingMessage message = new ConveyingMessage(HeaderLayout.VERSION, XID, 0, ChunkLists.EMPTY, false, Role.REQUEST,
                Unpooled.EMPTY_BUFFER);
        message.withCredits((int) credits);
        ByteBuf out = Unpooled.buffer();

        new VersionOneFormat(RpcRdmaLimits.DEFAULT, SpokenVersions.ONE).write(message, out);

        assertArrayEquals(header(credits), ByteBufUtil.getBytes(out));
    }
}
