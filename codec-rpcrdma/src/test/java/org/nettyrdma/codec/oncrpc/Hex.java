package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;

/** Messages written by hand. */
final class Hex {

    private Hex() {
    }

    /** A buffer of hexadecimal digits; white space is for the reader. */
    static ByteBuf hex(String digits) {
        return Unpooled.wrappedBuffer(ByteBufUtil.decodeHexDump(digits.replaceAll("\\s", "")));
    }

    /** The readable bytes as digits in groups of eight. */
    static String dump(ByteBuf bytes) {
        return ByteBufUtil.hexDump(bytes).replaceAll("(.{8})(?=.)", "$1 ");
    }
}
