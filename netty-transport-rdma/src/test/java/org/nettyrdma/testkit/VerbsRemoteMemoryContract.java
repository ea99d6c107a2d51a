package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** RDMA Writes, RDMA Reads and the invalidation of steering tags. A part of {@link VerbsContract}. */
public abstract class VerbsRemoteMemoryContract extends VerbsFixture {

    /**
     * What the provider refuses.
     *
     * @return all, unless a test overrides it
     */
    protected Refusals refusals() {
        return Refusals.ALL;
    }

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

    @Test
    void shouldCompleteReadsAndSendsInTheOrderOfPosting() throws IOException {
        connect();
        int tag = server.queuePair.expose(server.region, 0, 500_000, QueuePair.ACCESS_REMOTE_READ);
        long offset = server.queuePair.remoteOffset(tag);
        client.queuePair.postSend(client.work().read(100, tag, offset).addElement(client.region, 500_000, 400_000));
        client.queuePair.postSend(client.work().send(101).addElement(client.region, 0, 1));
        client.queuePair.postSend(client.work().read(102, tag, offset).addElement(client.region, 500_000, 1));
        client.queuePair.postSend(client.work().send(103).addElement(client.region, 0, 1));
        client.queuePair.flush();
        for (int id = 100; id < 104; id++) {
            assertCompletes(client, id);
        }
    }

    @Test
    void shouldReadAndWriteNothing() throws IOException {
        connect();
        int tag = server.queuePair.expose(server.region, 0, 10, QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE);
        long offset = server.queuePair.remoteOffset(tag);
        client.queuePair.postSend(client.work().write(100, tag, offset));
        client.queuePair.postSend(client.work().write(101, tag, offset + 10).addElement(client.region, 0, 0));
        client.queuePair.postSend(client.work().read(102, tag, offset));
        client.queuePair.postSend(client.work().read(103, tag, offset + 10).addElement(client.region, 0, 0));
        client.queuePair.flush();
        for (int id = 100; id < 104; id++) {
            assertEquals(new Completion(id, WorkCompletionStatus.SUCCESS, 0, false, 0, 0), nextCompletion(client));
        }
        assertTrue(server.completions.isEmpty());
    }

    /** The ten bytes from 5000 on are exposed; the offsets count from there. */
    @Test
    void shouldRefuseAccessOutsideOfWhatIsExposed() throws IOException {
        assumeTrue(provider().capabilities().exposure() != Capabilities.Exposure.PERSISTENT);
        long[] within = {-1, 1, 10, -5};
        long[] beyond = {1L << 32, (1L << 32) - 5, Long.MIN_VALUE};
        LongStream refused = LongStream.of(beyond);
        LongStream all = refusals().checksBounds() ? LongStream.concat(LongStream.of(within), refused) : refused;
        for (long distance : all.toArray()) {
            assertRefused(QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE, true, distance);
            assertRefused(QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE, false, distance);
        }
    }

    @Test
    void shouldRefuseAccessThatTheTagDoesNotGrant() throws IOException {
        assumeTrue(provider().capabilities().exposure() != Capabilities.Exposure.PERSISTENT);
        assertRefused(QueuePair.ACCESS_REMOTE_READ, false, 0);
        if (refusals().checksRightToRead()) {
            assertRefused(QueuePair.ACCESS_REMOTE_WRITE, true, 0);
        }
    }

    private void assertRefused(int access, boolean read, long distance) throws IOException {
        connect();
        server.put(5000, "0123456789");
        client.put(300_000, "abcdefghij");
        int tag = server.queuePair.expose(server.region, 5000, 10, access);
        long offset = server.queuePair.remoteOffset(tag) + distance;
        SendWorkRequest work = read ? client.work().read(100, tag, offset) : client.work().write(100, tag, offset);
        client.post(work.addElement(client.region, 300_000, 10));
        pumpUntil(() -> client.isDisconnected() && server.isDisconnected());
        assertEquals("0123456789", server.get(5000, 10));
        if (read) { // a Write may be complete when it has left
            assertTrue(client.completions.stream().noneMatch(c -> c.status() == WorkCompletionStatus.SUCCESS));
            assertEquals("abcdefghij", client.get(300_000, 10));
        }
        client.queuePair.close();
        server.queuePair.close();
        client.clear();
        server.clear();
    }

    @Test
    void shouldExposeOnlyPiecesOfMemoryAndForTheRightsThereAre() throws IOException {
        connect();
        QueuePair queuePair = server.queuePair;
        int read = QueuePair.ACCESS_REMOTE_READ;
        assertThrows(IllegalArgumentException.class, () -> queuePair.expose(server.region, 0, 0, read));
        assertThrows(IllegalArgumentException.class, () -> queuePair.expose(server.region, 0, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> queuePair.expose(server.region, 0, 1, 4 | read));
        assertThrows(IndexOutOfBoundsException.class, () -> queuePair.expose(server.region, -1, 2, read));
        assertThrows(IndexOutOfBoundsException.class, () -> queuePair.expose(server.region, 1, VerbsSide.MEMORY_BYTES, read));
        queuePair.moveToError();
        assertThrows(IOException.class, () -> queuePair.expose(server.region, 0, 1, read));
    }

    @Test
    void shouldHaveNothingToWithdrawAfterTheEnd() throws IOException {
        connect();
        int tag = server.queuePair.expose(server.region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
        server.queuePair.moveToError();
        pumpUntil(server::isDisconnected);
        assertTrue(server.queuePair.invalidate(99, tag));
        assertTrue(server.queuePair.invalidate(99, tag));
        assertThrows(IllegalArgumentException.class, () -> server.queuePair.remoteOffset(tag));
        assertTrue(server.completions.stream().noneMatch(c -> c.id() == 99));
    }

    @Test
    void shouldKnowNoTagOfAnotherConnection() throws IOException {
        connect();
        QueuePair other = server.context.createQueuePair(ATTRIBUTES, server);
        int tag = server.queuePair.expose(server.region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
        assertThrows(IllegalArgumentException.class, () -> other.remoteOffset(tag));
        assertTrue(other.invalidate(99, tag));
        client.post(client.work().read(1, tag, server.queuePair.remoteOffset(tag)).addElement(client.region, 0, 10));
        assertCompletes(client, 1);
        other.close();
    }
}
