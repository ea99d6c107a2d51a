package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/** Operations to compare two kinds of buffers by. */
final class BufferOperations {

    private BufferOperations() {
    }

    /** Does one of twelve operations; the same on every correct buffer in the same state. */
    static void apply(int operation, long value, ByteBuf buffer) {
        byte[] bytes = new byte[(int) (value & 63)];
        java.util.Arrays.fill(bytes, (byte) value);
        switch (operation) {
            case 0 -> buffer.writeLong(value);
            case 1 -> buffer.writeInt((int) value);
            case 2 -> buffer.writeMedium((int) value);
            case 3 -> buffer.writeShortLE((int) value);
            case 4 -> buffer.writeBytes(bytes);
            case 5 -> buffer.writeBytes(Unpooled.wrappedBuffer(bytes));
            case 6 -> buffer.writeBytes(Unpooled.wrappedBuffer(bytes).nioBuffer());
            case 7 -> buffer.discardReadBytes();
            case 8 -> buffer.skipBytes((int) (value & 31) % (buffer.readableBytes() + 1));
            case 9 -> buffer.capacity(buffer.writerIndex() + (int) (value & 4095));
            case 10 -> buffer.writeZero((int) (value & 15)).readSlice(buffer.readableBytes() / 2);
            case 11 -> buffer.setIndex(0, Math.min(buffer.writerIndex(), 1000)).discardSomeReadBytes();
            default -> throw new IllegalArgumentException("operation: " + operation);
        }
    }
}
