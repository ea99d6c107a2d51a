package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;

/** Bytes written by hand. */
public final class Bytes {

    private Bytes() {
    }

    /** Bytes from hexadecimal digits; spaces, line ends and the separator | are for the reader. */
    public static ByteBuf hex(String digits) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(digits.replaceAll("[\\s|]", "")));
    }

    public static String hex(ByteBuf bytes) {
        return ByteBufUtil.hexDump(bytes);
    }

    /** The digits alone, for comparison with {@link #hex(ByteBuf)}. */
    public static String digits(String digits) {
        return digits.replaceAll("[\\s|]", "");
    }

    public static ByteBuf text(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
    }

    /** {@code length} bytes that differ from each other, as far as bytes can. */
    public static byte[] pattern(int length, int seed) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 31 + (i >> 8) * 17 + seed);
        }
        return bytes;
    }
}
