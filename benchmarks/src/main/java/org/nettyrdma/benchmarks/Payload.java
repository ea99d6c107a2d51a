package org.nettyrdma.benchmarks;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The bytes that calls and replies carry. Each word tells where it belongs, so that a reader can see that the right ones came.
 */
final class Payload {

    private static final int STEP = 0x9E37_79B1;

    private Payload() {
    }

    /** The word at a position, a multiple of four. */
    static int word(int position) {
        return (position + 1) * STEP;
    }

    /** A direct buffer with the payload; the caller releases it. */
    static ByteBuf newBuffer(ByteBufAllocator allocator, int bytes) {
        ByteBuf payload = allocator.directBuffer(bytes, bytes);
        for (int position = 0; position < bytes; position += Integer.BYTES) {
            payload.writeInt(word(position));
        }
        return payload;
    }

    /** Fills a buffer from its position to its limit; both stay where they are. */
    static void fill(ByteBuffer buffer) {
        for (int position = 0; position < buffer.remaining(); position += Integer.BYTES) {
            buffer.putInt(buffer.position() + position, word(position));
        }
    }

    /** Looks at every word, or else at the ends only. */
    static boolean isRight(ByteBuf data, int start, int bytes, boolean everyByte) {
        return everyByte ? isRight(data, start, bytes) : hasRightEnds(data, start, bytes);
    }

    /** Looks at the first and the last word, which costs next to nothing. */
    static boolean hasRightEnds(ByteBuf data, int start, int bytes) {
        return data.getInt(start) == word(0) && data.getInt(start + bytes - Integer.BYTES) == word(bytes - Integer.BYTES);
    }

    private static boolean isRight(ByteBuf data, int start, int bytes) {
        for (int position = 0; position < bytes; position += Integer.BYTES) {
            if (data.getInt(start + position) != word(position)) {
                return false;
            }
        }
        return true;
    }

    /** CRC32C of the payload of a length. */
    static int checksum(int bytes) {
        ByteBuffer buffer = ByteBuffer.allocate(bytes);
        fill(buffer);
        return checksum(buffer);
    }

    /** CRC32C of what a buffer has left, which it has no more afterwards. */
    static int checksum(ByteBuffer buffer) {
        CRC32C crc = new CRC32C();
        crc.update(buffer);
        return (int) crc.getValue();
    }

    /** CRC32C of what a buffer has left. */
    static int checksum(ByteBuf data) {
        CRC32C crc = new CRC32C();
        for (ByteBuffer part : data.nioBuffers()) {
            crc.update(part);
        }
        return (int) crc.getValue();
    }
}
