package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** One queue of receives for several connections, whose peers are played byte by byte. Buffers have 64 bytes. */
class SharedReceivesTest {

    private static final String REQUEST = "4d504120494420526571204672616d65 10 02 0004 0010 0004";
    private static final String REPLY = "4d504120494420526570204672616d65 10 02 0004 0004 0010";
    private static final int BUFFER_BYTES = 64;
    private static final int DEPTH = 32;
    private static final int SLOW_PEERS = 500;

    private final List<RawPeer> raws = new ArrayList<>();
    private final List<Endpoint> accepted = new ArrayList<>();
    private long nanos;
    private IwarpTestPeer peer;
    private SharedReceiveQueue queue;
    private MemoryRegion region;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer(() -> nanos, new SteeringTagGenerator());
        peer.memoryBytes = 1;
        peer.listen();
        queue = peer.server.createSharedReceiveQueue(DEPTH);
        region = peer.provider.registerMemory(ByteBuffer.allocateDirect(DEPTH * BUFFER_BYTES));
    }

    @AfterEach
    void tearDown() throws IOException {
        peer.close();
        for (RawPeer raw : raws) {
            raw.close();
        }
    }

    private void connect(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            RawPeer raw = RawPeer.connect(peer, peer.listener.localAddress()).send(REQUEST);
            Endpoint endpoint = peer.accept(
                    new QueuePairAttributes(8, 1, 16, 16, false, 1, queue, peer.endpoints.size()));
            endpoint.awaitEstablished();
            raw.expect(REPLY);
            raws.add(raw);
            accepted.add(endpoint);
        }
    }

    private void post(int firstId, int count) throws IOException {
        for (int i = 0; i < count; i++) {
            queue.postReceive(firstId + i, region, (firstId + i) % DEPTH * BUFFER_BYTES, BUFFER_BYTES);
        }
    }

    /** The next completion, whose buffer is posted again. */
    private Completion repost(Endpoint endpoint) throws IOException {
        Completion completion = endpoint.awaitCompletion();
        post((int) completion.id(), 1);
        return completion;
    }

    /** A Send of so many bytes, a multiple of 4, in one segment. */
    private static byte[] message(int number, int bytes) {
        return segment("4143", number, 0, bytes);
    }

    private static byte[] segment(String control, int number, int offset, int bytes) {
        return Hex.bytes(String.format("%04x %s 00000000 00000000 %08x %08x", 18 + bytes, control, number, offset)
                + String.format("%02x", number & 0xff).repeat(bytes) + "00000000");
    }

    private static byte[] start(byte[] message, int bytes) {
        return Arrays.copyOf(message, bytes);
    }

    private static byte[] rest(byte[] message, int from) {
        return Arrays.copyOfRange(message, from, message.length);
    }

    private static Completion success(long id, int bytes) {
        return new Completion(id, WorkCompletionStatus.SUCCESS, bytes, false, 0);
    }

    @Test
    void shouldUseTheBufferThatWasPostedLast() throws IOException {
        connect(2);
        post(1, 3);
        raws.get(0).send(message(1, 8));
        assertEquals(success(3, 8), accepted.get(0).awaitCompletion());
        raws.get(1).send(message(1, 4));
        assertEquals(success(2, 4), accepted.get(1).awaitCompletion());
        byte[] received = new byte[4];
        region.memory().get(2 * BUFFER_BYTES, received);
        assertEquals("01010101", Hex.of(received));
    }

    @Test
    void shouldLetOneConnectionHaveAllBuffersWhileTheOthersAreIdle() throws IOException {
        connect(8);
        post(0, 16);
        for (int i = 1; i <= 16; i++) {
            raws.get(3).send(message(i, 4));
        }
        for (int i = 15; i >= 0; i--) {
            assertEquals(success(i, 4), accepted.get(3).awaitCompletion());
        }
    }

    @Test
    void shouldServeThoseThatWaitInTurn() throws IOException {
        connect(3);
        for (int number = 1; number <= 2; number++) {
            for (RawPeer raw : raws) {
                raw.send(message(number, 4));
                peer.settle();
            }
        }
        for (int id = 0; id < 6; id++) {
            assertTrue(accepted.stream().allMatch(endpoint -> endpoint.completions.isEmpty()));
            post(id, 1);
            peer.settle();
            assertEquals(success(id, 4), accepted.get(id % 3).completions.remove());
        }
    }

    @Test
    void shouldServeSeveralThatWaitForBuffersThatArePostedTogether() throws IOException {
        connect(4);
        for (RawPeer raw : raws) {
            raw.send(message(1, 4)).send(message(2, 4));
        }
        peer.settle();
        post(0, 8);
        for (Endpoint endpoint : accepted) {
            assertEquals(4, endpoint.awaitCompletion().byteLength());
            assertEquals(4, endpoint.awaitCompletion().byteLength());
        }
    }

    @Test
    void shouldReadNothingFromAConnectionThatMayTakeNoMore() throws IOException {
        connect(2);
        post(0, 8);
        accepted.get(0).queuePair.allowReceives(2);
        for (int i = 1; i <= 4; i++) {
            raws.get(0).send(message(i, 4));
        }
        raws.get(1).send(message(1, 4));
        peer.settle();
        assertEquals(2, accepted.get(0).completions.size());
        assertEquals(1, accepted.get(1).completions.size(), "the other one is not held up");
        accepted.get(0).queuePair.allowReceives(3);
        peer.settle();
        assertEquals(3, accepted.get(0).completions.size());
        accepted.get(0).queuePair.allowReceives(2);
        peer.settle();
        assertEquals(3, accepted.get(0).completions.size());
        accepted.get(0).queuePair.allowReceives(4);
        peer.settle();
        assertEquals(4, accepted.get(0).completions.size());
    }

    @Test
    void shouldReturnTheBufferOfAnUnfinishedMessageWhenTheConnectionEnds() throws IOException {
        connect(2);
        post(0, 1);
        raws.get(0).send(start(message(1, 16), 30));
        peer.settle();
        raws.get(1).send(message(1, 4));
        peer.settle();
        assertEquals(0, accepted.get(1).completions.size());
        raws.get(0).reset();
        accepted.get(0).awaitDisconnect();
        assertEquals(WorkCompletionStatus.WORK_REQUEST_FLUSHED, accepted.get(0).awaitCompletion().status());
        assertEquals(0, accepted.get(0).completions.size());
        post(7, 1);
        assertEquals(success(7, 4), accepted.get(1).awaitCompletion());
        assertNull(accepted.get(1).disconnectCause);
    }

    @Test
    void shouldTerminateOnlyTheConnectionWhoseMessageIsTooLong() throws IOException {
        connect(2);
        post(0, 4);
        raws.get(0).send(message(1, BUFFER_BYTES + 4));
        assertEquals(WorkCompletionStatus.LOCAL_LENGTH_ERROR, accepted.get(0).awaitCompletion().status());
        assertTrue(Hex.of(raws.get(0).receiveAll()).contains(Hex.digits("4147 00000000 00000002 00000001 00000000 12 05")));
        assertInstanceOf(ProtocolViolationException.class, accepted.get(0).awaitDisconnect());
        for (int i = 0; i < 3; i++) {
            raws.get(1).send(message(i + 1, BUFFER_BYTES));
            assertEquals(success(2 - i, BUFFER_BYTES), accepted.get(1).awaitCompletion());
        }
    }

    @Test
    void shouldGoOnServingOthersWhileManyPeersEndNoMessage() throws IOException {
        connect(SLOW_PEERS + 1);
        post(0, DEPTH);
        for (int i = 0; i < SLOW_PEERS; i++) {
            raws.get(i).send(start(message(1, 60), 40));
            peer.poll();
        }
        peer.settle();
        RawPeer good = raws.get(SLOW_PEERS);
        for (int number = 1; number <= 100; number++) {
            good.send(message(number, 60));
            Completion completion = accepted.get(SLOW_PEERS).awaitCompletion();
            assertEquals(WorkCompletionStatus.SUCCESS, completion.status());
            post((int) completion.id(), 1);
        }
        good.sendBytewise(message(101, 60)); // a peer behind a slow network has its turn, too
        assertEquals(60, accepted.get(SLOW_PEERS).awaitCompletion().byteLength());
        assertTrue(accepted.stream().noneMatch(endpoint -> endpoint.disconnected));

        raws.get(SLOW_PEERS - 1).send(rest(message(1, 60), 40)); // one of those that are staged
        assertEquals(60, accepted.get(SLOW_PEERS - 1).awaitCompletion().byteLength());
    }

    /** As many peers as may have begun a message that could be long, and one more, the last, that waits with its message. */
    private Endpoint useUpTheShare() throws IOException {
        connect(DEPTH / 2 + 1);
        post(0, DEPTH);
        for (int i = 0; i < DEPTH / 2; i++) {
            raws.get(i).send(segment("0143", 1, 0, 4)); // more segments could follow, so that it cannot be staged
            peer.settle();
        }
        raws.get(DEPTH / 2).send(message(1, 4)).send(segment("0143", 2, 0, 8));
        Endpoint last = accepted.get(DEPTH / 2);
        assertEquals(4, repost(last).byteLength(), "what is whole goes through");
        raws.get(DEPTH / 2).send(segment("4143", 2, 8, 4));
        peer.settle();
        assertTrue(last.completions.isEmpty());
        return last;
    }

    @Test
    void shouldEndTheConnectionThatIsSlowestWhenAnotherNeedsItsShare() throws IOException {
        Endpoint last = useUpTheShare();
        nanos += TimeUnit.MILLISECONDS.toNanos(SharedReceiveStack.INCOMPLETE_LIMIT_MILLIS) - 1;
        peer.settle();
        assertTrue(accepted.stream().noneMatch(endpoint -> endpoint.disconnected));
        nanos++;
        assertInstanceOf(SocketTimeoutException.class, accepted.get(0).awaitDisconnect());
        assertEquals(WorkCompletionStatus.WORK_REQUEST_FLUSHED, repost(accepted.get(0)).status());
        assertEquals(12, repost(last).byteLength());
        nanos += TimeUnit.MINUTES.toNanos(5);
        peer.settle();
        assertEquals(1, accepted.stream().filter(endpoint -> endpoint.disconnected).count(), "nobody needs more");
    }

    @Test
    void shouldNeedReceivesForWhatMessagesHoldAndTheReserve() throws IOException {
        connect(2);
        assertEquals(4, queue.neededReceives(20, 4));
        post(0, 4);
        for (RawPeer raw : raws) {
            raw.send(start(message(1, 60), 40));
        }
        peer.settle();
        assertEquals(6, queue.neededReceives(20, 4));
        assertEquals(5, queue.neededReceives(5, 4));
        raws.get(0).send(rest(message(1, 60), 40));
        assertEquals(60, accepted.get(0).awaitCompletion().byteLength());
        assertEquals(5, queue.neededReceives(20, 4));
    }

    @Test
    void shouldLetUnfinishedMessagesHaveHalfOfAllThoughFewReceivesArePosted() throws IOException {
        connect(9);
        int posted = 0;
        for (int i = 0; i < 8; i++) {
            int missing = queue.neededReceives(16, 2) - posted;
            post(posted, missing);
            posted += missing;
            raws.get(i).send(segment("0143", 1, 0, 4)); // more segments could follow, so that it cannot be staged
            peer.settle();
        }
        post(posted, queue.neededReceives(16, 2) - posted);
        raws.get(8).send(message(1, 4)).send(segment("0143", 2, 0, 8));
        assertEquals(4, repost(accepted.get(8)).byteLength());
        assertEquals(10, queue.neededReceives(16, 2), "the ninth waits for its share");
        raws.get(2).send(segment("4143", 1, 4, 4));
        assertEquals(8, repost(accepted.get(2)).byteLength());
        peer.settle();
        assertEquals(10, queue.neededReceives(16, 2), "it has got it");
        assertTrue(accepted.stream().noneMatch(endpoint -> endpoint.disconnected));
    }

    @Test
    void shouldLeaveHalfOfWhatIsPostedToWholeMessagesWhereNoMoreCanBeHad() throws IOException {
        connect(5);
        assertEquals(8, queue.neededReceives(16, 8));
        post(0, 4);
        for (int i = 0; i < 4; i++) {
            raws.get(i).send(segment("0143", 1, 0, 4));
            peer.settle();
        }
        for (int number = 1; number <= 3; number++) {
            raws.get(4).send(message(number, 4));
            assertEquals(4, repost(accepted.get(4)).byteLength());
        }
        assertEquals(2 + 8, queue.neededReceives(16, 8), "two of the four have a buffer");
    }

    @Test
    void shouldGiveAShareThatIsFreeToWhoeverWaitsForIt() throws IOException {
        Endpoint last = useUpTheShare();
        raws.get(3).send(segment("4143", 1, 4, 4)).send(segment("0143", 2, 0, 4)); // ends, and another one begins
        assertEquals(8, repost(accepted.get(3)).byteLength());
        assertEquals(12, repost(last).byteLength());
        raws.get(3).send(segment("4143", 2, 4, 12));
        assertEquals(16, accepted.get(3).awaitCompletion().byteLength());
        nanos += TimeUnit.MINUTES.toNanos(5);
        peer.settle();
        assertTrue(accepted.stream().noneMatch(endpoint -> endpoint.disconnected));
    }

    @Test
    void shouldRefuseMoreReceivesThanTheDepthAndCloseWhileInUse() throws IOException {
        connect(1);
        post(0, DEPTH);
        assertThrows(IOException.class, () -> post(DEPTH, 1));
        assertThrows(IllegalStateException.class, queue::close);
        assertThrows(IllegalStateException.class, () -> accepted.get(0).queuePair.postReceive(1, region, 0, 1));
        accepted.get(0).queuePair.close();
        accepted.get(0).queuePair.close();
        queue.close();
        assertThrows(IllegalStateException.class, () -> post(0, 1));
        assertThrows(IllegalArgumentException.class, () -> peer.server.createSharedReceiveQueue(0));
    }
}
