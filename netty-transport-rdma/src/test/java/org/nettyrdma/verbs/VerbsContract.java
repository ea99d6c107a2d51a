package org.nettyrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.nettyrdma.testing.PrivateData.assertArrived;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testing.TestAddress;
import org.nettyrdma.verbs.VerbsSide.Completion;

/**
 * What every provider must do, without a channel: both ends of a connection are driven by the test's own thread. To run it on
 * another provider, extend this and override one method.
 */
abstract class VerbsContract {

    private static final long TIMEOUT_SECONDS = 30;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(TestAddress.LOCAL, 0);
    private static final ListenAttributes LISTEN = new ListenAttributes(5000, 1024, 0, true);
    private static final int QUEUE_DEPTH = 8;
    private static final QueuePairAttributes ATTRIBUTES = new QueuePairAttributes(QUEUE_DEPTH, QUEUE_DEPTH, 4, 4, false, 1000);
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);
    private static final byte[] REQUEST_DATA = {1, 2, 3, 4, 5};
    private static final byte[] REPLY_DATA = {9, 8, 7};

    private VerbsSide client;
    private VerbsSide server;
    private ConnectionListener listener;
    private final Queue<ConnectionRequest> requests = new ArrayDeque<>();
    private final Queue<Throwable> acceptFailures = new ArrayDeque<>();

    abstract VerbsProvider provider();

    @BeforeEach
    void open() throws IOException {
        client = new VerbsSide(provider());
        server = new VerbsSide(provider());
        listener = server.context.listen(ANY_PORT, 16, LISTEN, new ConnectionListener.Handler() {
            @Override
            public void connectionRequested(ConnectionRequest request) {
                requests.add(request);
            }

            @Override
            public void acceptFailed(Throwable cause) {
                acceptFailures.add(cause);
            }
        });
        listener.setAccepting(true);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        assertTrue(acceptFailures.isEmpty());
    }

    private void pumpUntil(BooleanSupplier condition) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (client.poll() + server.poll() == 0) {
                client.context.await(100_000);
            }
            assertTrue(System.nanoTime() - deadlineNanos < 0, "client " + client.events + ' ' + client.completions + ", server "
                    + server.events + ' ' + server.completions);
        }
    }

    private void request(byte[] privateData) throws IOException {
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        for (int i = 0; i < QUEUE_DEPTH / 2; i++) {
            client.postReceive(i);
        }
        client.queuePair.connect(listener.localAddress(), null, ByteBuffer.wrap(privateData));
        pumpUntil(() -> !requests.isEmpty());
    }

    private void accept(VerbsSide by, byte[] privateData) throws IOException {
        by.queuePair = by.context.createQueuePair(ATTRIBUTES, by, requests.remove());
        for (int i = 0; i < QUEUE_DEPTH / 2; i++) {
            by.postReceive(i);
        }
        by.queuePair.accept(ByteBuffer.wrap(privateData));
        pumpUntil(() -> client.isEstablished() && by.isEstablished());
    }

    /** What can be sent along with a connection of this provider: all of the data, or nothing. */
    private byte[] sendable(byte[] data) {
        return provider().capabilities().maxPrivateDataBytes() == 0 ? new byte[0] : data;
    }

    private void connect() throws IOException {
        request(new byte[0]);
        accept(server, new byte[0]);
    }

    private void assertCompletes(VerbsSide side, long id) throws IOException {
        pumpUntil(() -> !side.completions.isEmpty());
        Completion completion = side.completions.remove();
        assertEquals(id, completion.id());
        assertEquals(WorkCompletionStatus.SUCCESS, completion.status());
    }

    private Completion nextCompletion(VerbsSide side) throws IOException {
        pumpUntil(() -> !side.completions.isEmpty());
        return side.completions.remove();
    }

    // --- Provider

    @Test
    void shouldDescribeItself() {
        Capabilities capabilities = provider().capabilities();
        assertNull(provider().unavailabilityCause());
        assertTrue(provider().name().matches("[a-z0-9-]+"));
        assertTrue(capabilities.maxGatherElements() >= 1);
        assertTrue(capabilities.maxReadScatterElements() >= 1);
        assertTrue(capabilities.maxQueueDepth() >= 1024);
        assertTrue(capabilities.maxReadDepth() >= 1 && capabilities.maxReadDepth() <= 16383);
        assertTrue(capabilities.maxMessageBytes() >= 1 << 20);
        assertTrue(capabilities.maxPrivateDataBytes() == 0 || capabilities.maxPrivateDataBytes() >= 8);
    }

    @Test
    void shouldRegisterDirectMemoryOnly() throws IOException {
        assertThrows(IllegalArgumentException.class, () -> provider().registerMemory(ByteBuffer.allocate(10)));
        ByteBuffer memory = ByteBuffer.allocateDirect(10);
        MemoryRegion region = provider().registerMemory(memory);
        assertEquals(10, region.memory().capacity());
        region.close();
    }

    // --- Connecting

    @Test
    void shouldAgreeOnTheParametersOfTheConnection() throws IOException {
        request(sendable(REQUEST_DATA));
        ConnectionRequest request = requests.element();
        assertArrived(sendable(REQUEST_DATA), VerbsSide.bytes(request.privateData()));
        assertEquals(listener.localAddress(), request.localAddress());
        accept(server, sendable(REPLY_DATA));
        assertArrived(sendable(REPLY_DATA), VerbsSide.bytes(client.parameters.privateData()));
        assertTrue(client.parameters.privateData().isReadOnly());
        assertEquals(4, client.parameters.outboundReadDepth());
        assertEquals(4, server.parameters.inboundReadDepth());
        assertFalse(client.parameters.checksum() || server.parameters.checksum());
        assertEquals(listener.localAddress(), client.queuePair.remoteAddress());
        assertEquals(client.queuePair.localAddress(), server.queuePair.remoteAddress());
        assertEquals(List.of("established"), client.events);
        assertEquals(List.of("established"), server.events);
    }

    @Test
    void shouldLetAnotherContextTakeUpARequest() throws IOException {
        try (VerbsSide other = new VerbsSide(provider())) {
            request(new byte[0]);
            other.queuePair = other.context.createQueuePair(ATTRIBUTES, other, requests.remove());
            other.postReceive(0);
            other.queuePair.accept(NO_DATA);
            long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
            while (!client.isEstablished() || !other.isEstablished()) {
                client.poll();
                server.poll();
                other.poll();
                assertTrue(System.nanoTime() - deadlineNanos < 0);
            }
        }
        pumpUntil(client::isDisconnected);
    }

    @Test
    void shouldTellARejectionAndItsPrivateData() throws IOException {
        request(sendable(REQUEST_DATA));
        ConnectionRequest request = requests.remove();
        request.reject(ByteBuffer.wrap(sendable(REPLY_DATA)));
        request.reject(NO_DATA);
        pumpUntil(() -> client.events.contains("connectFailed"));
        assertInstanceOf(ConnectException.class, client.cause);
        assertArrived(sendable(REPLY_DATA), client.rejection);
        pumpUntil(() -> client.completions.size() == QUEUE_DEPTH / 2);
        assertTrue(client.completions.stream().allMatch(c -> c.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED));
    }

    @Test
    void shouldFailToConnectWhereNobodyListens() throws IOException {
        SocketAddress nobody;
        try (ServerSocket free = new ServerSocket(0, 1, TestAddress.LOCAL)) {
            nobody = free.getLocalSocketAddress();
        }
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        try {
            client.queuePair.connect(nobody, null, NO_DATA);
        } catch (ConnectException e) {
            return; // a provider may know at once
        }
        pumpUntil(() -> client.events.contains("connectFailed"));
        assertInstanceOf(ConnectException.class, client.cause);
        assertEquals(List.of("connectFailed"), client.events);
    }

    @Test
    void shouldNotTakeUpRequestsWhileNotAccepting() throws IOException {
        listener.setAccepting(false);
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        client.queuePair.connect(listener.localAddress(), null, NO_DATA);
        long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50);
        while (System.nanoTime() - endNanos < 0) {
            client.poll();
            server.poll();
            assertTrue(requests.isEmpty());
        }
        listener.setAccepting(true);
        pumpUntil(() -> !requests.isEmpty());
        accept(server, new byte[0]);
    }

    @Test
    void shouldRefuseAnAddressInUse() {
        assertThrows(IOException.class, () -> client.context.listen(listener.localAddress(), 16, LISTEN, null));
    }

    @Test
    void shouldListenAgainWhileConnectionsOfAnEarlierListenerStand() throws IOException {
        connect();
        SocketAddress address = listener.localAddress();
        listener.close();
        pumpUntil(() -> listens(address)); // a provider may need a poll to close its listener
        client.post(client.work().send(1).addElement(client.region, 0, 10));
        assertEquals(10, nextCompletion(server).byteLength());
    }

    private boolean listens(SocketAddress address) {
        try {
            return server.context.listen(address, 16, LISTEN, null).localAddress().equals(address);
        } catch (IOException e) {
            return false;
        }
    }

    // --- Messages

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

    // --- Remote memory

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

    // --- The end

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

    // --- Polling and sleeping

    @Test
    void shouldDeliverNoMoreThanAskedFor() throws IOException {
        connect();
        for (int i = 0; i < 4; i++) {
            client.queuePair.postSend(client.work().send(i).addElement(client.region, 0, 1));
        }
        client.queuePair.flush();
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (server.completions.size() < 4) {
            int before = server.completions.size();
            server.context.poll(server, 1);
            assertTrue(server.completions.size() - before <= 1);
            client.poll();
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
    }

    @Test
    void shouldKeepEventsWhenTheHandlerThrows() throws IOException {
        connect();
        for (int i = 0; i < 4; i++) {
            client.queuePair.postSend(client.work().send(i).addElement(client.region, 0, 1));
        }
        client.queuePair.flush();
        int[] thrown = {0};
        CompletionHandler failing = (id, status, byteLength, invalidated, tag, vendorError) -> {
            thrown[0]++;
            throw new IllegalStateException("handler is broken");
        };
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (thrown[0] == 0) {
            try {
                server.context.poll(failing, 64);
            } catch (IllegalStateException e) {
                assertEquals("handler is broken", e.getMessage());
            }
            client.poll();
            assertTrue(System.nanoTime() - deadlineNanos < 0);
        }
        pumpUntil(() -> server.completions.size() == 3);
        assertEquals(1, server.completions.remove().id());
    }

    @Test
    void shouldSleepNoLongerThanAsked() throws IOException {
        long startNanos = System.nanoTime();
        client.context.await(TimeUnit.MILLISECONDS.toNanos(20));
        assertTrue(System.nanoTime() - startNanos < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        assertEquals(0, client.poll());
    }

    @Test
    void shouldCountAWakeUpThatCameBefore() throws IOException {
        client.context.wakeup();
        long startNanos = System.nanoTime();
        client.context.await(TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS));
        assertTrue(System.nanoTime() - startNanos < TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS) / 2);
    }

    @Test
    void shouldBeWokenByAnotherThread() throws Exception {
        for (int i = 0; i < 50; i++) {
            CountDownLatch ready = new CountDownLatch(1);
            Thread waker = new Thread(() -> {
                ready.countDown();
                client.context.wakeup();
            });
            waker.start();
            ready.await();
            client.context.await(-1);
            waker.join();
            client.poll();
        }
    }

    @Test
    void shouldBeWokenByAMessage() throws Exception {
        connect();
        Thread sender = new Thread(() -> {
            try {
                client.post(client.work().send(1).addElement(client.region, 0, 5));
                while (client.completions.isEmpty()) {
                    client.poll();
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        });
        sender.start();
        while (server.completions.isEmpty()) {
            if (server.poll() == 0) {
                server.context.await(-1);
            }
        }
        sender.join();
        assertEquals(5, server.completions.remove().byteLength());
    }
}
