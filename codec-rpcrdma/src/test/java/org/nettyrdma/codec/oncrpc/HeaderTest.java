package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Headers of calls and replies as RFC 5531, section 9, writes them. */
class HeaderTest {

    /** GETATTR of NFS version 3 with an AUTH_SYS credential: stamp 7, machine "host1", user 1000, group 100, groups 4 and 24. */
    private static final String CALL = """
            12345678 00000000 00000002 000186a3 00000003 00000001
            00000001 00000024 00000007 00000005 686f7374 31000000 000003e8 00000064 00000002 00000004 00000018
            00000000 00000000""";

    @Test
    void shouldShowNumbersAsCapturesDo() {
        assertEquals("RpcCallHeader(xid 80000001, program 4294967295, version 3, procedure 0, credential "
                        + OpaqueAuth.NONE + ", verifier " + OpaqueAuth.NONE + ")",
                new RpcCallHeader(0x80000001, -1, 3, 0, OpaqueAuth.NONE, OpaqueAuth.NONE).toString());
    }

    @Test
    void shouldReadACall() {
        ByteBuf in = hex(CALL + "deadbeef");
        RpcCallHeader header = RpcCallHeader.read(in);
        assertEquals(0x12345678, header.xid());
        assertEquals(100003, header.program());
        assertEquals(3, header.version());
        assertEquals(1, header.procedure());
        assertEquals(AuthFlavor.AUTH_SYS, AuthFlavor.of(header.credential().flavor()));
        assertEquals(36, header.credential().bodyLength());
        assertSame(OpaqueAuth.NONE, header.verifier());
        assertEquals(0xdeadbeef, in.readInt());
    }

    @Test
    void shouldWriteACall() {
        RpcCallHeader header = RpcCallHeader.read(hex(CALL));
        assertEquals(dump(hex(CALL)), written(header::write));
        assertEquals(hex(CALL).readableBytes(), header.encodedLength());
    }

    @Test
    void shouldReturnTheCredentialItKnowsWhereAnEqualOneArrives() {
        OpaqueAuth first = RpcCallHeader.read(hex(CALL)).credential();
        assertSame(first, RpcCallHeader.read(hex(CALL), first).credential());
        assertNotSame(first, RpcCallHeader.read(hex(CALL.replace("000003e8", "000003e9")), first).credential());
        assertSame(OpaqueAuth.NONE, RpcCallHeader.read(hex("00000001 00000000 00000002 00000000 00000000 00000000"
                + "00000000 00000000 00000000 00000000"), first).credential());
    }

    @Test
    void shouldTakeNoCredentialForAnotherThatDiffersInOneByte() {
        for (int length = 1; length <= 25; length++) {
            byte[] body = new byte[length];
            Arrays.fill(body, (byte) 0x5A);
            OpaqueAuth known = new OpaqueAuth(7, body);
            assertSame(known, readAgain(known, known));
            for (int at = 0; at < length; at++) {
                body[at]++;
                OpaqueAuth other = new OpaqueAuth(7, body);
                body[at]--;
                assertEquals(other, readAgain(other, known));
            }
            OpaqueAuth otherFlavor = new OpaqueAuth(8, body);
            assertEquals(otherFlavor, readAgain(otherFlavor, known));
        }
    }

    private static OpaqueAuth readAgain(OpaqueAuth sent, OpaqueAuth known) {
        ByteBuf wire = Unpooled.buffer();
        sent.write(wire);
        OpaqueAuth read = OpaqueAuth.read(wire, "credential", known);
        assertEquals(0, wire.readableBytes());
        return read;
    }

    @Test
    void shouldRefuseEveryTruncationOfACall() {
        ByteBuf whole = hex(CALL);
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf truncated = whole.slice(0, length);
            RpcCallHeaderException e = assertThrows(RpcCallHeaderException.class, () -> RpcCallHeader.read(truncated));
            RpcReplyHeader expected;
            if (length < 8) {
                expected = null;
            } else if (length < 24) {
                expected = new RpcReplyHeader.Accepted(0x12345678, AcceptStatus.GARBAGE_ARGS);
            } else {
                expected = new RpcReplyHeader.AuthError(0x12345678,
                        length < 68 ? AuthStatus.AUTH_BADCRED : AuthStatus.AUTH_BADVERF);
            }
            assertEquals(expected, e.answer(), "length " + length);
        }
    }

    @ParameterizedTest
    @MethodSource("hostileBodyLengths")
    void shouldAnswerOversizedCredentialsAndVerifiers(String length) {
        RpcCallHeaderException credential = assertThrows(RpcCallHeaderException.class, () -> RpcCallHeader.read(
                hex("00000009 00000000 00000002 00000001 00000001 00000001 00000001 " + length + "00".repeat(1000))));
        assertEquals(new RpcReplyHeader.AuthError(9, AuthStatus.AUTH_BADCRED), credential.answer());
        RpcCallHeaderException verifier = assertThrows(RpcCallHeaderException.class, () -> RpcCallHeader.read(
                hex("00000009 00000000 00000002 00000001 00000001 00000001 00000000 00000000 00000000" + length
                        + "00".repeat(1000))));
        assertEquals(new RpcReplyHeader.AuthError(9, AuthStatus.AUTH_BADVERF), verifier.answer());
    }

    static Stream<String> hostileBodyLengths() {
        return Stream.of("00000191", "00000192", "7fffffff", "80000000", "ffffffff");
    }

    @Test
    void shouldTakeTheLongestBody() {
        ByteBuf in = hex("00000009 00000000 00000002 00000001 00000001 00000001 00000063 00000190 " + "ab".repeat(400)
                + "00000000 00000000");
        OpaqueAuth credential = RpcCallHeader.read(in).credential();
        assertEquals(99, credential.flavor());
        assertEquals(400, credential.bodyLength());
        assertThrows(IllegalArgumentException.class, () -> new OpaqueAuth(1, new byte[401]));
    }

    @Test
    void shouldAnswerOtherVersionsOfRpc() {
        for (String version : new String[] {"00000000", "00000001", "00000003", "ffffffff"}) {
            RpcCallHeaderException e = assertThrows(RpcCallHeaderException.class,
                    () -> RpcCallHeader.read(hex("00000009 00000000" + version)));
            assertEquals("00000009 00000001 00000001 00000000 00000002 00000002", written(e.answer()::write));
        }
    }

    @Test
    void shouldNotAnswerWhatIsNoCall() {
        for (String message : new String[] {"", "00000009", "00000009 000000", "00000009 00000001 00000002",
                "00000009 00000002 00000002"}) {
            assertNull(assertThrows(RpcCallHeaderException.class, () -> RpcCallHeader.read(hex(message))).answer());
        }
    }

    static Stream<Arguments> replies() {
        Stream<Arguments> common = Stream.of(
                Arguments.of("00000007 00000001 00000000 00000000 00000000 00000000",
                        new RpcReplyHeader.Accepted(7, AcceptStatus.SUCCESS)),
                Arguments.of("00000007 00000001 00000000 00000006 00000003 61626300 00000000",
                        new RpcReplyHeader.Accepted(7, new OpaqueAuth(6, new byte[] {'a', 'b', 'c'}), AcceptStatus.SUCCESS,
                                null)),
                Arguments.of("00000007 00000001 00000000 00000000 00000000 00000001",
                        new RpcReplyHeader.Accepted(7, AcceptStatus.PROG_UNAVAIL)),
                Arguments.of("00000007 00000001 00000000 00000000 00000000 00000002 00000002 ffffffff",
                        new RpcReplyHeader.Accepted(7, OpaqueAuth.NONE, AcceptStatus.PROG_MISMATCH, new VersionRange(2, -1))),
                Arguments.of("00000007 00000001 00000000 00000000 00000000 00000003",
                        new RpcReplyHeader.Accepted(7, AcceptStatus.PROC_UNAVAIL)),
                Arguments.of("00000007 00000001 00000000 00000000 00000000 00000004",
                        new RpcReplyHeader.Accepted(7, AcceptStatus.GARBAGE_ARGS)),
                Arguments.of("00000007 00000001 00000000 00000000 00000000 00000005",
                        new RpcReplyHeader.Accepted(7, AcceptStatus.SYSTEM_ERR)),
                Arguments.of("00000007 00000001 00000001 00000000 00000002 00000003",
                        new RpcReplyHeader.RpcMismatch(7, new VersionRange(2, 3))));
        return Stream.concat(common, Stream.of(AuthStatus.values()).filter(status -> status != AuthStatus.UNKNOWN)
                .map(status -> Arguments.of("00000007 00000001 00000001 00000001 " + String.format("%08x", status.code()),
                        new RpcReplyHeader.AuthError(7, status))));
    }

    @ParameterizedTest
    @MethodSource("replies")
    void shouldReadAndWriteReplies(String wire, RpcReplyHeader header) {
        assertEquals(header, RpcReplyHeader.read(hex(wire)));
        assertEquals(dump(hex(wire)), written(header::write));
    }

    @ParameterizedTest
    @MethodSource("replies")
    void shouldRefuseEveryTruncationOfAReply(String wire, RpcReplyHeader header) {
        ByteBuf whole = hex(wire);
        for (int length = 0; length < whole.readableBytes(); length++) {
            ByteBuf truncated = whole.slice(0, length);
            assertThrows(XdrException.class, () -> RpcReplyHeader.read(truncated), header + ", length " + length);
        }
    }

    @Test
    void shouldRefuseRepliesWithUnknownDiscriminants() {
        for (String reply : new String[] {
            "00000007 00000000 00000000 00000000 00000000 00000000", "00000007 00000002 00000000 00000000 00000000 00000000",
            "00000007 00000001 00000002 00000000 00000000 00000000", "00000007 00000001 00000001 00000002 00000000 00000000",
            "00000007 00000001 00000000 00000000 ffffffff 00000000"}) {
            assertThrows(XdrException.class, () -> RpcReplyHeader.read(hex(reply)), reply);
        }
    }

    @Test
    void shouldSurviveUnknownStatus() {
        assertEquals(new RpcReplyHeader.Accepted(7, AcceptStatus.UNKNOWN),
                RpcReplyHeader.read(hex("00000007 00000001 00000000 00000000 00000000 00000006")));
        assertEquals(new RpcReplyHeader.AuthError(7, AuthStatus.UNKNOWN),
                RpcReplyHeader.read(hex("00000007 00000001 00000001 00000001 0000000f")));
    }

    @Test
    void shouldRequireARangeExactlyWithAMismatch() {
        assertThrows(IllegalArgumentException.class, () -> new RpcReplyHeader.Accepted(7, AcceptStatus.PROG_MISMATCH));
        assertThrows(IllegalArgumentException.class, () -> new RpcReplyHeader.Accepted(7, OpaqueAuth.NONE,
                AcceptStatus.SUCCESS, new VersionRange(1, 2)));
    }

    @Test
    void shouldMapEveryCodeToOneConstantAndBack() {
        shouldMapEveryCode(AcceptStatus.values(), AcceptStatus::code, AcceptStatus::of, AcceptStatus.UNKNOWN);
        shouldMapEveryCode(RejectStatus.values(), RejectStatus::code, RejectStatus::of, RejectStatus.UNKNOWN);
        shouldMapEveryCode(AuthStatus.values(), AuthStatus::code, AuthStatus::of, AuthStatus.UNKNOWN);
        shouldMapEveryCode(AuthFlavor.values(), AuthFlavor::code, AuthFlavor::of, AuthFlavor.UNKNOWN);
        shouldMapEveryCode(RpcMessageType.values(), RpcMessageType::code, RpcMessageType::of, RpcMessageType.UNKNOWN);
    }

    private static <T> void shouldMapEveryCode(T[] constants, ToIntFunction<T> code, IntFunction<T> of, T unknown) {
        for (T constant : constants) {
            assertSame(constant, of.apply(code.applyAsInt(constant)));
        }
        long known = java.util.stream.IntStream.rangeClosed(-100, 1000).filter(c -> of.apply(c) != unknown).count();
        assertEquals(constants.length - 1, known);
        assertSame(unknown, of.apply(Integer.MIN_VALUE));
        assertSame(unknown, of.apply(Integer.MAX_VALUE));
    }

    @Test
    void shouldCompareVersionsAsUnsignedNumbers() {
        VersionRange range = new VersionRange(2, 0x80000000);
        assertEquals(true, range.contains(2) && range.contains(Integer.MAX_VALUE) && range.contains(0x80000000));
        assertEquals(false, range.contains(1) || range.contains(0x80000001) || range.contains(-1));
        assertEquals("2 to 2147483648", range.toString());
    }

    private static String written(java.util.function.Consumer<ByteBuf> write) {
        ByteBuf out = Unpooled.buffer();
        write.accept(out);
        return dump(out);
    }
}
