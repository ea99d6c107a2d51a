package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** RDMA Writes, RDMA Reads and the invalidation of steering tags. A part of {@link VerbsContract}. */
public abstract class VerbsRemoteMemoryContract extends VerbsFixture {

    @Test
    void shouldWriteBeforeTheSendThatFollows() throws IOException {
        connect();
        int tag = server.queuePair.expose(server.region, 20_000, 100, QueuePair.ACCESS_REMOTE_WRITE);
        assertNotEquals(0, tag);
        client.put(0, "placed");
        client.queuePair.postSend(client.work().write(1, tag, server.queuePair.remoteOffset(tag) + 10)
                .addElement(client.region, 0, 6));
        client.queuePair.postSend(client.work().send(2));
        client.queuePair.flush();
        assertEquals(0, nextCompletion(server).id());
        assertEquals("placed", server.get(20_010, 6));
        assertCompletes(client, 1);
        assertCompletes(client, 2);
    }

    @Test
    void shouldReadAndScatter() throws IOException {
        connect();
        server.put(30_000, "to be read");
        int tag = server.queuePair.expose(server.region, 30_000, 10, QueuePair.ACCESS_REMOTE_READ);
        boolean scatter = provider().capabilities().maxReadScatterElements() >= 2;
        SendWorkRequest read = client.work().read(7, tag, server.queuePair.remoteOffset(tag));
        if (scatter) {
            read.addElement(client.region, 600_005, 5).addElement(client.region, 600_000, 5);
        } else {
            read.addElement(client.region, 600_000, 10);
        }
        client.post(read);
        assertEquals(new Completion(7, WorkCompletionStatus.SUCCESS, 10, false, 0, 0), nextCompletion(client));
        assertEquals(scatter ? " readto be" : "to be read", client.get(600_000, 10));
    }

    @Test
    void shouldInvalidateBySend() throws IOException {
        assumeTrue(provider().capabilities().sendWithInvalidate());
        connect();
        int tag = server.queuePair.expose(server.region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
        client.post(client.work().sendWithInvalidate(1, tag).addElement(client.region, 0, 3));
        assertEquals(new Completion(0, WorkCompletionStatus.SUCCESS, 3, true, tag, 0), nextCompletion(server));
        assertThrows(IllegalArgumentException.class, () -> server.queuePair.remoteOffset(tag));
        if (!server.queuePair.invalidate(99, tag)) {
            assertCompletes(server, 99);
        }
    }

    @Test
    void shouldRefuseAccessAfterAnInvalidation() throws IOException {
        connect();
        int tag = server.queuePair.expose(server.region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
        long offset = server.queuePair.remoteOffset(tag);
        if (!server.queuePair.invalidate(99, tag)) {
            server.queuePair.flush();
            assertCompletes(server, 99);
        }
        client.post(client.work().read(1, tag, offset).addElement(client.region, 0, 10));
        if (provider().capabilities().exposure() == Capabilities.Exposure.PERSISTENT) {
            assertCompletes(client, 1); // open for good, as the user has asked for
            return;
        }
        pumpUntil(() -> client.isDisconnected() && server.isDisconnected());
        assertTrue(client.completions.stream().noneMatch(c -> c.status() == WorkCompletionStatus.SUCCESS));
        assertTrue(client.cause != null
                || client.completions.stream().anyMatch(c -> c.status() == WorkCompletionStatus.REMOTE_ACCESS_ERROR));
    }
}
