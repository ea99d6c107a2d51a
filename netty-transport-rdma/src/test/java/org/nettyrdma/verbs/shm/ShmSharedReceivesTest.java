package org.nettyrdma.verbs.shm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
import org.nettyrdma.verbs.shm.ShmSide.SharedCompletion;

/** One queue of receives for several connections over shared memory, and over TCP beside it. Buffers have 1 KiB. */
class ShmSharedReceivesTest {

    private static final int SEND = 1;
    private static final int DEPTH = 64;
    private static final int BUFFER_BYTES = 1024;

    @TempDir
    private Path temporary;
    private final List<AutoCloseable> opened = new ArrayList<>();
    private ShmSettings settings;
    private ShmSide side;
    private SocketAddress address;
    private SharedReceiveQueue queue;

    private void listen(boolean beside) throws IOException {
        settings = new ShmSettings(temporary.resolve("shm"), Set.of());
        side = new ShmSide(beside ? new SameHostProvider(settings) : new ShmProvider(settings));
        address = side.listen();
        queue = side.context.createSharedReceiveQueue(DEPTH);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        side.close();
    }

    private QueuePairAttributes attributes(int number) {
        return new QueuePairAttributes(64, 1, 4, 4, false, 1000, queue, number);
    }

    /** One whose connection has this number. */
    private HostileShmPeer peer(int number) throws IOException {
        HostileShmPeer peer = new HostileShmPeer(settings, address);
        opened.add(peer);
        side.accept(attributes(number), 0);
        assertTrue(side.established);
        return peer;
    }

    private void post(int first, int count) throws IOException {
        for (int id = first; id < first + count; id++) {
            queue.postReceive(id, side.region, id * BUFFER_BYTES, BUFFER_BYTES);
        }
    }

    private static void send(HostileShmPeer peer, int bytes) {
        peer.entry(SEND, 1, 0, 0, bytes, peer.block, 0, bytes);
    }

    private void pollAWhile() throws IOException {
        for (int i = 0; i < 1000; i++) {
            side.context.poll(side, 64);
        }
    }

    private long countOf(int number) {
        return side.sharedCompletions.stream().filter(each -> each.queuePairNumber() == number).count();
    }

    private void awaitCompletions(int count) throws IOException {
        side.awaitTrue(() -> side.sharedCompletions.size() >= count);
        assertEquals(count, side.sharedCompletions.size());
    }

    @Test
    void shouldUseTheBufferThatWasPostedLast() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(7);
        post(0, 3);
        send(peer, 100);
        awaitCompletions(1);
        assertEquals(List.of(new SharedCompletion(7, 2, WorkCompletionStatus.SUCCESS, 100)), side.sharedCompletions);
        assertEquals(HostileShmPeer.SENTINEL, side.memory.get(2 * BUFFER_BYTES + 99));
        assertEquals(0, side.memory.get(2 * BUFFER_BYTES + 100));
    }

    @Test
    void shouldTakeNoMoreThanAllowed() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(1);
        QueuePair held = side.queuePair;
        held.allowReceives(2);
        post(0, 5);
        for (int i = 0; i < 5; i++) {
            send(peer, 10);
        }
        awaitCompletions(2);
        pollAWhile();
        assertEquals(2, side.sharedCompletions.size());
        HostileShmPeer other = peer(2);
        send(other, 10);
        awaitCompletions(3); // nobody else is held back
        held.allowReceives(4);
        awaitCompletions(5);
        pollAWhile();
        assertEquals(4, countOf(1));
    }

    @Test
    void shouldServeInTurnThoseThatWait() throws IOException {
        listen(false);
        HostileShmPeer greedy = peer(1);
        HostileShmPeer modest = peer(2);
        for (int i = 0; i < 40; i++) {
            send(greedy, 10);
        }
        pollAWhile();
        send(modest, 10);
        pollAWhile();
        post(0, 33);
        side.awaitTrue(() -> countOf(2) == 1);
        assertEquals(32, countOf(1)); // one turn
        post(0, 31);
        awaitCompletions(41);
    }

    @Test
    void shouldGiveBackWhatABrokenMessageWasToGetInto() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(1);
        post(0, 2);
        peer.entry(SEND, 1, 0, 0, 8, 123_456_789, 0, 8);
        side.awaitTrue(() -> side.ended);
        awaitCompletions(1);
        assertEquals(new SharedCompletion(1, 1, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0), side.sharedCompletions.get(0));
        side.queuePair.close();
        queue.close();
    }

    /** As JDK 17 tells of it when the peer has truncated what was copied before. */
    @Test
    void shouldLoseNoReceiveToAnErrorThatComesLate() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(1);
        AtomicBoolean failing = new AtomicBoolean();
        MemoryRegion region = new MemoryRegion() {
            @Override
            public ByteBuffer memory() {
                if (failing.getAndSet(false)) {
                    throw new InternalError("a fault occurred in a recent unsafe memory access operation in compiled Java code");
                }
                return side.memory;
            }

            @Override
            public void close() {
                // Belongs to the other one.
            }
        };
        queue.postReceive(0, region, 0, BUFFER_BYTES);
        failing.set(true);
        send(peer, 10);
        side.awaitTrue(() -> side.ended);
        assertEquals(List.of(), side.sharedCompletions);
        send(peer(2), 20);
        awaitCompletions(1);
        assertEquals(List.of(new SharedCompletion(2, 0, WorkCompletionStatus.SUCCESS, 20)), side.sharedCompletions);
    }

    @Test
    void shouldFailTheReceiveThatIsTooShort() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(1);
        post(0, 2);
        send(peer, 10);
        send(peer, BUFFER_BYTES + 1);
        side.awaitTrue(() -> side.ended);
        awaitCompletions(2);
        assertEquals(List.of(new SharedCompletion(1, 1, WorkCompletionStatus.SUCCESS, 10),
                new SharedCompletion(1, 0, WorkCompletionStatus.LOCAL_LENGTH_ERROR, 0)), side.sharedCompletions);
    }

    @Test
    void shouldForgetWhoWaitsAndEnds() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(1);
        QueuePair waiting = side.queuePair;
        send(peer, 10);
        pollAWhile();
        waiting.close();
        peer(2);
        post(0, 1);
        pollAWhile();
        assertTrue(side.sharedCompletions.isEmpty());
        assertFalse(side.ended);
    }

    @Test
    void shouldServeConnectionsOverTcpFromTheSameQueue() throws IOException {
        listen(true);
        post(0, 4);
        ShmSide near = client(new SameHostProvider(settings), 1);
        assertEquals("shm", near.queuePair.carrier());
        ShmSide far = client(new IwarpProvider(), 2);
        near.send(100);
        far.send(200);
        side.awaitTrue(() -> side.sharedCompletions.size() == 2);
        assertEquals(1, countOf(1));
        assertEquals(1, countOf(2));
        assertEquals(Set.of(3L, 2L), Set.of(side.sharedCompletions.get(0).id(), side.sharedCompletions.get(1).id()));
    }

    private ShmSide client(VerbsProvider provider, int number) throws IOException {
        ShmSide client = new ShmSide(provider);
        opened.add(client);
        client.connect(address, 8);
        while (side.requests.isEmpty()) {
            client.context.poll(client, 64);
            side.context.poll(side, 64);
        }
        side.accept(attributes(number), 0);
        client.awaitTrue(() -> client.established);
        return client;
    }

    @Test
    void shouldUseTheQueueBeforeItIsKnownWhatCarriesTheConnection() throws IOException {
        listen(true);
        SameHostProvider provider = new SameHostProvider(settings);
        ShmSide client = new ShmSide(provider);
        opened.add(client);
        SharedReceiveQueue atClient = client.context.createSharedReceiveQueue(4);
        atClient.postReceive(0, client.region, 0, BUFFER_BYTES);
        atClient.postReceive(1, client.region, BUFFER_BYTES, BUFFER_BYTES);
        QueuePair asking = client.context.createQueuePair(new QueuePairAttributes(64, 1, 4, 4, false, 1000, atClient, 5), client);
        client.open(asking, 0);
        assertThrows(IllegalStateException.class, atClient::close);
        assertThrows(IllegalStateException.class, () -> asking.postReceive(0, client.region, 0, 1));
        asking.allowReceives(1);
        asking.connect(address, null, ByteBuffer.allocate(0));
        while (side.requests.isEmpty()) {
            client.context.poll(client, 64);
            side.context.poll(side, 64);
        }
        side.accept(attributes(6), 0);
        client.awaitTrue(() -> client.established);
        side.send(10);
        side.send(10);
        client.awaitTrue(() -> !client.sharedCompletions.isEmpty());
        for (int i = 0; i < 1000; i++) {
            client.context.poll(client, 64);
            side.context.poll(side, 64);
        }
        assertEquals(List.of(new SharedCompletion(5, 1, WorkCompletionStatus.SUCCESS, 10)), client.sharedCompletions);
        asking.close();
        atClient.close();
    }

    /** What was taken for a peer that has ended the connection is flushed before the next connection takes anything. */
    @Test
    void shouldServeOthersAfterAPeerThatEndsWithMoreThanATurnTakes() throws IOException {
        listen(false);
        HostileShmPeer peer = peer(1);
        post(0, DEPTH);
        side.send(100);
        pollAWhile();
        side.context.await(1);
        for (int i = 0; i < Exchange.MAX_MESSAGES_PER_TURN + 8; i++) {
            peer.entryWithoutWakeUp(SEND, 0, 0, 0, 0);
        }
        ControlLayout.LONG.setRelease(peer.control, ControlLayout.CONSUMED_OFFSET, 1L); // so that each look finds work
        ControlLayout.INT.setRelease(peer.control, ControlLayout.END_CODE_OFFSET, EndReason.CLOSED.code());
        peer.die();
        side.awaitTrue(() -> side.ended);
        pollAWhile();
        assertTrue(side.sharedCompletions.stream().allMatch(each -> each.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED));
        side.sharedCompletions.clear();
        HostileShmPeer honest = peer(2);
        send(honest, 100);
        awaitCompletions(1);
        assertEquals(2, side.sharedCompletions.get(0).queuePairNumber());
        assertEquals(100, side.sharedCompletions.get(0).byteLength());
    }
}
