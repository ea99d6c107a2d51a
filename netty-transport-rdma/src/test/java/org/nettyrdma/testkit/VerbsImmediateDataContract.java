package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.testkit.VerbsSide.Immediate;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** RDMA Writes with immediate data, and their refusal where there are none. A part of {@link VerbsContract}. */
public abstract class VerbsImmediateDataContract extends VerbsFixture {

    private static final int NUMBER = 0x81020304;

    private void connectWithImmediateData() throws IOException {
        assumeTrue(provider().capabilities().writeWithImmediate(), "the provider has no RDMA Write with immediate data");
        connect();
    }

    @Test
    void shouldTellImmediateDataWhenTheBytesAreInPlace() throws IOException {
        connectWithImmediateData();
        int tag = server.queuePair.expose(server.region, 20_000, 100, QueuePair.ACCESS_REMOTE_WRITE);
        client.put(0, "placed");
        client.post(client.work().writeWithImmediate(9, tag, server.queuePair.remoteOffset(tag) + 10, NUMBER)
                .addElement(client.region, 0, 2).addElement(client.region, 2, 4));
        pumpUntil(() -> !server.immediates.isEmpty());
        assertEquals("placed", server.get(20_010, 6));
        assertEquals(new Immediate(0, 6, NUMBER), server.immediates.remove());
        assertCompletes(client, 9);
        assertTrue(server.completions.isEmpty());
    }

    @Test
    void shouldTellImmediateDataWithoutBytes() throws IOException {
        connectWithImmediateData();
        for (int i = 0; i < 4; i++) {
            client.queuePair.postSend(client.work().writeWithImmediate(i, 0, 0, -i).setSolicited());
        }
        client.queuePair.flush();
        pumpUntil(() -> server.immediates.size() == 4 && client.completions.size() == 4);
        for (int i = 0; i < 4; i++) {
            assertEquals(new Immediate(i, 0, -i), server.immediates.remove());
            assertCompletes(client, i);
        }
    }

    @Test
    void shouldNeedNoMemoryInTheReceive() throws IOException {
        connectWithImmediateData();
        for (int i = 4; i < QUEUE_DEPTH; i++) {
            server.queuePair.postReceive(i, server.region, 0, 0);
        }
        server.queuePair.flush();
        int tag = server.queuePair.expose(server.region, 20_000, QUEUE_DEPTH, QueuePair.ACCESS_REMOTE_WRITE);
        client.put(0, "abcdefgh");
        for (int i = 0; i < QUEUE_DEPTH; i++) {
            client.queuePair.postSend(client.work().writeWithImmediate(i, tag, server.queuePair.remoteOffset(tag) + i, i)
                    .addElement(client.region, i, 1));
        }
        client.queuePair.flush();
        pumpUntil(() -> server.immediates.size() == QUEUE_DEPTH);
        for (int i = 0; i < QUEUE_DEPTH; i++) {
            assertEquals(new Immediate(i, 1, i), server.immediates.remove());
        }
        assertEquals("abcdefgh", server.get(20_000, QUEUE_DEPTH));
    }

    @Test
    void shouldKeepTheOrderAmongSends() throws IOException {
        connectWithImmediateData();
        List<String> arrived = new ArrayList<>();
        CompletionHandler handler = new CompletionHandler() {
            @Override
            public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int tag,
                                     int vendorError) {
                arrived.add(id + " message of " + byteLength);
            }

            @Override
            public void onImmediateData(long id, int byteLength, int immediateData) {
                arrived.add(id + " number " + immediateData);
            }
        };
        client.queuePair.postSend(client.work().send(1).addElement(client.region, 0, 5));
        client.queuePair.postSend(client.work().writeWithImmediate(2, 0, 0, 77));
        client.queuePair.postSend(client.work().send(3).addElement(client.region, 0, 6));
        client.queuePair.flush();
        pollServer(handler, arrived, 3);
        assertEquals(List.of("0 message of 5", "1 number 77", "2 message of 6"), arrived);
    }

    @Test
    void shouldFailTheReceiveOfAHandlerThatExpectsNone() throws IOException {
        connectWithImmediateData();
        List<Completion> arrived = new ArrayList<>();
        client.post(client.work().writeWithImmediate(1, 0, 0, NUMBER));
        pollServer((id, status, byteLength, invalidated, tag, vendorError) ->
                arrived.add(new Completion(id, status, byteLength, invalidated, tag, vendorError)), arrived, 1);
        assertEquals(List.of(new Completion(0, WorkCompletionStatus.BAD_RESPONSE_ERROR, 0, false, 0, 0)), arrived);
    }

    private void pollServer(CompletionHandler handler, List<?> arrived, int count) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (arrived.size() < count) {
            server.context.poll(handler, 64);
            client.poll();
            assertTrue(System.nanoTime() - deadlineNanos < 0, arrived.toString());
        }
    }

    @Test
    void shouldEndTheConnectionOnImmediateDataWithAnUnknownTag() throws IOException {
        connectWithImmediateData();
        int tag = server.queuePair.expose(server.region, 20_000, 100, QueuePair.ACCESS_REMOTE_WRITE);
        client.post(client.work().writeWithImmediate(1, tag ^ 0x5500, server.queuePair.remoteOffset(tag), NUMBER)
                .addElement(client.region, 0, 6));
        pumpUntil(() -> client.isDisconnected() && server.isDisconnected());
        assertTrue(server.immediates.isEmpty());
    }

    @Test
    void shouldRefuseImmediateDataWhereThereIsNone() throws IOException {
        assumeFalse(provider().capabilities().writeWithImmediate(), "the provider has RDMA Writes with immediate data");
        connect();
        assertThrows(IOException.class, () -> client.queuePair.postSend(client.work().writeWithImmediate(1, 0, 0, NUMBER)));
        client.post(client.work().send(2).addElement(client.region, 0, 3));
        assertEquals(3, nextCompletion(server).byteLength());
        assertCompletes(client, 2);
        assertFalse(client.isDisconnected());
    }
}
