package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/** RFC 5042: a peer that lies reaches no memory but what it was given, and harms no other connection. */
class HostilePeerTest extends RawConnectionFixture {

    private static final String WRITE = "0012 c140 00001100 0000000000000000 aaaaaaaa" + CRC_OFF;
    private static final String WRONG_SEND = "0012 4143 00000000 00000000 00000007 00000000" + CRC_OFF;

    /** What is tried | the segment | the Terminate. The tag is valid, on another connection of the same context. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', value = {
        "Write                | 0012 c140 00003300 0000000000000000 aaaaaaaa      | 11 00",
        "Read                 | 002e 4141 00000000 00000001 00000001 00000000 00000077 0000000000000000 00000004 00003300 "
                + "0000000000000000 | 01 00",
        "Send with Invalidate | 0012 4144 00003300 00000000 00000001 00000000     | 02 09",
    })
    void shouldRefuseTheTagOfAnotherConnection(String what, String segment, String layerTypeAndCode) throws IOException {
        connect();
        RawPeer owner = raw;
        Endpoint owned = endpoint;
        steeringTags.add(0x3300);
        owned.queuePair.expose(owned.region, 4096, 64, QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE);
        connect();
        endpoint.receive(1, 0, 16);
        raw.send(segment + CRC_OFF);
        awaitTerminate(layerTypeAndCode);
        endpoint.expectFlushed(1);
        // The owner's connection stands, its tag is valid and its memory as it was.
        owner.send("002e 4141 00000000 00000001 00000001 00000000 00000077 0000000000000000 00000004 00003300 0000000000000000"
                + CRC_OFF);
        owner.expect("0012 c142 00000077 0000000000000000 00000000" + CRC_OFF);
        assertFalse(owned.disconnected);
        owner.close();
    }

    @Test
    void shouldIgnoreWhatFollowsAViolation() throws IOException {
        connect();
        raw.send(WRONG_SEND + WRITE + WRONG_SEND);
        awaitTerminate("12 03");
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
        assertEquals(1, peer.provider.statistics().violations());
    }

    /** The input that comes while the socket is being closed is thrown away. */
    @Test
    void shouldSendOneTerminateAndNothingBehindIt() throws IOException {
        connect();
        endpoint.send(1, 0, 4);
        raw.send(WRONG_SEND);
        peer.pump("the violation", () -> endpoint.disconnected);
        raw.send(WRONG_SEND + WRITE);
        endpoint.queuePair.flush();
        peer.settle();
        String all = Hex.of(raw.receiveAll());
        assertEquals(Hex.digits("002a 4147 00000000 00000002 00000001 00000000 1203c000"
                + "0012 4143 00000000 00000000 00000007 00000000" + CRC_OFF), all);
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
    }

    /** The Send was posted before, and waits for the flush. */
    @Test
    void shouldNotSendBehindATerminateWhatWasPosted() throws IOException {
        connect();
        raw.send(EMPTY_WRITE); // from now on this side may send
        peer.settle();
        endpoint.queuePair.postSend(endpoint.request.send(endpoint.id(1)).addElement(endpoint.region, 0, 4));
        raw.send(WRONG_SEND);
        assertEquals(Hex.digits("002a 4147 00000000 00000002 00000001 00000000 1203c000"
                + "0012 4143 00000000 00000000 00000007 00000000" + CRC_OFF), Hex.of(raw.receiveAll()));
        endpoint.expectFlushed(1);
    }

    @Test
    void shouldNotAnswerATerminate() throws IOException {
        connect();
        raw.send("0016 4147 00000000 00000002 00000001 00000000 01010000" + CRC_OFF + WRONG_SEND + WRITE);
        raw.expectEnd();
        assertInstanceOf(PeerTerminatedException.class, endpoint.awaitDisconnect());
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
        assertEquals(1, peer.provider.statistics().terminatesReceived());
    }

    @Test
    void shouldNotTouchMemoryOfAConnectionThatThisSideEnded() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        peer.settle();
        endpoint.queuePair.moveToError();
        raw.send(WRITE + WRITE);
        peer.settle();
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
    }

    /** The bytes are in the socket when the tag is withdrawn. */
    @Test
    void shouldNotTouchMemoryOfATagThatWasWithdrawnBeforeItsWriteIsRead() throws IOException {
        connect();
        raw.send(WRITE);
        assertTrue(endpoint.queuePair.invalidate(1, 0x1100));
        awaitTerminate("11 00");
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
    }

    /** A peer has one guess per connection, at 32 random bits that are looked up on this connection only. */
    @Test
    void shouldEndTheConnectionAtTheFirstWrongGuess() throws IOException {
        connect();
        raw.send("0012 c140 00001101 0000000000000000 aaaaaaaa" + CRC_OFF + WRITE);
        awaitTerminate("11 00");
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
    }

    /** Answers that the peer does not take stay where the data is; they occupy a bounded number of queue entries. */
    @Test
    void shouldServeOthersWhileAPeerTakesNoAnswers() throws IOException {
        peer.memoryBytes = 8 << 20;
        connect();
        RawPeer greedy = raw;
        Endpoint stuck = endpoint;
        steeringTags.add(0x3300);
        stuck.queuePair.expose(stuck.region, 0, 8 << 20, QueuePair.ACCESS_REMOTE_READ);
        StringBuilder requests = new StringBuilder();
        for (int i = 1; i <= 4; i++) {
            requests.append(readRequest(i, 8 << 20, "00003300")).append(CRC_OFF);
        }
        greedy.send(requests.toString());
        peer.settle();
        assertFalse(stuck.queuePair.invalidate(stuck.id(1), 0x3300));

        peer.memoryBytes = 4096;
        connect();
        endpoint.receive(2, 0, 16);
        raw.send("0012 4143 00000000 00000000 00000001 00000000" + CRC_OFF);
        endpoint.expectCompletion(2, 0);

        // Its memory is its owner's again as soon as the connection ends, taken or not.
        stuck.queuePair.moveToError();
        stuck.expectFlushed(1);
        greedy.close();
    }

    /** A peer that has read more often than an int counts, while nothing else was to be sent. */
    @Test
    void shouldLetAMessageGoAfterAnyNumberOfAnswers() throws Exception {
        connect();
        Field stream = IwarpQueuePair.class.getDeclaredField("stream");
        Field outbound = DuplexStream.class.getDeclaredField("outbound");
        Field answersInARow = OutboundStream.class.getDeclaredField("answersInARow");
        for (Field field : List.of(stream, outbound, answersInARow)) {
            field.setAccessible(true);
        }
        answersInARow.setInt(outbound.get(stream.get(endpoint.queuePair)), Integer.MAX_VALUE);
        String answer = "0012 c142 00000077 0000000012345678 00000000" + CRC_OFF;
        raw.send(readRequest(1, 4, "00002200") + CRC_OFF).expect(answer);
        StringBuilder requests = new StringBuilder();
        for (int i = 2; i <= 5; i++) {
            requests.append(readRequest(i, 4, "00002200")).append(CRC_OFF);
        }
        raw.send(requests.toString());
        endpoint.queuePair.postSend(endpoint.request.send(endpoint.id(1)).addElement(endpoint.region, 0, 4));
        raw.expect("0016 4143 00000000 00000000 00000001 00000000 00000000" + CRC_OFF);
        raw.expect(answer + answer + answer + answer);
    }

    /** The system keeps nothing for a peer that takes nothing: half a megabyte each, for minutes. */
    @Test
    void shouldDropInTimeWhatAPeerDoesNotTake() throws IOException {
        long[] now = {0};
        connectAndAskFor(8 << 20, () -> now[0]);
        peer.settle();
        endpoint.queuePair.moveToError();
        passCloseTimeout(now);
        assertReset();
    }

    @Test
    void shouldDropAtOnceWhatAPeerDoesNotTakeThatBreaksARule() throws IOException {
        connectAndAskFor(8 << 20, () -> 0);
        peer.settle();
        raw.send(WRONG_SEND);
        peer.pump("the violation", () -> endpoint.disconnected);
        peer.settle();
        assertReset();
    }

    @Test
    void shouldDropAtOnceWhatAPeerDoesNotTakeThatEndsItsOutput() throws IOException {
        connectAndAskFor(8 << 20, () -> 0);
        peer.settle();
        raw.shutdownOutput();
        peer.pump("the end", () -> endpoint.disconnected);
        peer.settle();
        assertReset();
    }

    /** TCP has taken it all, and the peer less than that. */
    @Test
    void shouldDropInTimeWhatIsBehindTheEndOfThePeersOutput() throws IOException {
        long[] now = {0};
        connectAndAskFor(250_000, () -> now[0]);
        raw.shutdownOutput();
        peer.pump("the end", () -> endpoint.disconnected);
        passCloseTimeout(now);
        assertReset();
    }

    @Test
    void shouldDeliverWhatIsBehindTheEndOfThePeersOutput() throws IOException {
        connectAndAskFor(250_000, () -> 0);
        raw.shutdownOutput();
        peer.pump("the end", () -> endpoint.disconnected);
        peer.settle();
        assertEquals(250_000 + 4 * (16 + 4), raw.receiveAll().length); // four segments
    }

    /** The peer has room for 64 KiB and reads nothing. */
    private void connectAndAskFor(int bytes, LongSupplier clock) throws IOException {
        peer.close();
        peer = new IwarpTestPeer(clock, steeringTags::remove);
        peer.memoryBytes = 8 << 20;
        peer.listen();
        connect();
        steeringTags.add(0x3300);
        endpoint.queuePair.expose(endpoint.region, 0, 8 << 20, QueuePair.ACCESS_REMOTE_READ);
        raw.send(readRequest(1, bytes, "00003300") + CRC_OFF);
    }

    private void passCloseTimeout(long[] now) throws IOException {
        peer.settle();
        now[0] = TimeUnit.MILLISECONDS.toNanos(IwarpTestPeer.ATTRIBUTES.closeTimeoutMillis());
        peer.settle();
    }

    private void assertReset() {
        assertThrows(UncheckedIOException.class, raw::receiveAll);
    }

    /** A Send that finds no receive is left in TCP's hands, and takes the rest of its stream with it. */
    @Test
    void shouldTakeNoMoreFromAPeerThanThereAreReceives() throws IOException {
        connect();
        endpoint.receive(1, 0, 16);
        String send = "0016 4143 00000000 00000000 %08x 00000000 01020304" + CRC_OFF;
        raw.send(String.format(send, 1) + String.format(send, 2) + WRITE);
        endpoint.expectCompletion(1, 4);
        peer.settle();
        assertTrue(endpoint.completions.isEmpty());
        assertEquals("00000000", Hex.of(endpoint.bytes(WRITABLE, 4)));
        endpoint.receive(2, 16, 16);
        endpoint.expectCompletion(2, 4);
        peer.pump("the Write", () -> Hex.of(endpoint.bytes(WRITABLE, 4)).equals("aaaaaaaa"));
    }

    /** The Send that finds no receive is there, so that nothing is read; that the connection is lost shows in writing only. */
    @Test
    void shouldEndALostConnectionThatWaitsForAReceive() throws IOException {
        connect();
        raw.send(EMPTY_WRITE + "0016 4143 00000000 00000000 00000001 00000000 01020304" + CRC_OFF);
        peer.pump("the Send", () -> peer.provider.statistics().receiveWaits() == 1);
        raw.reset();
        endpoint.send(1, 0, 4);
        assertNotNull(endpoint.awaitDisconnect());
    }

    /** The same, but the writing fails before the Send is read for which there is no receive. */
    @Test
    void shouldEndALostConnectionThatComesToWaitForAReceive() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        peer.settle();
        raw.send("0016 4143 00000000 00000000 00000001 00000000 01020304" + CRC_OFF);
        raw.reset();
        endpoint.send(1, 0, 4);
        assertNotNull(endpoint.awaitDisconnect());
    }

    @Test
    void shouldHoldALimitedNumberOfPeersThatSendNoRequest() throws IOException {
        long[] now = {0};
        peer.close();
        peer = new IwarpTestPeer(() -> now[0], steeringTags::remove);
        peer.memoryBytes = 4096;
        peer.listen();
        List<RawPeer> silent = new ArrayList<>();
        try {
            for (int i = 0; i < peer.maxPendingRequests; i++) {
                silent.add(RawPeer.connect(peer, peer.listener.localAddress()));
                peer.poll();
            }
            peer.settle();
            raw = RawPeer.connect(peer, peer.listener.localAddress()).send(REQUEST_KEY + "10 02 0004 0004 0004");
            peer.awaitRequest();
            assertEquals(1, peer.provider.statistics().displacedRequests());
            silent.remove(0).expectEnd();
            now[0] = 5_000_000_000L;
            peer.settle();
            assertEquals(peer.maxPendingRequests - 1, peer.provider.statistics().lateRequests());
        } finally {
            for (RawPeer one : silent) {
                one.close();
            }
        }
    }
}
