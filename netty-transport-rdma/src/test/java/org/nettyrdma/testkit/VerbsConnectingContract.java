package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.testkit.PrivateData.assertArrived;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** Listening, asking for a connection, accepting and rejecting. A part of {@link VerbsContract}. */
public abstract class VerbsConnectingContract extends VerbsFixture {

    private static final byte[] REQUEST_DATA = {1, 2, 3, 4, 5};
    private static final byte[] REPLY_DATA = {9, 8, 7};

    /** What can be sent along with a connection of this provider: all of the data, or nothing. */
    private byte[] sendable(byte[] data) {
        return provider().capabilities().maxPrivateDataBytes() == 0 ? new byte[0] : data;
    }

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

    /** As an event loop does that serves the connections of its server. */
    @Test
    void shouldTakeUpARequestInsideOfTheCallThatTellsOfIt() throws IOException {
        ConnectionListener other = server.context.listen(new InetSocketAddress(TestAddress.LOCAL, 0), 1, LISTEN,
                new ConnectionListener.Handler() {
                    @Override
                    public void connectionRequested(ConnectionRequest request) {
                        try {
                            server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, request);
                            server.postReceive(0);
                            server.queuePair.accept(NO_DATA);
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                    }

                    @Override
                    public void acceptFailed(Throwable cause) {
                        throw new AssertionError(cause);
                    }
                });
        other.setAccepting(true);
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        client.queuePair.connect(other.localAddress(), null, NO_DATA);
        pumpUntil(() -> client.isEstablished() && server.isEstablished());
        client.post(client.work().send(1).addElement(client.region, 0, 1));
        assertCompletes(server, 0);
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
    void shouldRejectARequestWhoseQueuePairIsClosedWithoutAnAnswer() throws IOException {
        request(new byte[0]);
        server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, requests.remove());
        server.queuePair.close();
        pumpUntil(() -> client.events.contains("connectFailed"));
        assertInstanceOf(ConnectException.class, client.cause);
    }

    @Test
    void shouldRejectARequestThatItCannotTakeUp() throws IOException {
        request(new byte[0]);
        int tooMany = Integer.MAX_VALUE;
        assertThrows(Throwable.class, () -> server.context.createQueuePair(
                new QueuePairAttributes(tooMany, tooMany, 4, 4, false, 1000), server, requests.remove()));
        pumpUntil(() -> client.events.contains("connectFailed"));
        assertInstanceOf(ConnectException.class, client.cause);
        assertEquals(List.of(), server.events);
    }

    @Test
    void shouldFailToConnectWhereNobodyListens() throws IOException {
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        try (Socket taken = new Socket()) { // or another process could listen there meanwhile
            taken.bind(new InetSocketAddress(TestAddress.LOCAL, 0));
            client.queuePair.connect(taken.getLocalSocketAddress(), null, NO_DATA);
            pumpUntil(() -> client.events.contains("connectFailed"));
        } catch (ConnectException e) {
            return; // a provider may know at once
        }
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

    @Test
    void shouldRefuseMorePrivateDataThanItCanSend() throws IOException {
        byte[] most = new byte[provider().capabilities().maxPrivateDataBytes()];
        ByteBuffer more = ByteBuffer.allocate(most.length + 1);
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        assertThrows(IllegalArgumentException.class, () -> client.queuePair.connect(listener.localAddress(), null, more));
        client.queuePair.connect(listener.localAddress(), null, ByteBuffer.wrap(most));
        pumpUntil(() -> !requests.isEmpty());
        assertArrived(most, VerbsSide.bytes(requests.element().privateData()));
        server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, requests.remove());
        assertThrows(IllegalArgumentException.class, () -> server.queuePair.accept(more));
        server.queuePair.accept(ByteBuffer.wrap(most));
        pumpUntil(() -> client.isEstablished() && server.isEstablished());
        assertArrived(most, VerbsSide.bytes(client.parameters.privateData()));
    }

    @Test
    void shouldRefuseMorePrivateDataThanItCanRejectWith() throws IOException {
        byte[] most = new byte[provider().capabilities().maxPrivateDataBytes()];
        request(new byte[0]);
        ConnectionRequest request = requests.remove();
        assertThrows(IllegalArgumentException.class, () -> request.reject(ByteBuffer.allocate(most.length + 1)));
        request.reject(ByteBuffer.wrap(most));
        pumpUntil(() -> client.events.contains("connectFailed"));
        assertArrived(most, client.rejection);
    }

    @Test
    void shouldLeaveTheBufferOfPrivateDataAlone() throws IOException {
        ByteBuffer data = ByteBuffer.wrap(new byte[] {9, 1, 2, 9});
        data.position(1).limit(provider().capabilities().maxPrivateDataBytes() == 0 ? 1 : 3);
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        client.queuePair.connect(listener.localAddress(), null, data);
        assertEquals(1, data.position());
        data.array()[1] = 7;
        pumpUntil(() -> !requests.isEmpty());
        ConnectionRequest request = requests.remove();
        assertArrived(sendable(new byte[] {1, 2}), VerbsSide.bytes(request.privateData()));
        assertTrue(request.privateData().isReadOnly());
        request.reject(NO_DATA); // an attempt without an answer ends with its time-out on siw
        pumpUntil(() -> client.events.contains("connectFailed"));
    }

    @Test
    void shouldAnswerARequestOnce() throws IOException {
        request(new byte[0]);
        ConnectionRequest request = requests.element();
        accept(server, new byte[0]);
        assertThrows(IOException.class, () -> server.context.createQueuePair(ATTRIBUTES, server, request));
        request.reject(NO_DATA);
        client.post(client.work().send(1).addElement(client.region, 0, 10));
        assertEquals(10, nextCompletion(server).byteLength());
    }

    @Test
    void shouldConnectOrAcceptOnce() throws IOException {
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        assertThrows(IllegalStateException.class, () -> client.queuePair.accept(NO_DATA));
        client.queuePair.connect(listener.localAddress(), null, NO_DATA);
        assertThrows(IllegalStateException.class, () -> client.queuePair.connect(listener.localAddress(), null, NO_DATA));
        pumpUntil(() -> !requests.isEmpty());
        server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, requests.remove());
        assertThrows(IllegalStateException.class, () -> server.queuePair.connect(listener.localAddress(), null, NO_DATA));
        server.postReceive(0);
        server.queuePair.accept(NO_DATA);
        assertThrows(IllegalStateException.class, () -> server.queuePair.accept(NO_DATA));
        pumpUntil(() -> client.isEstablished() && server.isEstablished());
        client.post(client.work().send(1).addElement(client.region, 0, 10));
        assertEquals(10, nextCompletion(server).byteLength());
    }

    @Test
    void shouldTellThatThePeerLeftBeforeTheAnswer() throws IOException {
        request(new byte[0]);
        client.queuePair.close();
        try {
            server.queuePair = server.context.createQueuePair(ATTRIBUTES, server, requests.remove());
            server.postReceive(0);
            server.queuePair.accept(NO_DATA);
        } catch (IOException e) {
            return; // a provider may know at once
        }
        pumpUntil(() -> server.completions.size() == 1 && (server.isDisconnected() || server.events.contains("connectFailed")));
        assertTrue(server.events.equals(List.of("connectFailed"))
                || server.events.equals(List.of("established", "disconnected")), server.events::toString);
        assertEquals(WorkCompletionStatus.WORK_REQUEST_FLUSHED, server.completions.remove().status());
    }

    @Test
    void shouldKeepTheRequestsThatAClosedListenerHasDelivered() throws IOException {
        request(new byte[0]);
        listener.close();
        listener.close();
        accept(server, new byte[0]);
        client.post(client.work().send(1).addElement(client.region, 0, 10));
        assertEquals(10, nextCompletion(server).byteLength());
    }

    @Test
    void shouldDropTheRequestsThatAClosedListenerHasNotDelivered() throws IOException {
        listener.setAccepting(false);
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        client.queuePair.connect(listener.localAddress(), null, NO_DATA);
        for (int i = 0; i < 100; i++) {
            client.poll();
            server.poll();
        }
        listener.close();
        pumpUntil(() -> client.events.contains("connectFailed"));
        assertTrue(requests.isEmpty());
    }

    @Test
    void shouldRefuseAddressesThatAreNotResolved() throws IOException {
        SocketAddress unresolved = InetSocketAddress.createUnresolved("name.invalid", 2049);
        assertThrows(IOException.class, () -> server.context.listen(unresolved, 16, LISTEN, null));
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        assertThrows(IOException.class, () -> client.queuePair.connect(unresolved, null, NO_DATA));
        try {
            client.queuePair.connect(listener.localAddress(), unresolved, NO_DATA);
        } catch (IOException e) {
            return; // a provider need not know at once
        }
        pumpUntil(() -> client.events.contains("connectFailed"));
    }
}
