package org.nettyrdma.transparency;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.nettyrdma.codec.oncrpc.Xdr;

/** Lets the types of oncrpc4j write themselves into a buffer. Arrays of bytes and shorts take four bytes per element. */
final class ByteBufEncodingStream implements XdrEncodingStream {

    private final ByteBuf out;

    private ByteBufEncodingStream(ByteBuf out) {
        this.out = out;
    }

    /** Encodes a value into a new buffer, which the caller owns. */
    static ByteBuf encode(ByteBufAllocator alloc, XdrAble value) throws IOException {
        ByteBuf out = alloc.buffer();
        try {
            value.xdrEncode(new ByteBufEncodingStream(out));
            return out.retain();
        } finally {
            out.release();
        }
    }

    @Override
    public void beginEncoding() {
        out.clear();
    }

    @Override
    public void endEncoding() {
        // What was written is readable at once.
    }

    @Override
    public void xdrEncodeInt(int value) {
        out.writeInt(value);
    }

    @Override
    public void xdrEncodeIntVector(int[] values) {
        out.writeInt(values.length);
        xdrEncodeIntFixedVector(values, values.length);
    }

    @Override
    public void xdrEncodeIntFixedVector(int[] values, int length) {
        for (int i = 0; i < length; i++) {
            out.writeInt(values[i]);
        }
    }

    @Override
    public void xdrEncodeDynamicOpaque(byte[] opaque) {
        Xdr.writeOpaque(out, opaque);
    }

    @Override
    public void xdrEncodeOpaque(byte[] opaque, int length) {
        xdrEncodeOpaque(opaque, 0, length);
    }

    @Override
    public void xdrEncodeOpaque(byte[] opaque, int offset, int length) {
        out.writeBytes(opaque, offset, length);
        Xdr.writePadding(out, length);
    }

    @Override
    public void xdrEncodeBoolean(boolean value) {
        Xdr.writeBoolean(out, value);
    }

    @Override
    public void xdrEncodeString(String text) {
        Xdr.writeString(out, text == null ? "" : text);
    }

    @Override
    public void xdrEncodeLong(long value) {
        out.writeLong(value);
    }

    @Override
    public void xdrEncodeLongVector(long[] values) {
        out.writeInt(values.length);
        xdrEncodeLongFixedVector(values, values.length);
    }

    @Override
    public void xdrEncodeLongFixedVector(long[] values, int length) {
        for (int i = 0; i < length; i++) {
            out.writeLong(values[i]);
        }
    }

    @Override
    public void xdrEncodeByteBuffer(ByteBuffer data) {
        Xdr.writeOpaque(out, Unpooled.wrappedBuffer(data));
        data.position(data.limit());
    }

    @Override
    public void xdrEncodeFloat(float value) {
        out.writeFloat(value);
    }

    @Override
    public void xdrEncodeDouble(double value) {
        out.writeDouble(value);
    }

    @Override
    public void xdrEncodeFloatVector(float[] values) {
        out.writeInt(values.length);
        xdrEncodeFloatFixedVector(values, values.length);
    }

    @Override
    public void xdrEncodeFloatFixedVector(float[] values, int length) {
        for (int i = 0; i < length; i++) {
            out.writeFloat(values[i]);
        }
    }

    @Override
    public void xdrEncodeDoubleVector(double[] values) {
        out.writeInt(values.length);
        xdrEncodeDoubleFixedVector(values, values.length);
    }

    @Override
    public void xdrEncodeDoubleFixedVector(double[] values, int length) {
        for (int i = 0; i < length; i++) {
            out.writeDouble(values[i]);
        }
    }

    @Override
    public void xdrEncodeByteVector(byte[] values) {
        out.writeInt(values.length);
        xdrEncodeByteFixedVector(values, values.length);
    }

    @Override
    public void xdrEncodeByteFixedVector(byte[] values, int length) {
        for (int i = 0; i < length; i++) {
            out.writeInt(values[i]);
        }
    }

    @Override
    public void xdrEncodeByte(byte value) {
        out.writeInt(value);
    }

    @Override
    public void xdrEncodeShort(short value) {
        out.writeInt(value);
    }

    @Override
    public void xdrEncodeShortVector(short[] values) {
        out.writeInt(values.length);
        xdrEncodeShortFixedVector(values, values.length);
    }

    @Override
    public void xdrEncodeShortFixedVector(short[] values, int length) {
        for (int i = 0; i < length; i++) {
            out.writeInt(values[i]);
        }
    }
}
