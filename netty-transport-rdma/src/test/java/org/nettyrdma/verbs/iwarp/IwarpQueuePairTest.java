package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;
import org.nettyrdma.verbs.support.TimerQueue;

/** Two queue pairs of the provider against each other. */
class IwarpQueuePairTest {

    private static final int READ_AND_WRITE = QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE;

    private IwarpTestPeer peer;
    private Endpoint client;
    private Endpoint server;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer();
        peer.memoryBytes = 4 << 20;
    }

    @AfterEach
    void tearDown() {
        peer.close();
    }

    private void establish(QueuePairAttributes attributes) throws IOException {
        client = peer.connect(attributes);
        server = peer.accept(attributes);
        client.awaitEstablished();
        server.awaitEstablished();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 511, 512, 513, 4095, 65471, 65472, 65473, 1_000_001})
    void shouldDeliverASendOfAnySize(int length) throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        byte[] message = random(length);
        client.fill(100, message);
        server.receive(1, 7, length + 5);
        client.send(2, 100, length);
        client.expectCompletion(2, 0);
        server.expectCompletion(1, length);
        assertArrayEquals(message, server.bytes(7, length));
    }

    /** What is read behind a segment ends before, at and behind the end of the message and of the next ones. */
    @ParameterizedTest
    @ValueSource(ints = {1, 228, 442, 466, 467, 468, 469, 470, 486, 512, 65472 + 400, 2 * 65472 + 1})
    void shouldDeliverSendsInARowWhoseLastSegmentHasAnySize(int lastBytes) throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        int length = 65472 + lastBytes;
        int messages = 6;
        byte[] data = random(messages * length);
        client.fill(0, data);
        for (int i = 0; i < messages; i++) {
            server.receive(i, i * length, length);
        }
        for (int i = 0; i < messages; i++) {
            client.send(100 + i, i * length, length);
        }
        for (int i = 0; i < messages; i++) {
            server.expectCompletion(i, length);
        }
        assertArrayEquals(data, server.bytes(0, messages * length));
    }

    /** Who would wait would look at the clock, and come back at once. */
    @Test
    void shouldBePolledForWhatIsHereAlready() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        server.receive(1, 0, 10);
        peer.pump("an end of all work", () -> peer.client.canAwaitUnpolled());
        client.send(2, 0, 10);
        assertFalse(peer.client.canAwaitUnpolled());
        peer.client.await(-1);
        client.expectCompletion(2, 0);
        assertTrue(peer.client.canAwaitUnpolled());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 513, 65473, 3_000_001})
    void shouldWriteAndReadMemoryOfThePeer(int length) throws IOException {
        establish(IwarpTestPeer.CHECKSUM);
        int tag = server.queuePair.expose(server.region, 11, Math.max(1, length), READ_AND_WRITE);
        byte[] data = random(length);
        client.fill(5, data);
        client.write(1, 5, length, tag, server.queuePair.remoteOffset(tag));
        client.expectCompletion(1, 0);
        client.fill(5, new byte[length]);
        client.read(2, 5, length, tag, server.queuePair.remoteOffset(tag));
        client.expectCompletion(2, length);
        assertArrayEquals(data, server.bytes(11, length));
        assertArrayEquals(data, client.bytes(5, length));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 512, 513, 5000, 70_000})
    void shouldGatherAndScatterManyPieces(int pieceLength) throws IOException {
        establish(IwarpTestPeer.CHECKSUM);
        int pieces = FpduBatch.MAX_PIECES;
        int length = pieces * pieceLength;
        int tag = server.queuePair.expose(server.region, 0, length, READ_AND_WRITE);
        byte[] data = random(length);
        client.request.write(client.id(1), tag, 0);
        for (int i = 0; i < pieces; i++) {
            // Backwards, so that no two pieces are neighbours.
            int offset = (pieces - 1 - i) * pieceLength;
            client.region.memory().put(offset, data, i * pieceLength, pieceLength);
            client.request.addElement(client.region, offset, pieceLength);
        }
        client.post(client.request).expectCompletion(1, 0);
        client.fill(0, new byte[length]);
        client.request.read(client.id(2), tag, 0).addElement(client.region, 0, 0);
        for (int i = 1; i < pieces; i++) {
            client.request.addElement(client.region, length - i * pieceLength, pieceLength);
        }
        client.post(client.request).expectCompletion(2, length - pieceLength);
        assertArrayEquals(data, server.bytes(0, length));
        for (int i = 1; i < pieces; i++) {
            assertEquals(data[(i - 1) * pieceLength], client.bytes(length - i * pieceLength, 1)[0]);
        }
        client.request.send(client.id(3));
        for (int i = 0; i <= pieces; i++) {
            client.request.addElement(client.region, 0, 1);
        }
        assertThrows(IOException.class, () -> client.post(client.request));
    }

    @Test
    void shouldPlaceAWriteBeforeTheSendBehindIt() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        int tag = server.queuePair.expose(server.region, 0, 2_000_000, QueuePair.ACCESS_REMOTE_WRITE);
        server.receive(1, 3_000_000, 10);
        client.fill(0, random(2_000_000));
        client.queuePair.postSend(client.request.write(client.id(1), tag, 0).addElement(client.region, 0, 2_000_000));
        client.post(client.request.sendWithInvalidate(client.id(2), tag).setSolicited().addElement(client.region, 0, 10));
        assertEquals(new Completion(1, WorkCompletionStatus.SUCCESS, 10, true, tag), server.awaitCompletion());
        assertArrayEquals(random(2_000_000), server.bytes(0, 2_000_000));
        client.expectCompletion(1, 0);
        client.expectCompletion(2, 0);
        assertThrows(IllegalArgumentException.class, () -> server.queuePair.remoteOffset(tag));
    }

    @Test
    void shouldHoldASenderUntilAReceiveIsPosted() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        server.receive(1, 0, 100);
        for (int i = 1; i <= 3; i++) {
            client.fill(0, new byte[] {(byte) i});
            client.send(i, 0, 1);
            client.expectCompletion(i, 0);
        }
        server.expectCompletion(1, 1);
        peer.settle();
        assertTrue(server.completions.isEmpty());
        assertTrue(peer.provider.statistics().receiveWaits() > 0);
        server.receive(2, 100, 100).receive(3, 200, 100);
        server.expectCompletion(2, 1);
        server.expectCompletion(3, 1);
        assertEquals("0203", Hex.of(server.bytes(100, 1)) + Hex.of(server.bytes(200, 1)));
    }

    @Test
    void shouldKeepCompletionsInOrderAndReadsWithinTheAgreedDepth() throws IOException {
        establish(new QueuePairAttributes(64, 64, 2, 2, false, 2000));
        assertEquals(2, client.parameters.outboundReadDepth());
        int tag = server.queuePair.expose(server.region, 0, 1_000_000, QueuePair.ACCESS_REMOTE_READ);
        server.receive(1, 2_000_000, 10);
        byte[] data = random(1_000_000);
        server.fill(0, data);
        for (int i = 0; i < 10; i++) {
            client.read(i, i * 100_000, 100_000, tag, i * 100_000L);
        }
        client.send(10, 0, 10);
        for (int i = 0; i < 10; i++) {
            client.expectCompletion(i, 100_000);
        }
        client.expectCompletion(10, 0);
        server.expectCompletion(1, 10);
        assertArrayEquals(data, client.bytes(0, 1_000_000));
    }

    @Test
    void shouldCompleteAWithdrawalWhenTheReadOfThePeerIsDone() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        int length = 4 << 20;
        byte[] data = random(length);
        server.fill(0, data);
        int tag = server.queuePair.expose(server.region, 0, length, QueuePair.ACCESS_REMOTE_READ);
        client.read(1, 0, length, tag, 0);
        // Only the server works, until the socket takes no more of its answer.
        for (int idle = 0; idle < 1000; idle++) {
            if (peer.server.poll(peer, 16) > 0) {
                idle = 0;
            }
        }
        assertFalse(server.queuePair.invalidate(server.id(7), tag));
        assertThrows(IllegalArgumentException.class, () -> server.queuePair.remoteOffset(tag));
        server.expectCompletion(7, 0);
        client.expectCompletion(1, length);
        assertArrayEquals(data, client.bytes(0, length));
        assertTrue(server.queuePair.invalidate(server.id(8), tag));
    }

    @Test
    void shouldCompleteAWithdrawalWhenTheConnectionEnds() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        int length = 4 << 20;
        int tag = server.queuePair.expose(server.region, 0, length, QueuePair.ACCESS_REMOTE_READ);
        client.read(1, 0, length, tag, 0);
        for (int idle = 0; idle < 1000; idle++) {
            if (peer.server.poll(peer, 16) > 0) {
                idle = 0;
            }
        }
        assertFalse(server.queuePair.invalidate(server.id(7), tag));
        server.queuePair.moveToError();
        server.expectFlushed(7);
        client.expectFlushed(1);
        assertNotNull(client.awaitDisconnect());
    }

    @Test
    void shouldRefuseAccessToMemoryOfAnotherConnection() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        Endpoint firstServer = server;
        int tag = firstServer.queuePair.expose(firstServer.region, 0, 100, READ_AND_WRITE);
        establish(IwarpTestPeer.ATTRIBUTES);
        client.read(1, 0, 10, tag, 0);
        assertEquals(new Completion(1, WorkCompletionStatus.REMOTE_ACCESS_ERROR, 0, false, 0), client.awaitCompletion());
        assertInstanceOf(PeerTerminatedException.class, client.awaitDisconnect());
        assertInstanceOf(ProtocolViolationException.class, server.awaitDisconnect());
        assertFalse(firstServer.disconnected);
    }

    @Test
    void shouldEndThoughThereIsNoMemoryForWhatIsStillToBeSent() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        peer.takeMemoryOfClient();
        int tag = client.queuePair.expose(client.region, 0, 10, READ_AND_WRITE);
        client.queuePair.postSend(client.request.send(client.id(1)).addElement(client.region, 0, 10));
        assertThrows(OutOfMemoryError.class, () -> client.queuePair.moveToError());
        server.write(2, 0, 10, tag, 0);
        client.expectFlushed(1);
        assertNull(client.awaitDisconnect());
        server.awaitDisconnect();
        assertArrayEquals(new byte[10], client.bytes(0, 10), "nobody reaches memory that is given back");
    }

    @Test
    void shouldEndThoughThereIsNoMemoryToSayWhatWasWrong() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        peer.takeMemoryOfClient();
        server.write(1, 0, 10, 0x12345678, 0);
        assertInstanceOf(ProtocolViolationException.class, client.awaitDisconnect());
        server.awaitDisconnect();
    }

    @Test
    void shouldEndAllConnectionsOfAContextThoughThereIsNoMemoryForOne() throws IOException {
        List<Endpoint> clients = new ArrayList<>();
        List<Endpoint> servers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            establish(IwarpTestPeer.ATTRIBUTES);
            clients.add(client);
            servers.add(server);
        }
        peer.takeMemoryOfClient();
        for (Endpoint each : clients) {
            each.queuePair.postSend(each.request.send(each.id(1)).addElement(each.region, 0, 10));
        }
        OutOfMemoryError thrown = assertThrows(OutOfMemoryError.class, () -> peer.client.close());
        assertEquals(clients.size() - 1, thrown.getSuppressed().length, "each was closed");
        long startNanos = System.nanoTime();
        while (!servers.stream().allMatch(each -> each.disconnected)) {
            peer.server.poll(peer, 16);
            assertTrue(System.nanoTime() - startNanos < 10_000_000_000L, "a peer is not told");
        }
        peer.server.close();
        assertFalse(new SocketDrain(new TimerQueue(System::nanoTime), null, null).dropElsewhere(1),
                "nobody is asked to close sockets who is not there any more");
    }

    @Test
    void shouldFlushEverythingWhenMovedToError() throws IOException {
        establish(new QueuePairAttributes(8, 8, 0, 1, false, 2000));
        client.receive(1, 0, 10).receive(2, 0, 10);
        client.queuePair.postSend(client.request.send(client.id(3)).addElement(client.region, 0, 10));
        client.queuePair.moveToError();
        client.queuePair.moveToError();
        client.send(4, 0, 10).receive(5, 0, 10);
        // Posted before the end, so TCP has taken it, though no receive waits for it.
        client.expectCompletion(3, 0);
        client.expectFlushed(1);
        client.expectFlushed(2);
        client.expectFlushed(4);
        client.expectFlushed(5);
        assertNull(client.awaitDisconnect());
        assertThrows(IOException.class, () -> client.queuePair.expose(client.region, 0, 1, 1));
        assertTrue(client.queuePair.invalidate(1, 1234));
        client.queuePair.close();
        assertThrows(IllegalStateException.class, () -> client.send(6, 0, 10));
    }

    @Test
    void shouldRefuseMoreThanTheQueuesHold() throws IOException {
        establish(new QueuePairAttributes(3, 5, 1, 1, false, 2000));
        for (int i = 0; i < 3; i++) {
            client.queuePair.postSend(client.request.send(client.id(i)));
        }
        assertThrows(IOException.class, () -> client.queuePair.postSend(client.request.send(client.id(9))));
        for (int i = 0; i < 5; i++) {
            server.receive(i, 0, 0);
        }
        assertThrows(IOException.class, () -> server.receive(9, 0, 0));
        client.queuePair.flush();
        for (int i = 0; i < 3; i++) {
            client.expectCompletion(i, 0);
            server.expectCompletion(i, 0);
        }
    }

    @Test
    void shouldEndInOrderWhenOneSideCloses() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        server.receive(1, 0, 10).receive(2, 0, 10);
        client.send(3, 0, 10);
        client.queuePair.moveToError();
        server.expectCompletion(1, 10);
        assertNull(server.awaitDisconnect());
        server.expectFlushed(2);
        assertNull(client.awaitDisconnect());
    }

    /** Unread input must not make TCP reset the connection and take what was sent with it. */
    @Test
    void shouldDeliverEverythingThatWasSentBeforeAClose() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        int length = 200_000; // what TCP takes though nobody reads
        client.fill(0, random(length));
        server.send(1, 0, 100_000).send(2, 0, 100_000); // no receive is posted for these
        client.send(3, 0, length);
        client.expectCompletion(3, 0);
        client.queuePair.close();
        server.receive(4, 2_000_000, length);
        Completion completion = server.awaitCompletion();
        while (completion.id() != 4) {
            completion = server.awaitCompletion();
        }
        assertEquals(length, completion.byteLength());
        assertArrayEquals(random(length), server.bytes(2_000_000, length));
    }

    @Test
    void shouldCloseEverythingWithTheContext() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        peer.server.close();
        client.receive(1, 0, 10);
        peer.pump("the end", () -> {
            try {
                peer.client.poll(peer, 16);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            return client.disconnected;
        });
        client.expectFlushed(1);
    }

    /** Both sides send, write and read whatever comes, and every byte is compared. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepThousandsOfMixedOperationsApart(boolean checksum) throws IOException {
        establish(checksum ? IwarpTestPeer.CHECKSUM : IwarpTestPeer.ATTRIBUTES);
        Traffic up = new Traffic(client, server, 1);
        Traffic down = new Traffic(server, client, 2);
        peer.pump("all operations", () -> {
            try {
                return up.step() & down.step();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /**
     * Operations of one side. A Send says what to expect; what it carries lies in a slot of the sender's memory whose
     * content follows from the sequence number.
     */
    private static final class Traffic {

        private static final int OPERATIONS = 3000;
        private static final int SLOTS = 16;
        private static final int SLOT_BYTES = 100_000;
        private static final int RECEIVE_BASE = SLOTS * SLOT_BYTES;
        private static final int READ_BASE = 2 * RECEIVE_BASE;
        private static final int SINK_TAG_ID = 1 << 20;

        private final Endpoint from;
        private final Endpoint to;
        private final Random random;
        private final byte[][] contents = new byte[OPERATIONS][];
        private final int tag;
        private int posted;
        private int sent;
        private int arrived;
        private final ArrayDeque<Integer> sends = new ArrayDeque<>();

        Traffic(Endpoint from, Endpoint to, int seed) throws IOException {
            this.from = from;
            this.to = to;
            random = new Random(seed);
            tag = to.queuePair.expose(to.region, READ_BASE, 5 * SLOT_BYTES, READ_AND_WRITE);
            for (int i = 0; i < SLOTS; i++) {
                to.receive(SINK_TAG_ID + i, RECEIVE_BASE + i * SLOT_BYTES, SLOT_BYTES);
            }
        }

        boolean step() throws IOException {
            while (posted < OPERATIONS && posted - sent < SLOTS) {
                post();
            }
            for (Completion completion = from.completions.peek();
                    completion != null && completion.id() < SINK_TAG_ID; completion = from.completions.peek()) {
                from.completions.remove();
                assertEquals(sent, completion.id());
                assertEquals(WorkCompletionStatus.SUCCESS, completion.status());
                checkDone(sent++);
            }
            for (Completion completion = to.completions.peek();
                    completion != null && completion.id() >= SINK_TAG_ID; completion = to.completions.peek()) {
                to.completions.remove();
                checkArrived(completion);
            }
            return sent == OPERATIONS && sends.isEmpty();
        }

        private void post() throws IOException {
            int offset = posted % SLOTS * SLOT_BYTES;
            int length = random.nextInt(10) == 0 ? random.nextInt(SLOT_BYTES) : random.nextInt(2000);
            byte[] content = new byte[length];
            random.nextBytes(content);
            contents[posted] = content;
            switch (posted % 4) {
                case 0, 1 -> {
                    from.fill(offset, content);
                    sends.add(posted);
                    from.send(posted, offset, length);
                }
                case 2 -> {
                    // Read back by the next operation. No later Write that can be under way goes to the same place, because
                    // one that follows a Read may be placed before the Read is answered.
                    from.fill(offset, content);
                    from.write(posted, offset, length, tag, posted / 4 % 5 * SLOT_BYTES);
                }
                default -> {
                    contents[posted] = contents[posted - 1];
                    from.read(posted, offset, contents[posted].length, tag, posted / 4 % 5 * SLOT_BYTES);
                }
            }
            posted++;
        }

        private void checkDone(int id) {
            if (id % 4 == 3) {
                assertArrayEquals(contents[id], from.bytes(id % SLOTS * SLOT_BYTES, contents[id].length));
                contents[id] = null;
                contents[id - 1] = null;
            }
        }

        private void checkArrived(Completion completion) throws IOException {
            int id = sends.remove();
            int slot = arrived++ % SLOTS;
            assertEquals(new Completion(SINK_TAG_ID + slot, WorkCompletionStatus.SUCCESS, contents[id].length, false, 0),
                    completion);
            assertArrayEquals(contents[id], to.bytes(RECEIVE_BASE + slot * SLOT_BYTES, contents[id].length));
            contents[id] = null;
            to.receive(SINK_TAG_ID + slot, RECEIVE_BASE + slot * SLOT_BYTES, SLOT_BYTES);
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
