package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import java.util.HexFormat;

/** Bytes written as hexadecimal digits; white space between them is for the reader. */
final class Hex {

    private Hex() {
    }

    static byte[] bytes(String digits) {
        return HexFormat.of().parseHex(digits.replaceAll("\\s", ""));
    }

    static String of(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    static String of(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.duplicate().get(copy);
        return of(copy);
    }

    /** The digits without white space, to compare with. */
    static String digits(String digits) {
        return of(bytes(digits));
    }
}
