package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 5044, sections 4.1 and 4.4: what the trailer of an FPDU protects, and that nothing counts before it was checked. */
class ChecksumTest extends RawConnectionFixture {

    private static final String TERMINATE = "0016 4147 00000000 00000002 00000001 00000000 20020000";

    /** Pad and CRC for what is written without them. */
    private static byte[] sealed(String segment) {
        byte[] bytes = Hex.bytes(segment);
        byte[] padded = Arrays.copyOf(bytes, bytes.length + 3 & ~3);
        CRC32C crc = new CRC32C();
        crc.update(padded);
        return Hex.bytes(Hex.of(padded) + String.format("%08x", Integer.reverseBytes((int) crc.getValue())));
    }

    @Test
    void shouldFindAWrongBitAnywhere() throws IOException {
        byte[] right = sealed("0015 4143 00000000 00000000 00000001 00000000 010203");
        for (int i = 4; i < right.length; i++) {
            if (i >= 8 && i < 20) {
                continue; // queue, number and offset: there another error is found first
            }
            connectWithChecksum();
            endpoint.receive(1, 0, 16);
            byte[] wrong = right.clone();
            wrong[i] ^= (byte) (1 << i % 8);
            raw.send(wrong);
            assertEquals(Hex.of(sealed(TERMINATE)), Hex.of(raw.receiveAll()), "byte " + i);
            endpoint.awaitDisconnect();
            endpoint.expectFlushed(1);
            raw.close();
        }
        connectWithChecksum();
        endpoint.receive(1, 0, 16);
        raw.send(right);
        endpoint.expectCompletion(1, 3);
    }

    @Test
    void shouldAnswerAReadOnlyWhenItsCrcHasBeenChecked() throws IOException {
        connectWithChecksum();
        endpoint.fill(READABLE, Hex.bytes("01020304"));
        byte[] request = sealed(readRequest(1, 4, "00002200"));
        raw.send(Arrays.copyOf(request, 48));
        peer.settle();
        assertTrue(endpoint.queuePair.invalidate(1, 0x2200), "nothing is being read yet");
        steeringTags.add(0x2200);
        endpoint.queuePair.expose(endpoint.region, READABLE, 256, 1);
        raw.send(Arrays.copyOfRange(request, 48, 52));
        awaitTerminate("01 00");
    }

    @Test
    void shouldNotAnswerAReadWithAWrongCrc() throws IOException {
        connectWithChecksum();
        raw.send(sealed("000e c140 00000000 0000000000000000")); // from now on this side may send
        raw.send(readRequest(1, 4, "00002200"));
        peer.settle();
        raw.send("00000000");
        assertEquals("", awaitTerminate("20 02"));
    }

    @Test
    void shouldAnswerAReadWhoseTrailerComesLate() throws IOException {
        connectWithChecksum();
        endpoint.fill(READABLE, Hex.bytes("01020304"));
        byte[] request = sealed(readRequest(1, 4, "00002200"));
        raw.send(Arrays.copyOf(request, 48));
        peer.settle();
        raw.send(Arrays.copyOfRange(request, 48, 52));
        raw.expect(Hex.of(sealed("0012 c142 00000077 0000000012345678 01020304")));
    }

    @Test
    void shouldNotBelieveATerminateWithAWrongCrc() throws IOException {
        connectWithChecksum();
        raw.send("0016 4147 00000000 00000002 00000001 00000000 01010000 00000000");
        assertEquals("", awaitTerminate("20 02"));
        assertEquals(0, peer.provider.statistics().terminatesReceived());
    }

    @Test
    void shouldNotInvalidateByASendWithAWrongCrc() throws IOException {
        connectWithChecksum();
        endpoint.receive(1, 0, 16);
        raw.send("0012 4144 00001100 00000000 00000001 00000000");
        peer.settle();
        assertEquals(0, endpoint.queuePair.remoteOffset(0x1100));
        raw.send("00000000");
        awaitTerminate("20 02");
        endpoint.expectFlushed(1);
    }

    /** Pad is sent as 0, but what is received there counts for the CRC only. */
    @Test
    void shouldNotLookAtPadThatTheCrcCovers() throws IOException {
        connectWithChecksum();
        endpoint.receive(1, 0, 16);
        raw.send(sealed("0013 4143 00000000 00000000 00000001 00000000 05 abcdef"));
        endpoint.expectCompletion(1, 1);
        assertEquals("0500", Hex.of(endpoint.bytes(0, 2)));
    }

    /** The field is there, but means nothing; neither do pad bytes. */
    @ParameterizedTest
    @ValueSource(strings = {"00000000", "ffffffff", "12345678"})
    void shouldNotLookAtPadAndCrcWhenCrcIsOff(String crc) throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        raw.send("0013 4143 00000000 00000000 00000001 00000000 05 abcdef" + crc);
        endpoint.expectCompletion(1, 1);
        assertEquals("05", Hex.of(endpoint.bytes(0, 1)));
    }

    @Test
    void shouldSendZerosWhenCrcIsOff() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        endpoint.fill(0, Hex.bytes("0102030405"));
        endpoint.send(1, 0, 5);
        raw.expect("0017 4143 00000000 00000000 00000001 00000000 0102030405 000000 00000000");
    }
}
