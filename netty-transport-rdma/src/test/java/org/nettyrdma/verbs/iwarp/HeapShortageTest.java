package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.testing.Jvm;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Completion;
import org.nettyrdma.verbs.iwarp.IwarpTestPeer.Endpoint;

/** A connection ends where there is no heap to tell of that, in a JVM of its own. */
class HeapShortageTest {

    @Test
    void shouldEndThoughThereIsNoMemoryToTell() throws Exception {
        Process process = new ProcessBuilder(Jvm.command(List.of("-Xmx48m", "-XX:+UseSerialGC"), Program.class))
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(0, process.exitValue(), output);
    }

    /** Leaves no room to deliver anything, ends a connection, and gives the memory back. */
    static final class Program {

        private static final int DELIVERIES = 1 << 15;
        private static final int PIECE_BYTES = 1 << 16;
        private static final int SPARE_PIECES = 8;

        public static void main(String[] arguments) throws IOException {
            try (IwarpTestPeer peer = new IwarpTestPeer()) {
                Endpoint client = peer.connect(IwarpTestPeer.ATTRIBUTES);
                Endpoint server = peer.accept(IwarpTestPeer.ATTRIBUTES);
                client.awaitEstablished();
                server.awaitEstablished();
                client.receive(1, 0, 10).receive(2, 0, 10);
                server.receive(3, 0, 10).receive(4, 0, 10);
                int tag = client.queuePair.expose(client.region, 0, 10, QueuePair.ACCESS_REMOTE_WRITE);
                peer.settle();
                client.queuePair.postSend(client.request.send(client.id(3)).addElement(client.region, 0, 10));
                client.queuePair.postSend(client.request.send(client.id(4)).addElement(client.region, 0, 10));
                for (int i = 0; i < DELIVERIES; i++) {
                    peer.clientParts.deliveries().event(() -> { });
                }
                List<byte[]> hoard = hoard();
                assertThrows(OutOfMemoryError.class, client.queuePair::moveToError);
                hoard.clear();
                server.awaitDisconnect();
                assertThrows(IllegalArgumentException.class, () -> client.queuePair.remoteOffset(tag));
                assertFalse(client.disconnected);
                client.queuePair.moveToError();
                client.awaitDisconnect();
                peer.settle();
                assertEquals(List.of(flushed(3), flushed(4), flushed(1), flushed(2)), List.copyOf(client.completions));
            }
        }

        private static Completion flushed(int id) {
            return new Completion(id, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, false, 0);
        }

        /** Takes all but a little, which is too little for more deliveries. */
        private static List<byte[]> hoard() {
            List<byte[]> hoard = new ArrayList<>(DELIVERIES);
            try {
                while (true) {
                    hoard.add(new byte[PIECE_BYTES]);
                }
            } catch (OutOfMemoryError e) {
                for (int i = 0; i < SPARE_PIECES; i++) {
                    hoard.remove(hoard.size() - 1);
                }
            }
            return hoard;
        }
    }
}
