package org.nettyrdma.transparency;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;

/**
 * Lets the types of oncrpc4j read themselves from a buffer. What an array or string takes is compared with the bytes present
 * before anything is allocated for it. What cannot be read throws {@link XdrException}; the exception that oncrpc4j declares can
 * be made in its own package only.
 */
final class ByteBufDecodingStream implements XdrDecodingStream {

    private final ByteBuf in;

    private ByteBufDecodingStream(ByteBuf in) {
        this.in = in;
    }

    /** Decodes the readable bytes into a value, and returns it; the buffer's reference passes to this method. */
    static <T extends XdrAble> T decode(ByteBuf encoded, T value) throws IOException {
        try {
            value.xdrDecode(new ByteBufDecodingStream(encoded));
            return value;
        } finally {
            encoded.release();
        }
    }

    private int readLength(int elementBytes) {
        return Xdr.readArrayLength(in, Integer.MAX_VALUE, elementBytes, "array");
    }

    private void require(int length, int elementBytes) {
        if (length < 0 || (long) length * elementBytes > in.readableBytes()) {
            throw new XdrException("array of " + length + " elements, " + in.readableBytes() + " bytes are left");
        }
    }

    @Override
    public void beginDecoding() {
        // The buffer is ready as it is.
    }

    @Override
    public void endDecoding() {
        in.skipBytes(in.readableBytes());
    }

    @Override
    public int xdrDecodeInt() {
        return Xdr.readInt(in, "int");
    }

    @Override
    public int[] xdrDecodeIntVector() {
        return xdrDecodeIntFixedVector(readLength(Integer.BYTES));
    }

    @Override
    public int[] xdrDecodeIntFixedVector(int length) {
        require(length, Integer.BYTES);
        int[] values = new int[length];
        for (int i = 0; i < length; i++) {
            values[i] = in.readInt();
        }
        return values;
    }

    @Override
    public byte[] xdrDecodeDynamicOpaque() {
        return Xdr.readOpaque(in, Integer.MAX_VALUE, "opaque");
    }

    @Override
    public byte[] xdrDecodeOpaque(int length) {
        return Xdr.readFixedOpaque(in, length, "opaque");
    }

    @Override
    public void xdrDecodeOpaque(byte[] data, int offset, int length) {
        require(Xdr.paddedLength(length), 1);
        in.readBytes(data, offset, length).skipBytes(Xdr.paddingOf(length));
    }

    @Override
    public boolean xdrDecodeBoolean() {
        return xdrDecodeInt() != 0; // as oncrpc4j does, and not as strictly as RFC 4506, section 4.4
    }

    @Override
    public String xdrDecodeString() {
        return Xdr.readString(in, Integer.MAX_VALUE, "string");
    }

    @Override
    public long xdrDecodeLong() {
        return Xdr.readHyper(in, "long");
    }

    @Override
    public long[] xdrDecodeLongVector() {
        return xdrDecodeLongFixedVector(readLength(Long.BYTES));
    }

    @Override
    public long[] xdrDecodeLongFixedVector(int length) {
        require(length, Long.BYTES);
        long[] values = new long[length];
        for (int i = 0; i < length; i++) {
            values[i] = in.readLong();
        }
        return values;
    }

    @Override
    public ByteBuffer xdrDecodeByteBuffer() {
        return ByteBuffer.wrap(xdrDecodeDynamicOpaque()); // a copy, as the buffer is released before the value is used
    }

    @Override
    public float xdrDecodeFloat() {
        return Float.intBitsToFloat(xdrDecodeInt());
    }

    @Override
    public double xdrDecodeDouble() {
        return Double.longBitsToDouble(xdrDecodeLong());
    }

    @Override
    public double[] xdrDecodeDoubleVector() {
        return xdrDecodeDoubleFixedVector(readLength(Double.BYTES));
    }

    @Override
    public double[] xdrDecodeDoubleFixedVector(int length) {
        require(length, Double.BYTES);
        double[] values = new double[length];
        for (int i = 0; i < length; i++) {
            values[i] = in.readDouble();
        }
        return values;
    }

    @Override
    public float[] xdrDecodeFloatVector() {
        return xdrDecodeFloatFixedVector(readLength(Float.BYTES));
    }

    @Override
    public float[] xdrDecodeFloatFixedVector(int length) {
        require(length, Float.BYTES);
        float[] values = new float[length];
        for (int i = 0; i < length; i++) {
            values[i] = in.readFloat();
        }
        return values;
    }

    @Override
    public byte[] xdrDecodeByteVector() {
        return xdrDecodeByteFixedVector(readLength(Integer.BYTES));
    }

    @Override
    public byte[] xdrDecodeByteFixedVector(int length) {
        require(length, Integer.BYTES);
        byte[] values = new byte[length];
        for (int i = 0; i < length; i++) {
            values[i] = (byte) in.readInt();
        }
        return values;
    }

    @Override
    public byte xdrDecodeByte() {
        return (byte) xdrDecodeInt();
    }

    @Override
    public short xdrDecodeShort() {
        return (short) xdrDecodeInt();
    }

    @Override
    public short[] xdrDecodeShortVector() {
        return xdrDecodeShortFixedVector(readLength(Integer.BYTES));
    }

    @Override
    public short[] xdrDecodeShortFixedVector(int length) {
        require(length, Integer.BYTES);
        short[] values = new short[length];
        for (int i = 0; i < length; i++) {
            values[i] = (short) in.readInt();
        }
        return values;
    }
}
