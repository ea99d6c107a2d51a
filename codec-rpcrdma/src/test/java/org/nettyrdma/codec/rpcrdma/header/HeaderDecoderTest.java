package org.nettyrdma.codec.rpcrdma.header;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.codec.rpcrdma.Bytes;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.format.HeaderJson;
import org.nettyrdma.codec.rpcrdma.format.TestVector;
import org.nettyrdma.handler.credit.CreditedMessage.Role;

class HeaderDecoderTest {

    static Stream<TestVector> accepted() {
        return TestVector.all().filter(vector -> vector.header() != null);
    }

    static Stream<TestVector> all() {
        return TestVector.all();
    }

    @ParameterizedTest
    @MethodSource("accepted")
    void shouldReadEachHeaderAndStopBehindIt(TestVector vector) throws RpcRdmaException {
        ByteBuf message = Bytes.hex(vector.wire());
        RpcRdmaHeader header = HeaderDecoder.decode(message, RpcRdmaLimits.DEFAULT, vector.extensions());
        Role role = switch (vector.header().get("direction").getAsString()) {
            case "call" -> Role.REQUEST;
            case "reply" -> Role.RESPONSE;
            default -> Role.NEITHER;
        };
        assertEquals(vector.header(), HeaderJson.of(RpcRdmaMessage.of(role, header, message)));
        message.release();
    }

    @ParameterizedTest
    @MethodSource("all")
    void shouldRefuseEveryTruncationWithTheExceptionThatItDeclares(TestVector vector) {
        String digits = vector.wire();
        for (int length = 0; length < digits.length(); length += 2) {
            ByteBuf cut = Bytes.hex(digits.substring(0, length));
            try {
                HeaderDecoder.decode(cut, RpcRdmaLimits.DEFAULT, vector.extensions());
            } catch (RpcRdmaException e) {
                assertTrue(cut.readerIndex() <= cut.writerIndex(), e.getMessage());
            }
            cut.release();
        }
    }

    @Test
    void shouldNameTheFieldAndStopAtIt() {
        ByteBuf message = Bytes.hex("0000002a" + "00000002" + "00000020" + "00000000" + "00000000" + "00000000" + "00000002");
        RpcRdmaException refusal = assertThrows(RpcRdmaException.class,
                () -> HeaderDecoder.decode(message, RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE));
        assertEquals("Read list: presence word 2 (expected: 0..1)", refusal.getMessage());
        assertEquals(28, message.readerIndex());
        message.release();
    }

    @Test
    void shouldRefuseWhatIsTooShortForTheFixedWords() {
        ByteBuf message = Bytes.hex("0000002a" + "00000001" + "00000020");
        RpcRdmaException refusal = assertThrows(RpcRdmaException.class,
                () -> HeaderDecoder.decode(message, RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE));
        assertEquals("fixed part of the header needs 16 bytes, 12 are left", refusal.getMessage());
        message.release();
    }

    @Test
    void shouldRefuseOtherVersions() {
        ByteBuf message = Bytes.hex("0000002a" + "00000003" + "00000020" + "00000000");
        RpcRdmaException refusal = assertThrows(RpcRdmaException.class,
                () -> HeaderDecoder.decode(message, RpcRdmaLimits.DEFAULT, HeaderExtensions.NONE));
        assertEquals(RpcRdmaException.Reason.VERSION, refusal.reason());
        message.release();
    }
}
