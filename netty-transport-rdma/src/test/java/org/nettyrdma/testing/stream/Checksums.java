package org.nettyrdma.testing.stream;

import io.netty.buffer.ByteBuf;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** SHA-256 as the scenario compares it. */
final class Checksums {

    private Checksums() {
    }

    static MessageDigest newDigest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every Java has it
        }
    }

    /** Adds what can be read, which stays readable. */
    static void update(MessageDigest digest, ByteBuf data) {
        for (var piece : data.nioBuffers()) {
            digest.update(piece);
        }
    }

    /** {@code BYTES CHECKSUM}; the digest starts again. */
    static String describe(long bytes, MessageDigest digest) {
        return bytes + " " + HexFormat.of().formatHex(digest.digest());
    }
}
