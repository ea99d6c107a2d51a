package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * Receives that several connections share, where the provider has them. The connections are made by the client's context and
 * accepted by the server's. A part of {@link VerbsContract}.
 */
public abstract class VerbsSharedReceivesContract extends VerbsFixture {

    private static final int FIRST_NUMBER = 1000;
    private static final int BUFFER_BYTES = 1024;

    private SharedReceiveQueue queue;

    /** One end of a connection. */
    private static final class End implements QueuePair.Listener {

        private QueuePair queuePair;
        private boolean established;
        private boolean disconnected;

        @Override
        public void established(ConnectionParameters parameters) {
            established = true;
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer privateData) {
            throw new AssertionError(cause);
        }

        @Override
        public void disconnected(IOException cause) {
            disconnected = true;
        }
    }

    private record Connection(End clientEnd, End serverEnd) {
    }

    private void openQueue(int depth) throws IOException {
        assumeTrue(provider().capabilities().maxSharedReceives() > 0, "no shared receives");
        queue = server.context.createSharedReceiveQueue(depth);
    }

    private Connection connect(int number) throws IOException {
        End clientEnd = new End();
        End serverEnd = new End();
        clientEnd.queuePair = client.context.createQueuePair(ATTRIBUTES, clientEnd);
        clientEnd.queuePair.connect(listener.localAddress(), null, ByteBuffer.allocate(0));
        pumpUntil(() -> !requests.isEmpty());
        serverEnd.queuePair = server.context.createQueuePair(
                new QueuePairAttributes(QUEUE_DEPTH, 1, 4, 4, false, 1000, queue, number), serverEnd, requests.remove());
        serverEnd.queuePair.accept(ByteBuffer.allocate(0));
        pumpUntil(() -> clientEnd.established && serverEnd.established);
        return new Connection(clientEnd, serverEnd);
    }

    private void post(int id) throws IOException {
        queue.postReceive(id, server.region, id * BUFFER_BYTES, BUFFER_BYTES);
    }

    private void send(Connection connection, String text) throws IOException {
        start(connection, 100_000, text);
        assertCompletes(client, 1);
    }

    /** Sends without waiting until the memory can be used again. */
    private void start(Connection connection, int offset, String text) throws IOException {
        client.put(offset, text);
        connection.clientEnd.queuePair.postSend(client.work().send(1).addElement(client.region, offset, text.length()));
        connection.clientEnd.queuePair.flush();
    }

    private Completion next(int number) throws IOException {
        pumpUntil(() -> !server.sharedCompletions(number).isEmpty());
        return server.sharedCompletions(number).remove();
    }

    private String text(Completion completion) {
        assertEquals(WorkCompletionStatus.SUCCESS, completion.status());
        return server.get((int) completion.id() * BUFFER_BYTES, completion.byteLength());
    }

    @Test
    void shouldRefuseQueuesThatTheProviderDoesNotHave() {
        int most = provider().capabilities().maxSharedReceives();
        if (most == 0) {
            assertThrows(IOException.class, () -> server.context.createSharedReceiveQueue(1));
        } else {
            assertThrows(IllegalArgumentException.class, () -> server.context.createSharedReceiveQueue(0));
            if (most < Integer.MAX_VALUE) {
                assertThrows(IllegalArgumentException.class, () -> server.context.createSharedReceiveQueue(most + 1));
            }
        }
    }

    @Test
    void shouldTellWhoseMessageItIs() throws IOException {
        openQueue(8);
        Connection one = connect(FIRST_NUMBER);
        Connection two = connect(FIRST_NUMBER + 1);
        for (int id = 0; id < 4; id++) {
            post(id);
        }
        send(two, "of two");
        send(one, "of one");
        send(two, "also of two");
        assertEquals("of one", text(next(FIRST_NUMBER)));
        assertEquals("of two", text(next(FIRST_NUMBER + 1)));
        assertEquals("also of two", text(next(FIRST_NUMBER + 1)));
        assertTrue(server.completions.isEmpty());
    }

    @Test
    void shouldKeepTheOrderOfEachConnection() throws IOException {
        openQueue(4);
        Connection[] connections = {connect(FIRST_NUMBER), connect(FIRST_NUMBER + 1), connect(FIRST_NUMBER + 2)};
        for (int id = 0; id < 3; id++) {
            post(id);
        }
        for (int i = 0; i < 100; i++) {
            for (int c = 0; c < connections.length; c++) {
                send(connections[c], "message " + i + " of " + c);
            }
            for (int c = 0; c < connections.length; c++) {
                Completion completion = next(FIRST_NUMBER + c);
                assertEquals("message " + i + " of " + c, text(completion));
                post((int) completion.id());
            }
        }
    }

    @Test
    void shouldUseEachBufferOnce() throws IOException {
        openQueue(16);
        Connection connection = connect(FIRST_NUMBER);
        Set<Long> ids = new HashSet<>();
        for (int id = 0; id < 16; id++) {
            post(id);
        }
        assertThrows(IOException.class, () -> post(16));
        for (int i = 0; i < 16; i++) {
            send(connection, "message " + i);
            Completion completion = next(FIRST_NUMBER);
            assertEquals("message " + i, text(completion));
            assertTrue(ids.add(completion.id()));
        }
    }

    @Test
    void shouldLetMessagesOfAllConnectionsWaitForReceives() throws IOException {
        assumeTrue(provider().capabilities().receiverWaits());
        openQueue(4);
        Connection one = connect(FIRST_NUMBER);
        Connection two = connect(FIRST_NUMBER + 1);
        start(one, 100_000, "first of one");
        start(two, 101_000, "first of two");
        start(one, 102_000, "second of one");
        for (int i = 0; i < 100; i++) {
            client.poll();
            server.poll(); // nothing can arrive
        }
        assertTrue(server.sharedCompletions(FIRST_NUMBER).isEmpty() && server.sharedCompletions(FIRST_NUMBER + 1).isEmpty());
        for (int id = 0; id < 3; id++) {
            post(id);
        }
        assertEquals("first of one", text(next(FIRST_NUMBER)));
        assertEquals("second of one", text(next(FIRST_NUMBER)));
        assertEquals("first of two", text(next(FIRST_NUMBER + 1)));
    }

    @Test
    void shouldHoldBackAConnectionThatMayTakeNoMore() throws IOException {
        assumeTrue(provider().capabilities().receiverWaits());
        openQueue(8);
        Connection one = connect(FIRST_NUMBER);
        Connection two = connect(FIRST_NUMBER + 1);
        for (int id = 0; id < 8; id++) {
            post(id);
        }
        Deque<Completion> ofOne = server.sharedCompletions(FIRST_NUMBER);
        one.serverEnd.queuePair.allowReceives(2);
        for (int i = 0; i < 4; i++) {
            start(one, 100_000, "held back");
        }
        start(two, 101_000, "the other one is not");
        assertEquals("the other one is not", text(next(FIRST_NUMBER + 1)));
        int allowed = 2;
        for (int newlyAllowed : new int[] {2, 3, 2, 4}) {
            one.serverEnd.queuePair.allowReceives(newlyAllowed);
            allowed = Math.max(allowed, newlyAllowed);
            int expected = allowed;
            pumpUntil(() -> ofOne.size() >= expected);
            for (int i = 0; i < 100; i++) {
                client.poll();
                server.poll(); // nothing more can arrive
            }
            assertEquals(expected, ofOne.size());
        }
    }

    /** Each buffer completes or stays, whatever the provider had done with the second message when the queue pair was closed. */
    @Test
    void shouldLoseNoReceiveWithAQueuePairThatIsClosed() throws IOException {
        assumeTrue(provider().capabilities().receiverWaits());
        openQueue(2);
        Connection one = connect(FIRST_NUMBER);
        Connection two = connect(FIRST_NUMBER + 1);
        post(0);
        post(1);
        Deque<Completion> ofOne = server.sharedCompletions(FIRST_NUMBER);
        Deque<Completion> ofTwo = server.sharedCompletions(FIRST_NUMBER + 1);
        start(one, 100_000, "first");
        start(one, 101_000, "second");
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (ofOne.isEmpty()) {
            client.poll();
            server.context.poll(server, 1);
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
        one.serverEnd.queuePair.close();
        start(two, 102_000, "third");
        start(two, 103_000, "fourth");
        while (ofTwo.size() < 2) {
            pumpUntil(() -> ofTwo.size() == 2 || !ofOne.isEmpty());
            if (!ofOne.isEmpty()) {
                post((int) ofOne.remove().id());
            }
        }
        assertEquals("third", text(ofTwo.remove()));
        assertEquals("fourth", text(ofTwo.remove()));
    }

    @Test
    void shouldDoWithTheReceivesThatItSaysItNeeds() throws IOException {
        openQueue(8);
        Connection connection = connect(FIRST_NUMBER);
        int needed = queue.neededReceives(8, 2);
        assertTrue(needed <= 8);
        for (int id = 0; id < needed; id++) {
            post(id);
        }
        start(connection, 100_000, "first");
        start(connection, 101_000, "second");
        assertEquals("first", text(next(FIRST_NUMBER)));
        assertEquals("second", text(next(FIRST_NUMBER)));
        assertTrue(queue.neededReceives(1, 1) <= 1);
    }

    /** Whose data it is could not be told. */
    @Test
    void shouldFailTheReceiveOfImmediateData() throws IOException {
        assumeTrue(provider().capabilities().writeWithImmediate());
        openQueue(4);
        Connection connection = connect(FIRST_NUMBER);
        post(3);
        connection.clientEnd.queuePair.postSend(client.work().writeWithImmediate(1, 0, 0, 77));
        connection.clientEnd.queuePair.flush();
        assertEquals(new Completion(3, WorkCompletionStatus.BAD_RESPONSE_ERROR, 0, false, 0, 0), next(FIRST_NUMBER));
        assertTrue(server.immediates.isEmpty());
    }

    @Test
    void shouldKeepReceivesForTheOthersWhenAConnectionEnds() throws IOException {
        openQueue(4);
        Connection one = connect(FIRST_NUMBER);
        Connection two = connect(FIRST_NUMBER + 1);
        for (int id = 0; id < 2; id++) {
            post(id);
        }
        one.clientEnd.queuePair.moveToError();
        pumpUntil(() -> one.serverEnd.disconnected);
        one.serverEnd.queuePair.close();
        for (int i = 0; i < 2; i++) {
            send(two, "still here");
            assertEquals("still here", text(next(FIRST_NUMBER + 1)));
        }
    }

    @Test
    void shouldEndOnlyTheConnectionWhoseMessageDoesNotFit() throws IOException {
        openQueue(4);
        Connection one = connect(FIRST_NUMBER);
        Connection two = connect(FIRST_NUMBER + 1);
        for (int id = 0; id < 2; id++) {
            post(id);
        }
        one.clientEnd.queuePair.postSend(client.work().send(7).addElement(client.region, 0, BUFFER_BYTES + 1));
        one.clientEnd.queuePair.flush();
        pumpUntil(() -> one.serverEnd.disconnected && one.clientEnd.disconnected);
        assertTrue(server.sharedCompletions(FIRST_NUMBER).stream()
                .noneMatch(completion -> completion.status() == WorkCompletionStatus.SUCCESS));
        client.completions.clear();
        send(two, "unharmed");
        assertEquals("unharmed", text(next(FIRST_NUMBER + 1)));
    }

    @Test
    void shouldReceiveAtTheEndThatConnectsToo() throws IOException {
        openQueue(4);
        SharedReceiveQueue atClient = client.context.createSharedReceiveQueue(4);
        atClient.postReceive(3, client.region, 3 * BUFFER_BYTES, BUFFER_BYTES);
        End clientEnd = new End();
        clientEnd.queuePair = client.context.createQueuePair(
                new QueuePairAttributes(QUEUE_DEPTH, 1, 4, 4, false, 1000, atClient, 5), clientEnd);
        clientEnd.queuePair.connect(listener.localAddress(), null, ByteBuffer.allocate(0));
        pumpUntil(() -> !requests.isEmpty());
        accept(server, clientEnd);
        server.put(5000, "answer");
        server.post(server.work().send(2).addElement(server.region, 5000, 6));
        pumpUntil(() -> !client.sharedCompletions(5).isEmpty());
        assertEquals(new Completion(3, WorkCompletionStatus.SUCCESS, 6, false, 0, 0), client.sharedCompletions(5).remove());
        assertEquals("answer", client.get(3 * BUFFER_BYTES, 6));
    }

    private void accept(VerbsSide by, End from) throws IOException {
        by.queuePair = by.context.createQueuePair(ATTRIBUTES, by, requests.remove());
        by.queuePair.accept(ByteBuffer.allocate(0));
        pumpUntil(() -> from.established && by.isEstablished());
    }

    @Test
    void shouldCloseOnlyWhenNoQueuePairUsesIt() throws IOException {
        openQueue(4);
        Connection one = connect(FIRST_NUMBER);
        post(0);
        assertNotNull(assertThrows(IllegalStateException.class, queue::close).getMessage());
        assertThrows(IllegalStateException.class, () -> one.serverEnd.queuePair.postReceive(1, server.region, 0, 1));
        one.serverEnd.queuePair.close();
        queue.close();
        assertTrue(server.sharedCompletions(FIRST_NUMBER).isEmpty());
    }

    @Test
    void shouldRefuseReceivesOutsideOfTheirMemory() throws IOException {
        openQueue(4);
        for (int[] piece : new int[][] {{-1, 1}, {0, -1}, {VerbsSide.MEMORY_BYTES, 1}, {1, VerbsSide.MEMORY_BYTES}}) {
            assertThrows(IndexOutOfBoundsException.class, () -> queue.postReceive(9, server.region, piece[0], piece[1]));
        }
    }

    @Test
    void shouldBeOfNoUseAfterTheClose() throws IOException {
        openQueue(4);
        queue.close();
        queue.close();
        assertThrows(IllegalStateException.class, () -> post(0));
        assertThrows(IllegalStateException.class, () -> server.context.createQueuePair(
                new QueuePairAttributes(QUEUE_DEPTH, 1, 4, 4, false, 1000, queue, FIRST_NUMBER), new End()));
    }
}
