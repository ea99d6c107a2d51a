package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** Every work request completes once when a connection ends. A part of {@link VerbsContract}. */
public abstract class VerbsClosingContract extends VerbsFixture {

    @Test
    void shouldFlushEverythingAtTheEnd() throws IOException {
        connect();
        client.queuePair.moveToError();
        client.queuePair.moveToError();
        client.postReceive(4);
        client.post(client.work().send(50).addElement(client.region, 0, 1));
        pumpUntil(() -> client.isDisconnected() && server.isDisconnected() && client.completions.size() == 6
                && server.completions.size() == 4);
        for (Completion completion : client.completions) {
            assertEquals(new Completion(completion.id(), WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, false, 0, 0), completion);
        }
        assertTrue(server.completions.stream().allMatch(c -> c.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED));
        assertNull(client.cause);
        assertNull(server.cause);
        assertEquals(List.of("established", "disconnected"), client.events);
        assertEquals(List.of("established", "disconnected"), server.events);
        client.queuePair.close();
        client.queuePair.close();
    }

    @Test
    void shouldDeliverWhatArrivedBeforeTheEnd() throws IOException {
        connect();
        client.post(client.work().send(1).addElement(client.region, 0, 42));
        assertCompletes(client, 1);
        client.queuePair.moveToError();
        pumpUntil(server::isDisconnected);
        assertEquals(new Completion(0, WorkCompletionStatus.SUCCESS, 42, false, 0, 0), server.completions.remove());
    }

    @Test
    void shouldBeSilentAfterTheClose() throws IOException {
        connect();
        client.queuePair.close();
        client.completions.clear();
        pumpUntil(server::isDisconnected);
        assertEquals(List.of("established"), client.events);
    }

    @Test
    void shouldEndAConnectionThatNeverStood() throws IOException {
        request(new byte[0]);
        client.queuePair.moveToError();
        pumpUntil(() -> client.completions.size() == QUEUE_DEPTH / 2);
        client.queuePair.close();
        requests.remove().reject(NO_DATA);
        QueuePair unused = server.context.createQueuePair(ATTRIBUTES, server);
        unused.close();
    }

    @Test
    void shouldLoseNothingThatIsDoneWhenTheContextIsDrained() throws IOException {
        connect();
        client.post(client.work().send(1).addElement(client.region, 0, 42));
        assertCompletes(client, 1);
        client.queuePair.close();
        pumpUntil(client.context::isDrained);
        client.context.close();
        pollUntil(server, server::isDisconnected);
        assertEquals(new Completion(0, WorkCompletionStatus.SUCCESS, 42, false, 0, 0), server.completions.remove());
    }

    @Test
    void shouldEndOnAbort() throws IOException {
        connect();
        client.queuePair.abort();
        client.queuePair.abort();
        pumpUntil(() -> client.isDisconnected() && server.isDisconnected() && client.completions.size() == 4
                && server.completions.size() == 4);
        assertNull(client.cause);
        assertEquals(List.of("established", "disconnected"), client.events);
        assertEquals(List.of("established", "disconnected"), server.events);
    }

    @Test
    void shouldEndBeforeItBegan() throws IOException {
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        client.postReceive(0);
        client.queuePair.moveToError();
        pumpUntil(() -> client.completions.size() == 1 && client.events.size() == 1);
        assertEquals(List.of("connectFailed"), client.events);
        assertThrows(IllegalStateException.class, () -> client.queuePair.connect(listener.localAddress(), null, NO_DATA));
        client.queuePair.moveToError();
        client.queuePair.abort();
        client.poll();
        assertEquals(1, client.events.size());
    }

    @Test
    void shouldTellThePeerOfAQueuePairThatEndsInsteadOfAnAnswer() throws IOException {
        request(new byte[0]);
        server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, requests.remove());
        server.queuePair.moveToError();
        pumpUntil(() -> client.events.contains("connectFailed") && server.events.contains("connectFailed"));
        assertEquals(List.of("connectFailed"), client.events);
        assertEquals(List.of("connectFailed"), server.events);
    }

    @Test
    void shouldCompleteWhatIsPostedWhenTheEndIsTold() throws IOException {
        connect();
        server.onEnd = () -> {
            server.queuePair.postSend(server.work().send(40).addElement(server.region, 0, 1));
            server.postReceive(41);
            server.queuePair.flush();
        };
        client.queuePair.moveToError();
        pumpUntil(() -> server.isDisconnected() && server.completions.size() == 6);
        assertTrue(server.completions.stream().allMatch(c -> c.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED));
    }

    @Test
    void shouldCloseInsideOfACallOfTheListener() throws IOException {
        connect();
        server.onEnd = () -> server.queuePair.close();
        client.queuePair.moveToError();
        pumpUntil(() -> server.isDisconnected() && client.isDisconnected());
        assertEquals(List.of("established", "disconnected"), server.events);
    }

    @Test
    void shouldCloseInsideOfACompletion() throws IOException {
        connect();
        for (int i = 0; i < 3; i++) {
            client.queuePair.postSend(client.work().send(100 + i).addElement(client.region, 0, 1));
        }
        client.queuePair.flush();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        boolean[] closed = {false};
        while (!closed[0]) {
            client.poll();
            server.context.poll((id, status, byteLength, invalidated, tag, vendorError) -> {
                server.queuePair.close();
                closed[0] = true;
            }, 64);
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
        pumpUntil(client::isDisconnected);
        assertEquals(List.of("established"), server.events);
    }

    @Test
    void shouldTakeNoWorkAfterTheClose() throws IOException {
        connect();
        QueuePair closed = client.queuePair;
        int tag = closed.expose(client.region, 0, 1, QueuePair.ACCESS_REMOTE_READ);
        closed.close();
        client.completions.clear();
        assertThrows(IllegalStateException.class, () -> client.postReceive(50));
        assertThrows(IllegalStateException.class, () -> closed.postSend(client.work().send(51)));
        assertThrows(IllegalStateException.class, () -> closed.connect(listener.localAddress(), null, NO_DATA));
        assertThrows(IOException.class, () -> closed.expose(client.region, 0, 1, QueuePair.ACCESS_REMOTE_READ));
        assertTrue(closed.invalidate(52, tag));
        closed.flush();
        closed.moveToError();
        closed.abort();
        closed.close();
        pumpUntil(server::isDisconnected);
        assertEquals(List.of("established"), client.events);
        assertTrue(client.completions.stream().allMatch(c -> c.id() < 4));
        assertEquals(client.completions.size(), client.completions.stream().distinct().count());
    }

    @Test
    void shouldCloseListenersAndConnectionsWithTheContext() throws IOException {
        connect();
        SocketAddress address = listener.localAddress();
        server.context.close();
        server.context.close();
        server.context.wakeup();
        server.queuePair.close();
        listener.close();
        pollUntil(client, client::isDisconnected);
        pollUntil(client, () -> {
            try (ConnectionListener again = client.context.listen(address, 16, LISTEN, null)) {
                return again.localAddress().equals(address);
            } catch (IOException e) {
                return false; // a provider may need a moment
            }
        });
    }

    /** They lie behind the one that is told, and their peers would wait for their time limits. */
    @Test
    void shouldTellPeersWhoseRequestsNobodyWasToldOfWhenTheContextCloses() throws IOException {
        for (int i = 0; i < 3; i++) {
            client.context.createQueuePair(ATTRIBUTES, client).connect(listener.localAddress(), null, NO_DATA);
        }
        for (int i = 0; i < 100; i++) {
            client.poll();
        }
        while (requests.isEmpty()) {
            client.poll();
            server.context.poll(server, 1);
        }
        requests.remove().reject(NO_DATA);
        server.context.close();
        pollUntil(client, () -> client.events.size() == 3);
        assertEquals(List.of("connectFailed", "connectFailed", "connectFailed"), client.events);
    }

    private void pollUntil(VerbsSide side, BooleanSupplier condition) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            side.poll();
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
    }
}
