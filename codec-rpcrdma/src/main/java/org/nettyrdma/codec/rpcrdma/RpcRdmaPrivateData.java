package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/**
 * The message that each side sends in the private data of connect and accept (RFC 8797, section 4).
 * <pre>{@code
 *   0            4         5       6            7              8
 *   | 0xF6AB0E18 | version | flags | send size  | receive size |        size: bytes / 1024 - 1
 *                  1         bit 0: Send with Invalidate is welcome }</pre>
 *
 * @param acceptsInvalidation whether the sender of the data accepts a Send with Invalidate
 * @param sendBytes           largest Send that the sender of the data will make; 1024 to 262144, a multiple of 1024
 * @param receiveBytes        size of the receive buffers of the sender of the data; 1024 to 262144, a multiple of 1024
 */
public record RpcRdmaPrivateData(boolean acceptsInvalidation, int sendBytes, int receiveBytes) {

    /** Length of the data in bytes. */
    public static final int LENGTH = 8;

    /** The inline threshold of a peer without private data, in bytes, in both directions (RFC 8166, section 3.3.3). */
    public static final int DEFAULT_INLINE_BYTES = 1024;

    /** What is known of a peer that has told nothing. */
    public static final RpcRdmaPrivateData NONE =
            new RpcRdmaPrivateData(false, DEFAULT_INLINE_BYTES, DEFAULT_INLINE_BYTES);

    private static final int MAGIC = 0xF6AB_0E18;
    private static final int VERSION = 1;
    private static final int ACCEPTS_INVALIDATION = 1;
    private static final int SIZE_UNIT_BYTES = 1024;

    /**
     * Checks the sizes.
     *
     * @param acceptsInvalidation whether a Send with Invalidate is welcome
     * @param sendBytes           largest Send
     * @param receiveBytes        size of the receive buffers
     * @throws IllegalArgumentException if a size is out of range or not a multiple of 1024
     */
    public RpcRdmaPrivateData {
        checkSize(sendBytes, "sendBytes");
        checkSize(receiveBytes, "receiveBytes");
    }

    /**
     * Reads what a peer has sent.
     *
     * @param privateData the private data of the connection; not changed
     * @return the message, or {@link #NONE} if the data is too short, or of another kind or version
     */
    public static RpcRdmaPrivateData parse(ByteBuf privateData) {
        int start = privateData.readerIndex();
        // Later versions and other users may append something, so what follows the eight bytes does not matter.
        if (privateData.readableBytes() < LENGTH || privateData.getInt(start) != MAGIC
                || privateData.getByte(start + 4) != VERSION) {
            return NONE;
        }
        return new RpcRdmaPrivateData((privateData.getByte(start + 5) & ACCEPTS_INVALIDATION) != 0,
                (privateData.getUnsignedByte(start + 6) + 1) * SIZE_UNIT_BYTES,
                (privateData.getUnsignedByte(start + 7) + 1) * SIZE_UNIT_BYTES);
    }

    /**
     * The bytes to send.
     *
     * @return a new buffer on the heap, which the caller releases
     */
    public ByteBuf toByteBuf() {
        ByteBuf out = Unpooled.buffer(LENGTH);
        out.writeInt(MAGIC);
        out.writeByte(VERSION);
        out.writeByte(acceptsInvalidation ? ACCEPTS_INVALIDATION : 0);
        out.writeByte(sendBytes / SIZE_UNIT_BYTES - 1);
        out.writeByte(receiveBytes / SIZE_UNIT_BYTES - 1);
        return out;
    }

    /** The bytes to send, as a channel option takes them. */
    byte[] toBytes() {
        ByteBuf out = toByteBuf();
        try {
            return ByteBufUtil.getBytes(out);
        } finally {
            out.release();
        }
    }

    private static void checkSize(int bytes, String name) {
        checkInRange(bytes, SIZE_UNIT_BYTES, 256 * SIZE_UNIT_BYTES, name);
        if (bytes % SIZE_UNIT_BYTES != 0) {
            throw new IllegalArgumentException(name + ": " + bytes + " (expected: a multiple of " + SIZE_UNIT_BYTES + ')');
        }
    }
}
