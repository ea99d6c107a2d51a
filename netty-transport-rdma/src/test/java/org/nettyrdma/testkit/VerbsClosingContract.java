package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
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
}
