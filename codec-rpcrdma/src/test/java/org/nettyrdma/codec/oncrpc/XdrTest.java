package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Items as RFC 4506 draws them. */
class XdrTest {

    @Test
    void shouldReadIntegers() {
        assertEquals(-2, Xdr.readInt(hex("fffffffe"), "f"));
        assertEquals(4294967294L, Xdr.readUnsignedInt(hex("fffffffe"), "f"));
        assertEquals(0x0102030405060708L, Xdr.readHyper(hex("01020304 05060708"), "f"));
    }

    @Test
    void shouldWriteIntegers() {
        assertEquals("fffffffe", written(out -> Xdr.writeInt(out, -2)));
        assertEquals("ffffffff", written(out -> Xdr.writeUnsignedInt(out, 0xffffffffL)));
        assertEquals("01020304 05060708", written(out -> Xdr.writeHyper(out, 0x0102030405060708L)));
        assertThrows(IllegalArgumentException.class, () -> Xdr.writeUnsignedInt(Unpooled.buffer(), 1L << 32));
        assertThrows(IllegalArgumentException.class, () -> Xdr.writeUnsignedInt(Unpooled.buffer(), -1));
    }

    @Test
    void shouldTakeNothingButZeroAndOneForABoolean() {
        assertFalse(Xdr.readBoolean(hex("00000000"), "f"));
        assertTrue(Xdr.readBoolean(hex("00000001"), "f"));
        for (String other : new String[] {"00000002", "00000003", "ffffffff", "80000000", "80000001", "01000000"}) {
            assertThrows(XdrException.class, () -> Xdr.readBoolean(hex(other), "f"), other);
        }
        assertEquals("00000001 00000000", written(out -> {
            Xdr.writeBoolean(out, true);
            Xdr.writeBoolean(out, false);
        }));
    }

    @Test
    void shouldReadOpaqueDataAndSkipItsPadding() {
        ByteBuf in = hex("00000005 01020304 05000000 0000002a");
        assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, Xdr.readOpaque(in, 5, "f"));
        assertEquals(42, in.readInt());
    }

    @Test
    void shouldReadOpaqueDataAsASliceThatSharesItsBuffer() {
        ByteBuf in = hex("00000005 01020304 05000000 0000002a");
        ByteBuf slice = Xdr.readOpaqueSlice(in, 5, "f");
        assertEquals(5, slice.readableBytes());
        in.setByte(4, 9);
        assertEquals(9, slice.getByte(0));
        assertEquals(1, in.refCnt());
        assertEquals(42, in.readInt());
    }

    @Test
    void shouldReadFixedOpaqueData() {
        ByteBuf in = hex("010203 00 0000002a");
        assertArrayEquals(new byte[] {1, 2, 3}, Xdr.readFixedOpaque(in, 3, "f"));
        assertEquals(42, in.readInt());
    }

    @Test
    void shouldReadEmptyItems() {
        assertEquals(0, Xdr.readOpaque(hex("00000000"), 0, "f").length);
        assertEquals(0, Xdr.readOpaqueSlice(hex("00000000"), 0, "f").readableBytes());
        assertEquals("", Xdr.readString(hex("00000000"), 0, "f"));
    }

    @Test
    void shouldReadAndWriteStrings() {
        // The last letter takes two bytes in UTF-8.
        String wire = "00000007 7369 6c6c 79c3 a900";
        assertEquals("silly\u00e9", Xdr.readString(hex(wire), 7, "f"));
        assertEquals(dump(hex(wire)), written(out -> Xdr.writeString(out, "silly\u00e9")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\ud83d\ude00", "\ud800\u00e9", "\u00e9\udc00", "\ud800\ud83d\ude00", "a\ud800", "\udc00\ud800"})
    void shouldWriteStringsOfSurrogatesThatEverybodyCanRead(String text) {
        ByteBuf out = Unpooled.buffer();
        Xdr.writeString(out, text);
        assertEquals(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8), Xdr.readString(out, 12, "f"));
        assertFalse(out.isReadable());
        AuthSys claimed = new AuthSys(0, text, 0, 0, List.of());
        assertEquals(0, AuthSys.from(claimed.toOpaqueAuth()).userId());
        assertThrows(IllegalArgumentException.class, () -> new AuthSys(0, "x".repeat(253) + "\ud800\u00e9", 0, 0, List.of()));
    }

    @Test
    void shouldRefuseStringsThatAreNotUtf8() {
        assertThrows(XdrException.class, () -> Xdr.readString(hex("00000002 c3280000"), 10, "f"));
        assertThrows(XdrException.class, () -> Xdr.readString(hex("00000001 ff000000"), 10, "f"));
    }

    @Test
    void shouldWriteOpaqueDataWithItsPadding() {
        assertEquals("00000005 01020304 05000000", written(out -> Xdr.writeOpaque(out, new byte[] {1, 2, 3, 4, 5})));
        assertEquals("01000000", written(out -> Xdr.writeFixedOpaque(out, new byte[] {1})));
        ByteBuf data = hex("0102");
        assertEquals("00000002 01020000", written(out -> Xdr.writeOpaque(out, data)));
        assertEquals(2, data.readableBytes());
        assertEquals("00000000", written(out -> Xdr.writeOpaque(out, new byte[0])));
    }

    @Test
    void shouldPadToFourBytes() {
        int[] padding = {0, 3, 2, 1, 0, 3, 2, 1, 0};
        for (int length = 0; length < padding.length; length++) {
            assertEquals(padding[length], Xdr.paddingOf(length));
            assertEquals(length + padding[length], Xdr.paddedLength(length));
        }
        assertThrows(ArithmeticException.class, () -> Xdr.paddedLength(Integer.MAX_VALUE));
    }

    @Test
    void shouldReadArrayLengthsThatTheBytesPresentBear() {
        assertEquals(2, Xdr.readArrayLength(hex("00000002 00000000 00000000"), 16, 4, "f"));
        assertEquals(16, Xdr.readArrayLength(hex("00000010"), 16, 0, "f"));
        assertThrows(XdrException.class, () -> Xdr.readArrayLength(hex("00000002 00000000 000000"), 16, 4, "f"));
        assertThrows(XdrException.class, () -> Xdr.readArrayLength(hex("00000011"), 16, 0, "f"));
        assertThrows(XdrException.class, () -> Xdr.readArrayLength(hex("ffffffff"), Integer.MAX_VALUE, 1 << 30, "f"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ffffffff", "80000000", "7fffffff", "7ffffffd", "00000009"})
    void shouldRefuseHostileLengths(String length) {
        ByteBuf in = hex(length + "01020304 05000000");
        for (int limit : new int[] {5, Integer.MAX_VALUE}) {
            assertThrows(XdrException.class, () -> Xdr.readOpaque(in.duplicate(), limit, "f"));
            assertThrows(XdrException.class, () -> Xdr.readOpaqueSlice(in.duplicate(), limit, "f"));
            assertThrows(XdrException.class, () -> Xdr.readString(in.duplicate(), limit, "f"));
        }
    }

    @Test
    void shouldRefuseLengthsOverTheLimitThoughTheBytesArePresent() {
        ByteBuf in = hex("00000006 01020304 05060000");
        assertThrows(XdrException.class, () -> Xdr.readOpaque(in.duplicate(), 5, "f"));
        assertEquals(6, Xdr.readOpaque(in, 6, "f").length);
    }

    @Test
    void shouldRefuseEveryTruncation() {
        shouldRefuseEveryTruncation("00000001", in -> Xdr.readInt(in, "f"));
        shouldRefuseEveryTruncation("00000001", in -> Xdr.readUnsignedInt(in, "f"));
        shouldRefuseEveryTruncation("00000001", in -> Xdr.readBoolean(in, "f"));
        shouldRefuseEveryTruncation("00000001 00000001", in -> Xdr.readHyper(in, "f"));
        shouldRefuseEveryTruncation("00000005 41424344 45000000", in -> Xdr.readOpaque(in, 100, "f"));
        shouldRefuseEveryTruncation("00000005 41424344 45000000", in -> Xdr.readOpaqueSlice(in, 100, "f"));
        shouldRefuseEveryTruncation("00000005 41424344 45000000", in -> Xdr.readString(in, 100, "f"));
        shouldRefuseEveryTruncation("41424344 45000000", in -> Xdr.readFixedOpaque(in, 5, "f"));
    }

    private static void shouldRefuseEveryTruncation(String wellFormed, Function<ByteBuf, Object> read) {
        ByteBuf whole = hex(wellFormed);
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf truncated = whole.slice(0, length);
            assertThrows(XdrException.class, () -> read.apply(truncated), "length " + length);
        }
        read.apply(whole);
        assertEquals(0, whole.readableBytes());
    }

    @Test
    void shouldNameTheFieldAndTheLimit() {
        XdrException e = assertThrows(XdrException.class, () -> Xdr.readOpaque(hex("00000101"), 256, "file handle"));
        assertEquals("file handle is 257 bytes long, limit 256", e.getMessage());
    }

    private static String written(Consumer<ByteBuf> write) {
        ByteBuf out = Unpooled.buffer();
        write.accept(out);
        return dump(out);
    }
}
