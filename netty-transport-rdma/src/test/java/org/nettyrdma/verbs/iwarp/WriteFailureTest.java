package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.verbs.MemoryRegion;

/** The system refuses what is to be sent, while the connection itself is sound: the peer keeps it open and is silent. */
class WriteFailureTest extends RawConnectionFixture {

    private static final int FILE_BYTES = 8192;
    private static final String SEND = "0016 4143 00000000 00000000 %08x 00000000 01020304" + CRC_OFF;

    @TempDir
    private Path directory;
    /** A file that has become shorter since it was mapped. */
    private MemoryRegion gone;

    @BeforeEach
    void mapFile() throws IOException {
        try (FileChannel file = FileChannel.open(directory.resolve("data"), StandardOpenOption.CREATE, StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            MappedByteBuffer mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, FILE_BYTES);
            gone = peer.provider.registerMemory(mapped);
            file.truncate(0);
        }
    }

    private void sendWhatIsGone(int id) throws IOException {
        endpoint.post(endpoint.request.send(endpoint.id(id)).addElement(gone, 0, FILE_BYTES));
    }

    @Test
    void shouldEndASoundConnectionThatCannotSend() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        peer.settle();
        sendWhatIsGone(1);
        assertNotNull(endpoint.awaitDisconnect());
        endpoint.expectFlushed(1);
    }

    @Test
    void shouldEndASoundConnectionThatCannotSendAndWaitsForAReceive() throws IOException {
        connect();
        raw.send(EMPTY_WRITE + String.format(SEND, 1));
        peer.pump("the Send", () -> peer.provider.statistics().receiveWaits() == 1);
        sendWhatIsGone(1);
        assertNotNull(endpoint.awaitDisconnect());
    }

    /** What the peer has sent before it is told of is delivered. */
    @Test
    void shouldDeliverWhatHasArrivedOnAConnectionThatCannotSend() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        peer.settle();
        endpoint.receive(1, 0, 16).receive(2, 16, 16);
        raw.send(String.format(SEND, 1) + String.format(SEND, 2));
        sendWhatIsGone(3);
        endpoint.expectCompletion(1, 4);
        endpoint.expectCompletion(2, 4);
        assertNotNull(endpoint.awaitDisconnect());
        endpoint.expectFlushed(3);
    }

    /** Why the peer has ended the connection says more than that nothing can be sent on it. */
    @Test
    void shouldTellATerminateThatArrivedBeforeTheSendingFailed() throws IOException {
        connect();
        raw.send(EMPTY_WRITE);
        peer.settle();
        raw.send("0016 4147 00000000 00000002 00000001 00000000 01010000" + CRC_OFF);
        raw.reset();
        endpoint.send(1, 0, 4);
        assertInstanceOf(PeerTerminatedException.class, endpoint.awaitDisconnect());
        assertTrue(endpoint.completions.isEmpty() || endpoint.completions.remove().id() == 1);
        assertEquals(1, peer.provider.statistics().terminatesReceived());
    }
}
