package org.nettyrdma.example.nfs.protocol;

import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import org.nettyrdma.codec.oncrpc.Xdr;

/**
 * Names of files as text from which the same bytes can be made again. To the protocol and to Unix file systems a name is a
 * sequence of bytes. Those that are UTF-8 become the characters they stand for; each byte that belongs to no character becomes
 * a lone low surrogate, U+DC80 to U+DCFF, which no well-formed text contains. Stateless; any thread.
 */
public final class NameText {

    private static final int ESCAPE_BASE = 0xDC00;
    private static final int FIRST_ESCAPE = ESCAPE_BASE | 0x80;
    private static final int LAST_ESCAPE = ESCAPE_BASE | 0xFF;

    private NameText() {
    }

    /**
     * Reads a name: {@code filename3} or {@code nfspath3} (RFC 1813, section 2.5).
     *
     * @param in       the message
     * @param maxBytes longest name that is taken, in bytes
     * @param field    what to call the name in an exception
     * @return the name
     * @throws org.nettyrdma.codec.oncrpc.XdrException if the name is too long or the message ends within it
     */
    public static String read(ByteBuf in, int maxBytes, String field) {
        return decode(Xdr.readOpaque(in, maxBytes, field));
    }

    /**
     * Writes a name as it was read.
     *
     * @param out  the message
     * @param name the name
     * @throws IllegalArgumentException if the name has a surrogate that stands for no byte
     */
    public static void write(ByteBuf out, String name) {
        Xdr.writeOpaque(out, encode(name));
    }

    /**
     * Makes text of a name.
     *
     * @param bytes the name; it stays the caller's
     * @return the text
     */
    public static String decode(byte[] bytes) {
        if (isAscii(bytes)) {
            return new String(bytes, StandardCharsets.US_ASCII);
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT).onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes);
        CharBuffer out = CharBuffer.allocate(bytes.length);
        for (CoderResult result = decoder.decode(in, out, true); result.isMalformed(); result = decoder.decode(in, out, true)) {
            for (int i = 0; i < result.length(); i++) {
                out.put((char) (ESCAPE_BASE | in.get() & 0xFF));
            }
        }
        return out.flip().toString();
    }

    private static boolean isAscii(byte[] bytes) {
        for (byte b : bytes) {
            if (b < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Makes the bytes of a name from its text.
     *
     * @param name the text
     * @return the bytes; the caller's
     * @throws IllegalArgumentException if the text has a surrogate that stands for no byte
     */
    public static byte[] encode(String name) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(name.length());
        int start = 0;
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < name.length() && Character.isLowSurrogate(name.charAt(i + 1))) {
                i++;
            } else if (Character.isSurrogate(c)) {
                if (!isEscape(c)) {
                    throw new IllegalArgumentException("name has the lone surrogate U+" + Integer.toHexString(c));
                }
                bytes.writeBytes(name.substring(start, i).getBytes(StandardCharsets.UTF_8));
                bytes.write(c);
                start = i + 1;
            }
        }
        bytes.writeBytes(name.substring(start).getBytes(StandardCharsets.UTF_8));
        return bytes.toByteArray();
    }

    /**
     * Says whether a code point of a name stands for a byte that belongs to no character.
     *
     * @param codePoint the code point, whose lowest 8 bits are the byte then
     * @return {@code true} if so
     */
    public static boolean isEscape(int codePoint) {
        return codePoint >= FIRST_ESCAPE && codePoint <= LAST_ESCAPE;
    }
}
