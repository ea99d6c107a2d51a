package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/**
 * A peer that breaks a rule gets the Terminate that RFC 5040, section 4.8 has for it, and loses its connection and no other.
 *
 * <p>Exposed are 256 bytes for writing under tag 0x1100 and 256 for reading under 0x2200; one receive of 16 bytes is posted.
 *
 * <p>Whoever places more than there is room for may never end; so the time is limited from another thread.
 */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class ProtocolViolationTest {

    private static final String REQUEST = "4d504120494420526571204672616d65 10 02 0004 0010 0004";
    private static final String REPLY = "4d504120494420526570204672616d65 10 02 0004 0004 0010";
    private static final String CRC_OFF = "00000000";

    private final ArrayDeque<Integer> steeringTags = new ArrayDeque<>();
    private IwarpTestPeer peer;
    private RawPeer raw;
    private Endpoint endpoint;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(System::nanoTime, steeringTags::remove);
        peer.listen();
        raw = connect();
        steeringTags.add(0x1100);
        endpoint.queuePair.expose(endpoint.region, 1024, 256, QueuePair.ACCESS_REMOTE_WRITE);
        steeringTags.add(0x2200);
        endpoint.queuePair.expose(endpoint.region, 2048, 256, QueuePair.ACCESS_REMOTE_READ);
        endpoint.receive(1, 0, 16);
    }

    private RawPeer connect() throws IOException {
        RawPeer connected = RawPeer.connect(peer, peer.listener.localAddress()).send(REQUEST);
        endpoint = peer.accept(IwarpTestPeer.ATTRIBUTES);
        endpoint.awaitEstablished();
        connected.expect(REPLY);
        return connected;
    }

    @AfterEach
    void tearDown() throws IOException {
        peer.close();
        raw.close();
    }

    /** What is wrong | the FPDU without CRC | layer and type, code of the Terminate. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "length without control       | 0001 4143                                                              | 20 03",
        "length less than a Send      | 0011 4143 00000000 00000000 00000001 00000000                          | 20 03",
        "length less than a Write     | 000d c140 00001100 0000000000000000                                    | 20 03",
        "length less than a Terminate | 0015 4147 00000000 00000002 00000001 00000000 000000                   | 20 03",
        "Terminate without end        | 0100 4147 00000000 00000002 00000001 00000000 00000000                 | 20 03",
        "DDP version of a Write       | 000e c040 00001100 0000000000000000                                    | 11 04",
        "DDP version of a Send        | 0012 4243 00000000 00000000 00000001 00000000                          | 12 06",
        "RDMAP version                | 0012 4183 00000000 00000000 00000001 00000000                          | 02 05",
        "unknown opcode               | 0012 4148 00000000 00000000 00000001 00000000                          | 02 06",
        "tagged Send                  | 000e c143 00001100 0000000000000000                                    | 02 06",
        "untagged Write               | 0012 4140 00000000 00000000 00000001 00000000                          | 02 06",
        "Send on queue 1              | 0012 4143 00000000 00000001 00000001 00000000                          | 12 01",
        "first Send with number 2     | 0012 4143 00000000 00000000 00000002 00000000                          | 12 03",
        "first Send with number 0     | 0012 4143 00000000 00000000 00000000 00000000                          | 12 03",
        "first Send at offset 4       | 0012 4143 00000000 00000000 00000001 00000004                          | 12 04",
        "Send longer than its buffer  | 0023 4143 00000000 00000000 00000001 00000000                          | 12 05",
        "Send of an unknown tag       | 0012 4144 00003300 00000000 00000001 00000000                          | 02 09",
        "Send of a wrong key          | 0012 4144 00001101 00000000 00000001 00000000                          | 02 09",
        "Write to an unknown tag      | 000f c140 00003300 0000000000000000 aa000000                           | 11 00",
        "Write to a wrong key         | 000f c140 00001101 0000000000000000 aa000000                           | 11 00",
        "Write to what is for reading | 000f c140 00002200 0000000000000000 aa000000                           | 01 02",
        "Write behind the end         | 000f c140 00001100 0000000000000100 aa000000                           | 11 01",
        "Write across the end         | 0010 c140 00001100 00000000000000ff aaaa0000                           | 11 01",
        "Write before the start       | 000f c140 00001100 fffffffffffffffe aa000000                           | 11 01",
        "Write across 2^64            | 0012 c140 00001100 fffffffffffffffe aaaaaaaa                           | 11 03",
        "Write up to 2^64             | 0010 c140 00001100 fffffffffffffffe aaaa0000                           | 11 03",
        "unasked Read Response        | 000e c142 00000001 0000000000000000                                    | 11 00",
        "Read of an unknown tag       | 002e 4141 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000001 "
                + "00003300 0000000000000000 | 01 00",
        "Read of what is for writing  | 002e 4141 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000001 "
                + "00001100 0000000000000000 | 01 02",
        "Read across the end          | 002e 4141 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000101 "
                + "00002200 0000000000000000 | 01 01",
        "Read of 2^32 - 1 bytes       | 002e 4141 00000000 00000001 00000001 00000000 00000001 0000000000000000 ffffffff "
                + "00002200 0000000000000000 | 01 01",
        "Read across 2^64             | 002e 4141 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000010 "
                + "00002200 fffffffffffffff8 | 01 04",
        "Read on queue 0              | 002e 4141 00000000 00000000 00000001 00000000 00000001 0000000000000000 00000001 "
                + "00002200 0000000000000000 | 12 01",
        "first Read with number 2     | 002e 4141 00000000 00000001 00000002 00000000 00000001 0000000000000000 00000001 "
                + "00002200 0000000000000000 | 12 03",
        "Read Request at offset 1     | 002e 4141 00000000 00000001 00000001 00000001 00000001 0000000000000000 00000001 "
                + "00002200 0000000000000000 | 12 04",
        "Read Request with payload    | 0032 4141 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000001 "
                + "00002200 0000000000000000 aaaaaaaa | 12 05",
        "Read Request to be continued | 002e 0141 00000000 00000001 00000001 00000000 00000001 0000000000000000 00000001 "
                + "00002200 0000000000000000 | 12 05",
        "Terminate on queue 0         | 0016 4147 00000000 00000000 00000001 00000000 20020000                 | 12 01",
    })
    void shouldTerminate(String what, String fpdu, String layerTypeAndCode) throws IOException {
        raw.send(fpdu + CRC_OFF);
        expectTerminate(Hex.bytes(fpdu), layerTypeAndCode);
    }

    /** The Terminate names the offending segment, unless the error is about the stream. */
    private void expectTerminate(byte[] fpdu, String layerTypeAndCode) throws IOException {
        byte[] received = raw.receiveAll();
        boolean ofMpa = layerTypeAndCode.startsWith("2");
        int headerLength = (fpdu[2] & 0x80) != 0 ? 16 : (fpdu[3] & 0xF) == 1 ? 48 : 20;
        String attached = ofMpa ? "" : Hex.of(Arrays.copyOf(fpdu, headerLength));
        String flags = ofMpa ? "00" : headerLength == 48 ? "e0" : "c0";
        String terminate = "4147 00000000 00000002 00000001 00000000" + layerTypeAndCode + flags + "00" + attached;
        int ulpduLength = Hex.bytes(terminate).length;
        String pad = "00".repeat(-(ulpduLength + 2) & 3);
        assertEquals(Hex.digits(String.format("%04x", ulpduLength) + terminate + pad + CRC_OFF), Hex.of(received));

        ProtocolViolationException cause = assertInstanceOf(ProtocolViolationException.class, endpoint.awaitDisconnect());
        assertEquals(Integer.parseInt(layerTypeAndCode.substring(0, 2), 16), cause.reason().layerAndType());
        assertEquals(Integer.parseInt(layerTypeAndCode.substring(3), 16), cause.reason().code());
        assertEquals(1, peer.provider.statistics().violations());
        Completion completion = endpoint.awaitCompletion();
        assertEquals(cause.reason() == TerminateReason.MESSAGE_TOO_LONG && fpdu[3] == 0x43
                ? WorkCompletionStatus.LOCAL_LENGTH_ERROR : WorkCompletionStatus.WORK_REQUEST_FLUSHED, completion.status());
    }

    /** Messages must not be mixed: RFC 5041, section 5.3. */
    @ParameterizedTest(name = "{1} inside {0}")
    @CsvSource(delimiter = '|', value = {
        "0016 0143 00000000 00000000 00000001 00000000 aaaaaaaa | 0012 c140 00001100 0000000000000000 aaaaaaaa | 02 06",
        "0016 0143 00000000 00000000 00000001 00000000 aaaaaaaa | 0012 4143 00000000 00000000 00000002 00000000 | 12 03",
        "0016 0143 00000000 00000000 00000001 00000000 aaaaaaaa | 0012 4144 00001100 00000000 00000001 00000004 | 02 06",
        "0016 0143 00000000 00000000 00000001 00000000 aaaaaaaa | 0012 4143 00000000 00000000 00000001 00000000 | 12 04",
        "0016 0143 00000000 00000000 00000001 00000000 aaaaaaaa | 001f 4143 00000000 00000000 00000001 00000004 "
                + "aaaaaaaaaaaaaaaaaaaaaaaaaa | 12 05",
        "0012 8140 00001100 0000000000000000 aaaaaaaa           | 0012 4143 00000000 00000000 00000001 00000000 | 02 06",
        "0012 8140 00001100 0000000000000000 aaaaaaaa           | 0012 c140 00002200 0000000000000004 aaaaaaaa  | 11 00",
        "0012 8140 00001100 0000000000000000 aaaaaaaa           | 0012 c140 00001100 0000000000000008 aaaaaaaa  | 11 01",
    })
    void shouldTerminateInsideAMessage(String begun, String fpdu, String layerTypeAndCode) throws IOException {
        raw.send(begun + CRC_OFF).send(fpdu + CRC_OFF);
        expectTerminate(Hex.bytes(fpdu), layerTypeAndCode);
    }

    @Test
    void shouldTerminateAWriteToAnInvalidatedTag() throws IOException {
        assertTrue(endpoint.queuePair.invalidate(5, 0x1100));
        String fpdu = "000f c140 00001100 0000000000000000 aa000000";
        raw.send(fpdu + CRC_OFF);
        expectTerminate(Hex.bytes(fpdu), "11 00");
    }

    @Test
    void shouldTerminateAWriteWhoseTagIsInvalidatedInItsMiddle() throws IOException {
        String fpdu = "0016 c140 00001100 0000000000000000 aaaaaaaabbbbbbbb";
        byte[] bytes = Hex.bytes(fpdu);
        raw.send(Arrays.copyOf(bytes, bytes.length - 4));
        peer.pump("the first half", () -> endpoint.bytes(1024, 4)[3] == (byte) 0xaa);
        assertTrue(endpoint.queuePair.invalidate(5, 0x1100));
        raw.send("bbbbbbbb" + CRC_OFF);
        expectTerminate(bytes, "11 00");
        assertEquals("aaaaaaaa00000000", Hex.of(endpoint.bytes(1024, 8)));
    }

    @Test
    void shouldTerminateAWriteThatBeganBeforeAndContinuesAfterInvalidation() throws IOException {
        raw.send("0012 8140 00001100 0000000000000000 aaaaaaaa" + CRC_OFF);
        peer.pump("the first segment", () -> endpoint.bytes(1024, 4)[3] == (byte) 0xaa);
        peer.settle();
        assertTrue(endpoint.queuePair.invalidate(5, 0x1100));
        String fpdu = "0012 c140 00001100 0000000000000004 bbbbbbbb";
        raw.send(fpdu + CRC_OFF);
        expectTerminate(Hex.bytes(fpdu), "11 00");
        assertEquals("aaaaaaaa00000000", Hex.of(endpoint.bytes(1024, 8)));
    }

    /** The depth agreed on is 4. All requests come in one piece, so that none is answered before the last is read. */
    @Test
    void shouldTerminateMoreReadsThanAgreedOn() throws IOException {
        StringBuilder requests = new StringBuilder();
        for (int i = 1; i <= 5; i++) {
            requests.append(readRequest(i, 4)).append(CRC_OFF);
        }
        raw.send(requests.toString());
        ProtocolViolationException cause = assertInstanceOf(ProtocolViolationException.class, endpoint.awaitDisconnect());
        assertEquals(TerminateReason.CATASTROPHIC_FOR_STREAM, cause.reason());
        byte[] received = raw.receiveAll();
        assertEquals(Hex.digits("0046 4147 00000000 00000002 00000001 00000000 0207e000" + readRequest(5, 4) + CRC_OFF),
                Hex.of(received));
    }

    @Test
    void shouldAnswerAsManyReadsAsAgreedOn() throws IOException {
        endpoint.fill(2048, Hex.bytes("01020304"));
        StringBuilder requests = new StringBuilder();
        for (int i = 1; i <= 4; i++) {
            requests.append(readRequest(i, i == 3 ? 0 : 4)).append(CRC_OFF);
        }
        raw.send(requests.toString());
        String answer = "0012 c142 00000077 0000000012345678 01020304 00000000";
        raw.expect(answer + answer + "000e c142 00000077 0000000012345678 00000000" + answer);
    }

    private static String readRequest(int number, int size) {
        return "002e 4141 00000000 00000001" + String.format("%08x", number) + "00000000 00000077 0000000012345678"
                + String.format("%08x", size) + "00002200 0000000000000000";
    }

    /** The answer to a Read must be what was asked for: RFC 5040, section 5.2. The Read is of 8 bytes under tag 0x4400. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "wrong tag          | 0016 c142 00004401 0000000000000000 aaaaaaaaaaaaaaaa   | 11 00",
        "wrong offset       | 0016 c142 00004400 0000000000000001 aaaaaaaaaaaaaaaa   | 11 01",
        "too short          | 0012 c142 00004400 0000000000000000 aaaaaaaa           | 11 01",
        "too long           | 0017 c142 00004400 0000000000000000 aaaaaaaaaaaaaaaaaa 000000 | 11 01",
        "too long, not last | 0017 8142 00004400 0000000000000000 aaaaaaaaaaaaaaaaaa 000000 | 11 01",
        "Write to the sink  | 0016 c140 00004400 0000000000000000 aaaaaaaaaaaaaaaa   | 11 00",
    })
    void shouldTerminateAWrongReadResponse(String what, String fpdu, String layerTypeAndCode) throws IOException {
        raw.send("000e c140 00000000 0000000000000000" + CRC_OFF);
        steeringTags.add(0x4400);
        endpoint.read(2, 4096, 8, 0x99, 0);
        peer.settle();
        raw.expect("002e 4141 00000000 00000001 00000001 00000000 00004400 0000000000000000 00000008"
                + "00000099 0000000000000000" + CRC_OFF);
        raw.send(fpdu + CRC_OFF);
        expectTerminate(Hex.bytes(fpdu), layerTypeAndCode);
        assertEquals("0000000000000000", Hex.of(endpoint.bytes(4096, 8)));
    }

    /** Answers come in the order of the requests: RFC 5040, section 5.5. */
    @Test
    void shouldTerminateAReadResponseThatIsNotToTheOldestRequest() throws IOException {
        raw.send("000e c140 00000000 0000000000000000" + CRC_OFF);
        steeringTags.add(0x4400);
        steeringTags.add(0x5500);
        endpoint.read(2, 4096, 8, 0x99, 0);
        endpoint.read(3, 4104, 8, 0x99, 0);
        peer.settle();
        raw.receive(2 * 52);
        String fpdu = "0016 c142 00005500 0000000000000000 aaaaaaaaaaaaaaaa";
        raw.send(fpdu + CRC_OFF);
        expectTerminate(Hex.bytes(fpdu), "11 00");
        assertEquals("0".repeat(32), Hex.of(endpoint.bytes(4096, 16)));
    }

    @Test
    void shouldTakeAReadResponseWhoseLastSegmentIsEmpty() throws IOException {
        raw.send("000e c140 00000000 0000000000000000" + CRC_OFF);
        steeringTags.add(0x4400);
        endpoint.read(2, 4096, 8, 0x99, 0);
        peer.settle();
        raw.receive(52);
        raw.send("0016 8142 00004400 0000000000000000 0102030405060708" + CRC_OFF);
        raw.send("000e c142 00004400 0000000000000008" + CRC_OFF);
        endpoint.expectCompletion(2, 8);
        assertEquals("0102030405060708", Hex.of(endpoint.bytes(4096, 8)));
    }

    @Test
    void shouldTerminateASendThatWithdrawsWhatIsBeingRead() throws IOException {
        raw.send(readRequest(1, 4) + CRC_OFF + "0012 4144 00002200 00000000 00000001 00000000" + CRC_OFF);
        ProtocolViolationException cause = assertInstanceOf(ProtocolViolationException.class, endpoint.awaitDisconnect());
        assertEquals(TerminateReason.STEERING_TAG_NOT_INVALIDATED, cause.reason());
    }

    @Test
    void shouldFailTheReadThatThePeerTerminates() throws IOException {
        raw.send("000e c140 00000000 0000000000000000" + CRC_OFF);
        steeringTags.add(0x4400);
        steeringTags.add(0x5500);
        endpoint.read(2, 4096, 8, 0x99, 0);
        endpoint.read(3, 4096, 8, 0x99, 0x1000);
        endpoint.send(4, 0, 4);
        peer.settle();
        raw.receive(52);
        String second = Hex.of(raw.receive(52)).substring(0, 96);
        raw.send("0046 4147 00000000 00000002 00000001 00000000 0101e000" + second + CRC_OFF);
        endpoint.expectFlushed(2);
        assertEquals(new Completion(3, WorkCompletionStatus.REMOTE_ACCESS_ERROR, 0, false, 0), endpoint.awaitCompletion());
        endpoint.expectFlushed(4);
        endpoint.expectFlushed(1);
        assertInstanceOf(PeerTerminatedException.class, endpoint.awaitDisconnect());
    }

    /** RFC 5044, section 4.4: a wrong CRC ends the connection, and the message does not complete. */
    @Test
    void shouldTerminateWhenTheCrcIsWrong() throws IOException {
        raw.close();
        raw = RawPeer.connect(peer, peer.listener.localAddress()).send(REQUEST.replace(" 10 02", " 50 02"));
        endpoint = peer.accept(IwarpTestPeer.ATTRIBUTES);
        endpoint.awaitEstablished();
        raw.expect(REPLY.replace(" 10 02", " 50 02"));
        endpoint.receive(1, 0, 16);
        raw.send("000e c140 00000000 0000000000000000 a30572ab");
        raw.send("0012 4143 00000000 00000000 00000001 00000000 587be8c5");
        assertEquals(Hex.digits("0016 4147 00000000 00000002 00000001 00000000 20020000 7fe42585"), Hex.of(raw.receiveAll()));
        assertInstanceOf(ProtocolViolationException.class, endpoint.awaitDisconnect());
        endpoint.expectFlushed(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "00",
        "0016 4143 00000000 00000000 00000001 000000",
        "0016 4143 00000000 00000000 00000001 00000000 aaaa",
        "0016 4143 00000000 00000000 00000001 00000000 aaaaaaaa 000000",
    })
    void shouldTellALossWithinAnFpduFromAnOrderlyEnd(String begun) throws IOException {
        raw.send(begun);
        raw.shutdownOutput();
        assertInstanceOf(EOFException.class, endpoint.awaitDisconnect());
        endpoint.expectFlushed(1);
        assertEquals(1, peer.provider.statistics().lostConnections());
    }

    @Test
    void shouldNotLoseOtherConnections() throws IOException {
        RawPeer offender = raw;
        raw = connect();
        endpoint.receive(2, 0, 16);
        offender.send("0012 4143 00000000 00000000 00000002 00000000" + CRC_OFF).receiveAll();
        offender.close();
        raw.send("0012 4143 00000000 00000000 00000001 00000000" + CRC_OFF);
        endpoint.expectCompletion(2, 0);
    }
}
