package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.testkit.Endpoint;
import org.nettyrdma.testkit.TransportFixture;
import org.nettyrdma.verbs.VerbsProvider;

class ConnectionEventTest extends TransportFixture {

    @TempDir
    private Path directory;

    @Override
    protected VerbsProvider provider() {
        return Rdma.provider("iwarp");
    }

    @Test
    void shouldRecordEachConnectionAtBothEndsWithTheCauseOfItsEnd() throws Exception {
        String local;
        String remote;
        try (Recording recording = new Recording()) {
            recording.enable(ConnectionEvent.class);
            recording.start();
            Connection connection = connect();
            RdmaChannel client = connection.client().channel();
            RdmaChannel server = connection.server().channel();
            local = client.localAddress().toString();
            remote = client.remoteAddress().toString();
            client.eventLoop().submit(() -> client.fail(new IOException("a cable"))).sync();
            Endpoint.await(client.closeFuture());
            Endpoint.await(server.closeFuture());
            recording.stop();
            recording.dump(directory.resolve("connections.jfr"));
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(directory.resolve("connections.jfr"));

        assertEquals(2, events.size(), events::toString);
        RecordedEvent client = ofLocal(local, events);
        assertEquals("org.nettyrdma.Connection", client.getEventType().getName());
        assertEquals("iwarp", client.getString("provider"));
        assertEquals(remote, client.getString("remote"));
        assertEquals("java.io.IOException: a cable", client.getString("cause"));
        assertTrue(client.getDuration().toNanos() > 0);
        assertEquals(local, ofLocal(remote, events).getString("remote"));
    }

    @Test
    void shouldRecordNoCauseForAnEndInOrder() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable(ConnectionEvent.class);
            recording.start();
            Connection connection = connect();
            Endpoint.await(connection.client().channel().close());
            Endpoint.await(connection.server().channel().closeFuture());
            recording.stop();
            recording.dump(directory.resolve("connections.jfr"));
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(directory.resolve("connections.jfr"));

        assertEquals(2, events.size(), events::toString);
        events.forEach(event -> assertNull(event.getString("cause")));
    }

    private static RecordedEvent ofLocal(String address, List<RecordedEvent> events) {
        return events.stream().filter(event -> event.getString("local").equals(address)).findFirst().orElseThrow();
    }
}
