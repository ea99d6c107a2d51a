package org.nettyrdma.example.nfs.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.HexFormat;

/** Bytes written as hexadecimal digits. */
public final class HexText {

    private HexText() {
    }

    /**
     * Reads digits.
     *
     * @param digits two for each byte, with white space anywhere between digits
     * @return a new buffer on the heap
     * @throws IllegalArgumentException if there is anything but digits, or half a byte; the message says which
     */
    public static ByteBuf parse(String digits) {
        String compact = digits.replaceAll("\\s+", "");
        for (int i = 0; i < compact.length(); i++) {
            if (!HexFormat.isHexDigit(compact.charAt(i))) {
                throw new IllegalArgumentException("'" + compact.charAt(i) + "' is no hexadecimal digit");
            }
        }
        if (compact.length() % 2 != 0) {
            throw new IllegalArgumentException("an odd number of hexadecimal digits: " + compact.length());
        }
        return Unpooled.wrappedBuffer(HexFormat.of().parseHex(compact));
    }
}
