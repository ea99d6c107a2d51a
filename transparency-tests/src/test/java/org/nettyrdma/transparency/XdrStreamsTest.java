package org.nettyrdma.transparency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.rpc.OncRpcException;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.dcache.oncrpc4j.xdr.XdrString;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.XdrException;

class XdrStreamsTest {

    /** RFC 4506, sections 4.1 to 4.13, in the order of {@link Everything#xdrEncode}. */
    private static final String BYTES = ""
            + "fffffffe" + "00000002 00000001 00000002" + "00000003"
            + "00000003 010203 00" + "0405 0000" + "06 000000"
            + "00000001" + "00000002 c3bc 0000"
            + "fffffffffffffffd" + "00000001 0000000000000004" + "0000000000000005"
            + "00000001 07 000000"
            + "3f800000" + "c000000000000000" + "00000001 40000000" + "3f000000"
            + "00000001 3ff0000000000000" + "4000000000000000"
            + "00000002 ffffffff 00000001" + "00000009" + "fffffff8"
            + "fffffff9" + "00000001 0000000a" + "0000000b";

    @Test
    void shouldWriteAndReadEveryType() throws IOException {
        ByteBuf encoded = ByteBufEncodingStream.encode(UnpooledByteBufAllocator.DEFAULT, new Everything());
        assertEquals(BYTES.replace(" ", ""), ByteBufUtil.hexDump(encoded));
        ByteBufDecodingStream.decode(encoded, new Everything());
        assertEquals(0, encoded.refCnt());
    }

    @Test
    void shouldReadNothingThatIsNotThere() throws IOException {
        byte[] whole = ByteBufUtil.decodeHexDump(BYTES.replace(" ", ""));
        for (int length = 1; length < whole.length; length++) {
            ByteBuf cut = Unpooled.copiedBuffer(whole, 0, length);
            assertThrows(XdrException.class, () -> ByteBufDecodingStream.decode(cut, new Everything()));
            assertEquals(0, cut.refCnt());
        }
    }

    @Test
    void shouldAllocateNothingForALengthThatIsALie() {
        for (String length : new String[] {"ffffffff", "7fffffff"}) {
            ByteBuf lie = Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(length));
            assertThrows(XdrException.class, () -> ByteBufDecodingStream.decode(lie, new XdrString()));
        }
    }

    private static final class Everything implements XdrAble {

        @Override
        public void xdrEncode(XdrEncodingStream out) throws OncRpcException, IOException {
            out.beginEncoding();
            out.xdrEncodeInt(-2);
            out.xdrEncodeIntVector(new int[] {1, 2});
            out.xdrEncodeIntFixedVector(new int[] {3, 99}, 1);
            out.xdrEncodeDynamicOpaque(new byte[] {1, 2, 3});
            out.xdrEncodeOpaque(new byte[] {4, 5, 99}, 2);
            out.xdrEncodeOpaque(new byte[] {99, 6}, 1, 1);
            out.xdrEncodeBoolean(true);
            out.xdrEncodeString("\u00fc");
            out.xdrEncodeLong(-3);
            out.xdrEncodeLongVector(new long[] {4});
            out.xdrEncodeLongFixedVector(new long[] {5, 99}, 1);
            ByteBuffer data = ByteBuffer.wrap(new byte[] {7});
            out.xdrEncodeByteBuffer(data);
            assertEquals(0, data.remaining());
            out.xdrEncodeFloat(1);
            out.xdrEncodeDouble(-2);
            out.xdrEncodeFloatVector(new float[] {2});
            out.xdrEncodeFloatFixedVector(new float[] {0.5f, 99}, 1);
            out.xdrEncodeDoubleVector(new double[] {1});
            out.xdrEncodeDoubleFixedVector(new double[] {2, 99}, 1);
            out.xdrEncodeByteVector(new byte[] {-1, 1});
            out.xdrEncodeByteFixedVector(new byte[] {9, 99}, 1);
            out.xdrEncodeByte((byte) -8);
            out.xdrEncodeShort((short) -7);
            out.xdrEncodeShortVector(new short[] {10});
            out.xdrEncodeShortFixedVector(new short[] {11, 99}, 1);
            out.endEncoding();
        }

        @Override
        public void xdrDecode(XdrDecodingStream in) throws OncRpcException, IOException {
            in.beginDecoding();
            assertEquals(-2, in.xdrDecodeInt());
            assertArrayEquals(new int[] {1, 2}, in.xdrDecodeIntVector());
            assertArrayEquals(new int[] {3}, in.xdrDecodeIntFixedVector(1));
            assertArrayEquals(new byte[] {1, 2, 3}, in.xdrDecodeDynamicOpaque());
            assertArrayEquals(new byte[] {4, 5}, in.xdrDecodeOpaque(2));
            byte[] opaque = new byte[2];
            in.xdrDecodeOpaque(opaque, 1, 1);
            assertArrayEquals(new byte[] {0, 6}, opaque);
            assertTrue(in.xdrDecodeBoolean());
            assertEquals("\u00fc", in.xdrDecodeString());
            assertEquals(-3, in.xdrDecodeLong());
            assertArrayEquals(new long[] {4}, in.xdrDecodeLongVector());
            assertArrayEquals(new long[] {5}, in.xdrDecodeLongFixedVector(1));
            assertEquals(ByteBuffer.wrap(new byte[] {7}), in.xdrDecodeByteBuffer());
            assertEquals(1, in.xdrDecodeFloat());
            assertEquals(-2, in.xdrDecodeDouble());
            assertArrayEquals(new float[] {2}, in.xdrDecodeFloatVector());
            assertArrayEquals(new float[] {0.5f}, in.xdrDecodeFloatFixedVector(1));
            assertArrayEquals(new double[] {1}, in.xdrDecodeDoubleVector());
            assertArrayEquals(new double[] {2}, in.xdrDecodeDoubleFixedVector(1));
            assertArrayEquals(new byte[] {-1, 1}, in.xdrDecodeByteVector());
            assertArrayEquals(new byte[] {9}, in.xdrDecodeByteFixedVector(1));
            assertEquals(-8, in.xdrDecodeByte());
            assertEquals(-7, in.xdrDecodeShort());
            assertArrayEquals(new short[] {10}, in.xdrDecodeShortVector());
            assertArrayEquals(new short[] {11}, in.xdrDecodeShortFixedVector(1));
            in.endDecoding();
        }
    }
}
