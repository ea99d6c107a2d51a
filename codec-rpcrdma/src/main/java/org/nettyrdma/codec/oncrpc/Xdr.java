package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.util.internal.EmptyArrays;
import java.nio.charset.StandardCharsets;

/**
 * XDR (RFC 4506) on {@link ByteBuf}s. Any thread.
 *
 * <p>Every read first compares what it needs with the bytes present and with the caller's limit, and only then allocates. A
 * failed read throws {@link XdrException}, and leaves the reader index undefined. The {@code field} of a read is the name of the
 * value in the exception.
 */
public final class Xdr {

    /** Every XDR item takes a multiple of this many bytes (RFC 4506, section 3). */
    public static final int UNIT_BYTES = 4;

    private Xdr() {
    }

    /**
     * Reads a 32-bit integer (RFC 4506, sections 4.1 to 4.3): signed, unsigned kept in an {@code int}, or an enum's code.
     *
     * @param in    where to read; its reader index moves on by 4
     * @param field name for the exception
     * @return the 32 bits
     * @throws XdrException if fewer than 4 bytes are present
     */
    public static int readInt(ByteBuf in, String field) {
        requireReadable(in, Integer.BYTES, field);
        return in.readInt();
    }

    /**
     * Reads an unsigned 32-bit integer (RFC 4506, section 4.2).
     *
     * @param in    where to read; its reader index moves on by 4
     * @param field name for the exception
     * @return 0 to 2<sup>32</sup>-1
     * @throws XdrException if fewer than 4 bytes are present
     */
    public static long readUnsignedInt(ByteBuf in, String field) {
        return Integer.toUnsignedLong(readInt(in, field));
    }

    /**
     * Reads a 64-bit integer (RFC 4506, section 4.5): signed, or unsigned kept in a {@code long}.
     *
     * @param in    where to read; its reader index moves on by 8
     * @param field name for the exception
     * @return the 64 bits
     * @throws XdrException if fewer than 8 bytes are present
     */
    public static long readHyper(ByteBuf in, String field) {
        requireReadable(in, Long.BYTES, field);
        return in.readLong();
    }

    /**
     * Reads a boolean (RFC 4506, section 4.4).
     *
     * @param in    where to read; its reader index moves on by 4
     * @param field name for the exception
     * @return the value
     * @throws XdrException if fewer than 4 bytes are present, or they are neither 0 nor 1
     */
    public static boolean readBoolean(ByteBuf in, String field) {
        int value = readInt(in, field);
        if (value >>> 1 != 0) {
            throw new XdrException(field + " is " + Integer.toUnsignedString(value) + ", a boolean is 0 or 1");
        }
        return value == 1;
    }

    /**
     * Reads opaque data of a length that both sides know (RFC 4506, section 4.9) and skips its padding.
     *
     * @param in     where to read; its reader index moves on by {@link #paddedLength} of {@code length}
     * @param length number of bytes
     * @param field  name for the exception
     * @return the bytes, without the padding
     * @throws XdrException if data or padding are not all present
     */
    public static byte[] readFixedOpaque(ByteBuf in, int length, String field) {
        requireReadable(in, (long) length + paddingOf(length), field);
        return readBytes(in, length);
    }

    /**
     * Reads opaque data that states its length (RFC 4506, section 4.10) and skips its padding.
     *
     * @param in       where to read; its reader index moves behind the padding
     * @param maxBytes most bytes accepted
     * @param field    name for the exception
     * @return the bytes, without the padding
     * @throws XdrException if the length exceeds {@code maxBytes}, or data or padding are not all present
     */
    public static byte[] readOpaque(ByteBuf in, int maxBytes, String field) {
        return readBytes(in, readOpaqueLength(in, maxBytes, field));
    }

    /**
     * Reads opaque data that states its length (RFC 4506, section 4.10) without copying it, and skips its padding.
     *
     * @param in       where to read; its reader index moves behind the padding
     * @param maxBytes most bytes accepted
     * @param field    name for the exception
     * @return a slice of {@code in}, which shares its reference count: it is valid while {@code in} is, and not retained
     * @throws XdrException if the length exceeds {@code maxBytes}, or data or padding are not all present
     */
    public static ByteBuf readOpaqueSlice(ByteBuf in, int maxBytes, String field) {
        int length = readOpaqueLength(in, maxBytes, field);
        ByteBuf data = in.readSlice(length);
        in.skipBytes(paddingOf(length));
        return data;
    }

    /**
     * Reads a string (RFC 4506, section 4.11) as UTF-8.
     *
     * @param in       where to read; its reader index moves behind the padding
     * @param maxBytes most bytes accepted, counted before decoding
     * @param field    name for the exception
     * @return the string
     * @throws XdrException if the length exceeds {@code maxBytes}, data or padding are not all present, or the bytes are not
     *                      UTF-8
     */
    public static String readString(ByteBuf in, int maxBytes, String field) {
        int length = readOpaqueLength(in, maxBytes, field);
        int start = in.readerIndex();
        if (!ByteBufUtil.isText(in, start, length, StandardCharsets.UTF_8)) {
            throw new XdrException(field + " of " + length + " bytes is not UTF-8");
        }
        String text = in.toString(start, length, StandardCharsets.UTF_8);
        in.skipBytes(paddedLength(length));
        return text;
    }

    /**
     * Reads the number of elements of an array (RFC 4506, section 4.13), checked so that the caller may allocate room for them.
     *
     * @param in              where to read; its reader index moves on by 4
     * @param maxElements     most elements accepted
     * @param minElementBytes fewest bytes that an element takes on the wire
     * @param field           name for the exception
     * @return the number of elements that follow
     * @throws XdrException if it exceeds {@code maxElements} or more bytes than are present
     */
    public static int readArrayLength(ByteBuf in, int maxElements, int minElementBytes, String field) {
        long count = readUnsignedInt(in, field);
        if (count > maxElements) {
            throw new XdrException(field + " has " + count + " elements, limit " + maxElements);
        }
        requireReadable(in, count * minElementBytes, field);
        return (int) count;
    }

    /**
     * Reads the length of opaque data or of a string and leaves the reader index at its first byte. The data and its padding
     * are present.
     *
     * @param in       where to read; its reader index moves on by 4
     * @param maxBytes most bytes accepted
     * @param field    name for the exception
     * @return the length in bytes, without the padding
     * @throws XdrException if the length exceeds {@code maxBytes}, or data or padding are not all present
     */
    public static int readOpaqueLength(ByteBuf in, int maxBytes, String field) {
        return requireOpaque(in, readUnsignedInt(in, field), maxBytes, field);
    }

    /** Checks a length that was read: it is in bounds, and the data and its padding follow. */
    static int requireOpaque(ByteBuf in, long length, int maxBytes, String field) {
        if (length > maxBytes) {
            throw new XdrException(field + " is " + length + " bytes long, limit " + maxBytes);
        }
        requireReadable(in, length + paddingOf((int) length), field);
        return (int) length;
    }

    /**
     * Writes a 32-bit integer, signed or unsigned, or an enum's code.
     *
     * @param out   where to write
     * @param value the 32 bits
     */
    public static void writeInt(ByteBuf out, int value) {
        out.writeInt(value);
    }

    /** Writes two 32-bit integers for the price of one: most of it is what the buffer checks. */
    static void writeTwoInts(ByteBuf out, int first, int second) {
        out.writeLong((long) first << Integer.SIZE | Integer.toUnsignedLong(second));
    }

    /**
     * Writes an unsigned 32-bit integer.
     *
     * @param out   where to write
     * @param value 0 to 2<sup>32</sup>-1
     * @throws IllegalArgumentException if {@code value} is outside that range
     */
    public static void writeUnsignedInt(ByteBuf out, long value) {
        if (value >>> Integer.SIZE != 0) {
            throw new IllegalArgumentException("value: " + value + " (expected: 0 to 4294967295)");
        }
        out.writeInt((int) value);
    }

    /**
     * Writes a 64-bit integer, signed or unsigned.
     *
     * @param out   where to write
     * @param value the 64 bits
     */
    public static void writeHyper(ByteBuf out, long value) {
        out.writeLong(value);
    }

    /**
     * Writes a boolean.
     *
     * @param out   where to write
     * @param value the value
     */
    public static void writeBoolean(ByteBuf out, boolean value) {
        out.writeInt(value ? 1 : 0);
    }

    /**
     * Writes opaque data of a length that both sides know, and its padding.
     *
     * @param out  where to write
     * @param data the bytes
     */
    public static void writeFixedOpaque(ByteBuf out, byte[] data) {
        out.writeBytes(data);
        writePadding(out, data.length);
    }

    /**
     * Writes the length of opaque data, the data and its padding.
     *
     * @param out  where to write
     * @param data the bytes
     */
    public static void writeOpaque(ByteBuf out, byte[] data) {
        out.writeInt(data.length);
        writeFixedOpaque(out, data);
    }

    /**
     * Writes the length of opaque data, the data and its padding.
     *
     * @param out  where to write
     * @param data its readable bytes are copied; neither its indices nor its reference count change
     */
    public static void writeOpaque(ByteBuf out, ByteBuf data) {
        int length = data.readableBytes();
        out.writeInt(length);
        out.writeBytes(data, data.readerIndex(), length);
        writePadding(out, length);
    }

    /**
     * Writes a string as UTF-8, with its length and padding. A surrogate without its partner becomes {@code ?}.
     *
     * @param out  where to write
     * @param text the string
     */
    public static void writeString(ByteBuf out, CharSequence text) {
        if (hasSurrogate(text)) { // Netty writes no UTF-8 behind one that has no partner
            writeOpaque(out, text.toString().getBytes(StandardCharsets.UTF_8));
            return;
        }
        int lengthIndex = out.writerIndex();
        out.writeInt(0);
        int length = ByteBufUtil.writeUtf8(out, text);
        out.setInt(lengthIndex, length);
        writePadding(out, length);
    }

    private static boolean hasSurrogate(CharSequence text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Writes the zero bytes that follow data of a given length.
     *
     * @param out        where to write
     * @param dataLength length of the data in bytes
     */
    public static void writePadding(ByteBuf out, int dataLength) {
        out.writeZero(paddingOf(dataLength));
    }

    /**
     * The number of padding bytes behind data of a given length.
     *
     * @param length length of the data in bytes
     * @return 0 to 3
     */
    public static int paddingOf(int length) {
        return -length & UNIT_BYTES - 1;
    }

    /**
     * The bytes that data of a given length takes with its padding, without the length word.
     *
     * @param length length of the data in bytes
     * @return {@code length} rounded up to a multiple of four
     * @throws ArithmeticException if that exceeds an {@code int}
     */
    public static int paddedLength(int length) {
        return Math.addExact(length, paddingOf(length));
    }

    private static byte[] readBytes(ByteBuf in, int length) {
        if (length == 0) {
            return EmptyArrays.EMPTY_BYTES;
        }
        byte[] data = new byte[length];
        in.readBytes(data).skipBytes(paddingOf(length));
        return data;
    }

    private static void requireReadable(ByteBuf in, long bytes, String field) {
        if (in.readableBytes() < bytes) {
            throw new XdrException(field + " needs " + bytes + " bytes, " + in.readableBytes() + " are left");
        }
    }
}
