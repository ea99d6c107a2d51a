package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** Sends, receives and their completions. A part of {@link VerbsContract}. */
public abstract class VerbsMessagesContract extends VerbsFixture {

    @Test
    void shouldCompleteInOrderOnBothSides() throws IOException {
        connect();
        for (int i = 0; i < 4; i++) {
            client.put(10_000 + i * 100, "message " + i);
            client.queuePair.postSend(client.work().send(100 + i).addElement(client.region, 10_000 + i * 100, 9));
        }
        client.queuePair.flush();
        for (int i = 0; i < 4; i++) {
            assertCompletes(client, 100 + i);
            Completion received = nextCompletion(server);
            assertEquals(new Completion(i, WorkCompletionStatus.SUCCESS, 9, false, 0, 0), received);
            assertEquals("message " + i, server.get(i * 1024, 9));
        }
    }

    @Test
    void shouldSendBothWaysAndEmptyMessages() throws IOException {
        connect();
        client.post(client.work().send(1));
        assertEquals(new Completion(0, WorkCompletionStatus.SUCCESS, 0, false, 0, 0), nextCompletion(server));
        assertCompletes(client, 1);
        server.put(5000, "answer");
        server.post(server.work().send(2).addElement(server.region, 5000, 6).setSolicited());
        assertEquals(new Completion(0, WorkCompletionStatus.SUCCESS, 6, false, 0, 0), nextCompletion(client));
        assertEquals("answer", client.get(0, 6));
    }

    @Test
    void shouldTakeAnEmptyMessageIntoAReceiveWithoutMemory() throws IOException {
        connect();
        server.queuePair.postReceive(4, server.region, 0, 0);
        server.queuePair.flush();
        for (int i = 0; i < 5; i++) {
            client.queuePair.postSend(client.work().send(i));
        }
        client.queuePair.flush();
        for (int i = 0; i < 5; i++) {
            assertEquals(new Completion(i, WorkCompletionStatus.SUCCESS, 0, false, 0, 0), nextCompletion(server));
        }
    }

    @Test
    void shouldGatherPieces() throws IOException {
        assumeTrue(provider().capabilities().maxGatherElements() >= 3);
        connect();
        client.put(8000, "abcdefghi");
        client.post(client.work().send(1).addElement(client.region, 8006, 3).addElement(client.region, 8000, 3)
                .addElement(client.region, 8003, 3));
        assertEquals(9, nextCompletion(server).byteLength());
        assertEquals("ghiabcdef", server.get(0, 9));
    }

    @Test
    void shouldLetAMessageWaitForAReceive() throws IOException {
        assumeTrue(provider().capabilities().receiverWaits());
        connect();
        for (int i = 0; i < 6; i++) {
            client.queuePair.postSend(client.work().send(i).addElement(client.region, 0, 10 + i));
        }
        client.queuePair.flush();
        pumpUntil(() -> server.completions.size() == 4);
        server.postReceive(4);
        server.postReceive(5);
        server.queuePair.flush();
        pumpUntil(() -> server.completions.size() == 6);
        for (int i = 0; i < 6; i++) {
            assertEquals(new Completion(i, WorkCompletionStatus.SUCCESS, 10 + i, false, 0, 0), server.completions.remove());
        }
    }

    @Test
    void shouldEndTheConnectionOnAMessageThatDoesNotFit() throws IOException {
        connect();
        client.post(client.work().send(1).addElement(client.region, 0, 1025));
        pumpUntil(() -> client.isDisconnected() && server.isDisconnected());
        assertTrue(server.cause != null
                || server.completions.stream().anyMatch(c -> c.status() == WorkCompletionStatus.LOCAL_LENGTH_ERROR));
        assertTrue(server.completions.stream().noneMatch(c -> c.status() == WorkCompletionStatus.SUCCESS));
    }

    @Test
    void shouldRefuseMoreThanAQueueHolds() throws IOException {
        connect();
        for (int i = 4; i < QUEUE_DEPTH; i++) {
            client.postReceive(i);
        }
        assertThrows(IOException.class, () -> client.postReceive(QUEUE_DEPTH));
    }

    @Test
    void shouldRefuseMorePiecesThanItCanGatherOrScatter() throws IOException {
        connect();
        int tag = server.queuePair.expose(server.region, 0, 1000, QueuePair.ACCESS_REMOTE_READ);
        int most = provider().capabilities().maxGatherElements();
        int mostRead = provider().capabilities().maxReadScatterElements();
        SendWorkRequest work = new SendWorkRequest(Math.max(most, mostRead) + 1);
        assertThrows(IOException.class, () -> client.queuePair.postSend(withPieces(work.send(1), most + 1)));
        assertThrows(IOException.class, () -> client.queuePair.postSend(
                withPieces(work.read(2, tag, server.queuePair.remoteOffset(tag)), mostRead + 1)));
        client.post(withPieces(work.send(3), most));
        client.post(withPieces(work.read(4, tag, server.queuePair.remoteOffset(tag)), mostRead));
        assertEquals(most, nextCompletion(server).byteLength());
        assertCompletes(client, 3);
        assertCompletes(client, 4);
    }

    private SendWorkRequest withPieces(SendWorkRequest request, int count) {
        for (int i = 0; i < count; i++) {
            request.addElement(client.region, 300_000 + 10 * i, 1);
        }
        return request;
    }

    @Test
    void shouldTakeAWorkRequestThatNothingWasSetOfAsAnEmptySend() throws IOException {
        connect();
        client.post(new SendWorkRequest(0));
        assertEquals(new Completion(0, WorkCompletionStatus.SUCCESS, 0, false, 0, 0), nextCompletion(server));
        assertCompletes(client, 0);
    }

    @Test
    void shouldRefuseMoreSendsThanAQueueHolds() throws IOException {
        connect();
        for (int i = 0; i < QUEUE_DEPTH; i++) {
            client.queuePair.postSend(client.work().write(i, 0, 0));
        }
        assertThrows(IOException.class, () -> client.queuePair.postSend(client.work().write(QUEUE_DEPTH, 0, 0)));
        client.queuePair.flush();
        for (int i = 0; i < QUEUE_DEPTH; i++) {
            assertCompletes(client, i);
        }
        assertTrue(client.completions.isEmpty());
    }

    @Test
    void shouldRefuseToSendBeforeTheConnectionStands() throws IOException {
        request(new byte[0]);
        assertThrows(IOException.class, () -> client.queuePair.postSend(client.work().send(50)));
        server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, requests.remove());
        assertThrows(IOException.class, () -> server.queuePair.postSend(server.work().send(50)));
        server.postReceive(0);
        server.queuePair.accept(NO_DATA);
        pumpUntil(() -> client.isEstablished() && server.isEstablished());
        client.post(client.work().send(51).addElement(client.region, 0, 10));
        assertEquals(10, nextCompletion(server).byteLength());
        assertCompletes(client, 51);
    }

    @Test
    void shouldRefuseReceivesOutsideOfTheirMemory() throws IOException {
        connect();
        for (int[] piece : new int[][] {{-1, 1}, {0, -1}, {VerbsSide.MEMORY_BYTES, 1}, {1, VerbsSide.MEMORY_BYTES},
                {Integer.MAX_VALUE, Integer.MAX_VALUE}}) {
            assertThrows(IndexOutOfBoundsException.class,
                    () -> server.queuePair.postReceive(9, server.region, piece[0], piece[1]));
        }
    }

    @Test
    void shouldHaveQueuesAsDeepAsItSays() throws IOException {
        int most = provider().capabilities().maxQueueDepth();
        client.queuePair = client.context.createQueuePair(new QueuePairAttributes(most, most, 4, 4, false, 1000), client);
        for (int i = 0; i < most; i++) {
            client.queuePair.postReceive(i, client.region, 0, 16);
        }
        assertThrows(IOException.class, () -> client.queuePair.postReceive(most, client.region, 0, 16));
        client.queuePair.moveToError();
        pumpUntil(() -> client.completions.size() == most);
        for (int i = 0; i < most; i++) {
            assertEquals(i, client.completions.remove().id());
        }
    }
}
