package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.EOFException;
import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;

/** Rules of DDP and RDMAP about numbers, order, segments and empty messages. */
class WireRulesTest extends RawConnectionFixture {

    private static String send(int number, int offset, boolean last, String payload) {
        return fpdu(String.format("%s143 00000000 00000000 %08x %08x", last ? "4" : "0", number, offset) + payload);
    }

    /** Length in front, pad and CRC field behind. */
    private static String fpdu(String ulpdu) {
        int length = Hex.bytes(ulpdu).length;
        return String.format("%04x", length) + ulpdu + "00".repeat(-(2 + length) & 3) + CRC_OFF;
    }

    // --- Control fields

    @Test
    void shouldIgnoreReservedBits() throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        raw.send("0014 7d73 ffffffff 00000000 00000001 00000000 0102 0000 00000000");
        endpoint.expectCompletion(1, 2);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "4043 | 12 06", "4243 | 12 06", "4343 | 12 06",
        "c040 | 11 04", "c240 | 11 04", "c340 | 11 04",
        "4103 | 02 05", "4183 | 02 05", "41c3 | 02 05", "c100 | 02 05",
    })
    void shouldRefuseOtherVersions(String control, String layerTypeAndCode) throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        String header = control.startsWith("c") ? "00001100 0000000000000000" : "00000000 00000000 00000001 00000000";
        raw.send(fpdu(control + header));
        awaitTerminate(layerTypeAndCode);
    }

    @ParameterizedTest
    @ValueSource(strings = {"4148", "4149", "414a", "414b", "414c", "414d", "414e", "414f", "c148", "c14f", "c141", "c147"})
    void shouldRefuseOtherOpcodes(String control) throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        String header = control.startsWith("c") ? "00001100 0000000000000000" : "00000000 00000000 00000001 00000000";
        raw.send(fpdu(control + header));
        awaitTerminate("02 06");
    }

    // --- Message sequence numbers and message offsets

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, -1, 0})
    void shouldRefuseASendOutOfSequence(int third) throws IOException {
        connect();
        endpoint.receive(1, 0, 16).receive(2, 0, 16).receive(3, 0, 16);
        raw.send(send(1, 0, true, "") + send(2, 0, true, "") + send(third, 0, true, ""));
        awaitTerminate("12 03");
        endpoint.expectCompletion(1, 0);
        endpoint.expectCompletion(2, 0);
        endpoint.expectFlushed(3);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, -2, 0x10002})
    void shouldRefuseASegmentThatDoesNotContinueItsMessage(int offset) throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        raw.send(send(1, 0, false, "0102") + send(1, offset, true, "03"));
        awaitTerminate("12 04");
        endpoint.expectFlushed(1);
    }

    @Test
    void shouldCountSendsAndReadsApart() throws IOException {
        connect();
        endpoint.receive(1, 0, 16).receive(2, 0, 16);
        raw.send(send(1, 0, true, "") + readRequest(1, 1, "00002200") + CRC_OFF + send(2, 0, true, "")
                + readRequest(2, 1, "00002200") + CRC_OFF);
        endpoint.expectCompletion(1, 0);
        endpoint.expectCompletion(2, 0);
        raw.expect(fpdu("c142 00000077 0000000012345678 00").repeat(2));
    }

    @Test
    void shouldRefuseAReadOutOfSequence() throws IOException {
        connect();
        raw.send(readRequest(1, 1, "00002200") + CRC_OFF + readRequest(3, 1, "00002200") + CRC_OFF);
        awaitTerminate("12 03");
    }

    @Test
    void shouldNumberItsOwnMessagesFromOne() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        steeringTags.add(0x4400);
        endpoint.send(1, 0, 0).send(2, 0, 0);
        endpoint.read(3, 0, 1, 0x99, 5);
        raw.expect(send(1, 0, true, "") + send(2, 0, true, "")
                + fpdu("4141 00000000 00000001 00000001 00000000 00004400 0000000000000000 00000001 00000099 0000000000000005"));
    }

    // --- Segments

    /** 65472 bytes are the most that a segment of this side carries before the last. */
    @Test
    void shouldCutALongSendIntoSegments() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        byte[] data = new byte[65472 + 3];
        new Random(1).nextBytes(data);
        endpoint.fill(0, data);
        endpoint.send(1, 0, data.length);
        String digits = Hex.of(data);
        raw.expect(send(1, 0, false, digits.substring(0, 2 * 65472)) + send(1, 65472, true, digits.substring(2 * 65472)));
    }

    @Test
    void shouldCutALongReadResponseIntoSegments() throws IOException {
        connect();
        byte[] data = new byte[65472 + 1];
        new Random(2).nextBytes(data);
        endpoint.fill(4096, data);
        steeringTags.add(0x3300);
        endpoint.queuePair.expose(endpoint.region, 4096, data.length, QueuePair.ACCESS_REMOTE_READ);
        raw.send(readRequest(1, data.length, "00003300") + CRC_OFF);
        String digits = Hex.of(data);
        raw.expect(fpdu("8142 00000077 0000000012345678" + digits.substring(0, 2 * 65472))
                + fpdu("c142 00000077 0000000012355638" + digits.substring(2 * 65472)));
    }

    @ParameterizedTest
    @ValueSource(ints = {65535 - 14, 65534 - 14, 65533 - 14, 65532 - 14})
    void shouldTakeTheLongestSegments(int length) throws IOException {
        connect();
        steeringTags.add(0x3300);
        endpoint.queuePair.expose(endpoint.region, 4096, length, QueuePair.ACCESS_REMOTE_WRITE);
        byte[] data = new byte[length];
        new Random(3).nextBytes(data);
        endpoint.receive(1, 0, 0);
        raw.send(fpdu("c140 00003300 0000000000000000" + Hex.of(data)) + send(1, 0, true, ""));
        endpoint.expectCompletion(1, 0);
        assertArrayEquals(data, endpoint.bytes(4096, length));
    }

    // --- Empty messages

    /** An empty RDMA Write or Read names a tag and an offset, but touches nothing: neither is looked at. */
    @Test
    void shouldTakeEmptyMessagesThatNameAnyTag() throws IOException {
        connect();
        endpoint.receive(1, 0, 0);
        raw.send(fpdu("c140 deadbeef ffffffffffffffff") + fpdu("c140 00001100 0000000000000100")
                + readRequest(1, 0, "deadbeef", -1) + CRC_OFF + send(1, 0, true, ""));
        raw.expect(fpdu("c142 00000077 0000000012345678"));
        endpoint.expectCompletion(1, 0);
    }

    @Test
    void shouldAskForAnEmptyReadAndTakeItsAnswer() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        steeringTags.add(0x4400);
        endpoint.read(1, 0, 0, 0x99, 7);
        raw.expect(fpdu("4141 00000000 00000001 00000001 00000000 00004400 0000000000000000 00000000 00000099 0000000000000007"));
        raw.send(fpdu("c142 00004400 0000000000000000"));
        endpoint.expectCompletion(1, 0);
    }

    // --- Invalidation

    /** All segments of a Send name the same tag (RFC 5040, section 4.7); where they do not, that of the first counts. */
    @Test
    void shouldWithdrawTheTagOfTheFirstSegment() throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        raw.send(fpdu("0144 00001100 00000000 00000001 00000000 0102") + fpdu("4144 00002200 00000000 00000001 00000002 03")
                + readRequest(1, 1, "00002200") + CRC_OFF);
        raw.expect(fpdu("c142 00000077 0000000012345678 00"));
        assertEquals(new Completion(1, WorkCompletionStatus.SUCCESS, 3, true, 0x1100), endpoint.awaitCompletion());
        raw.send(fpdu("c140 00001100 0000000000000000 aa"));
        awaitTerminate("11 00");
    }

    // --- Order

    /** RFC 5040, section 5.5: a Read sees what was written before it on the same connection. */
    @Test
    void shouldAnswerAReadWithWhatWasWrittenBefore() throws IOException {
        connect();
        steeringTags.add(0x3300);
        endpoint.queuePair.expose(endpoint.region, 4096, 8, QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE);
        raw.send(fpdu("c140 00003300 0000000000000000 0102030405060708") + readRequest(1, 8, "00003300") + CRC_OFF);
        raw.expect(fpdu("c142 00000077 0000000012345678 0102030405060708"));
    }

    // --- Read depth

    @Test
    void shouldRefuseAReadWhereNoneWasAgreedOn() throws IOException {
        connect("10", "0000");
        raw.send(readRequest(1, 1, "00002200") + CRC_OFF);
        awaitTerminate("02 07");
    }

    @Test
    void shouldCountEmptyReadsTowardsTheDepth() throws IOException {
        connect();
        StringBuilder requests = new StringBuilder();
        for (int i = 1; i <= 5; i++) {
            requests.append(readRequest(i, 0, "00000000")).append(CRC_OFF);
        }
        raw.send(requests.toString());
        awaitTerminate("02 07");
    }

    /** One of them is being answered, which does not make room for another before TCP has taken the answer. */
    @Test
    void shouldCountAReadUntilItsAnswerIsSent() throws IOException {
        peer.memoryBytes = 8 << 20;
        connect();
        steeringTags.add(0x3300);
        endpoint.queuePair.expose(endpoint.region, 0, 8 << 20, QueuePair.ACCESS_REMOTE_READ);
        for (int i = 1; i <= 4; i++) {
            raw.send(readRequest(i, 8 << 20, "00003300") + CRC_OFF);
        }
        peer.settle(); // the peer takes nothing
        assertFalse(endpoint.disconnected);
        raw.send(readRequest(5, 0, "00000000") + CRC_OFF);
        ProtocolViolationException cause = assertInstanceOf(ProtocolViolationException.class, endpoint.awaitDisconnect());
        assertEquals(TerminateReason.CATASTROPHIC_FOR_STREAM, cause.reason());
    }

    @Test
    void shouldTakeAnyNumberOfReadsOneAfterTheOther() throws IOException {
        connect();
        for (int i = 1; i <= 50; i++) {
            raw.send(readRequest(i, 1, "00002200") + CRC_OFF).expect(fpdu("c142 00000077 0000000012345678 00"));
        }
    }

    // --- The end of the stream

    @Test
    void shouldAnswerWhatCameBeforeThePeerEndedItsOutput() throws IOException {
        connect();
        raw.send(readRequest(1, 1, "00002200") + CRC_OFF).shutdownOutput();
        assertEquals(Hex.digits(fpdu("c142 00000077 0000000012345678 00")), Hex.of(raw.receiveAll()));
        assertNull(endpoint.awaitDisconnect());
    }

    /** Each segment is whole, but a message is not: that is a loss. */
    @ParameterizedTest
    @ValueSource(strings = {
        "0143 00000000 00000000 00000001 00000000 0102",
        "8140 00001100 0000000000000000 0102",
    })
    void shouldTellALossBetweenSegmentsFromAnOrderlyEnd(String segment) throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        raw.send(fpdu(segment)).shutdownOutput();
        assertInstanceOf(EOFException.class, endpoint.awaitDisconnect());
        endpoint.expectFlushed(1);
        assertEquals(1, peer.provider.statistics().lostConnections());
    }
}
