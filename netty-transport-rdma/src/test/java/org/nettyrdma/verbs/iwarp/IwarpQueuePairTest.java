package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/** Two queue pairs of the provider against each other. */
class IwarpQueuePairTest {

    private static final int READ_AND_WRITE = QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE;

    private IwarpTestPeer peer;
    private Endpoint client;
    private Endpoint server;

    @BeforeEach
    void setUp() throws IOException {
        peer = new IwarpTestPeer();
        peer.memoryBytes = 4 << 20;
    }

    @AfterEach
    void tearDown() {
        peer.close();
    }

    private void establish(QueuePairAttributes attributes) throws IOException {
        client = peer.connect(attributes);
        server = peer.accept(attributes);
        client.awaitEstablished();
        server.awaitEstablished();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 511, 512, 513, 4095, 65471, 65472, 65473, 1_000_001})
    void shouldDeliverASendOfAnySize(int length) throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        byte[] message = random(length);
        client.fill(100, message);
        server.receive(1, 7, length + 5);
        client.send(2, 100, length);
        client.expectCompletion(2, 0);
        server.expectCompletion(1, length);
        assertArrayEquals(message, server.bytes(7, length));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 513, 65473, 3_000_001})
    void shouldWriteAndReadMemoryOfThePeer(int length) throws IOException {
        establish(IwarpTestPeer.CHECKSUM);
        int tag = server.queuePair.expose(server.region, 11, Math.max(1, length), READ_AND_WRITE);
        byte[] data = random(length);
        client.fill(5, data);
        client.write(1, 5, length, tag, server.queuePair.remoteOffset(tag));
        client.fill(5, new byte[length]);
        client.read(2, 5, length, tag, server.queuePair.remoteOffset(tag));
        client.expectCompletion(1, 0);
        client.expectCompletion(2, length);
        assertArrayEquals(data, server.bytes(11, length));
        assertArrayEquals(data, client.bytes(5, length));
    }

    @Test
    void shouldEndInOrderWhenOneSideCloses() throws IOException {
        establish(IwarpTestPeer.ATTRIBUTES);
        server.receive(1, 0, 10).receive(2, 0, 10);
        client.send(3, 0, 10);
        client.queuePair.moveToError();
        server.expectCompletion(1, 10);
        assertNull(server.awaitDisconnect());
        server.expectFlushed(2);
        assertNull(client.awaitDisconnect());
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
