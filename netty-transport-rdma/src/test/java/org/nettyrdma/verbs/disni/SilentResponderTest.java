package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;

/** An iWARP device on which a responder could send before the initiator has. */
class SilentResponderTest {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);

    private final StubVerbs verbs = new StubVerbs();
    private final List<String> delivered = new ArrayList<>();
    private DisniContext context;
    private StubConnection connection;

    @BeforeEach
    void accept() throws IOException {
        verbs.iwarp = true;
        Device device = StubConnection.device(verbs);
        context = new DisniContext(device);
        connection = newConnection(device);
    }

    private StubConnection newConnection(Device device) throws IOException {
        DisniListener listener = (DisniListener) context.listen(ADDRESS, 1, null, new ConnectionListener.Handler() {
            @Override
            public void connectionRequested(ConnectionRequest request) { }

            @Override
            public void acceptFailed(Throwable cause) {
                throw new AssertionError(cause);
            }
        });
        StubConnection made = new StubConnection(context, new DisniConnectionRequest(listener, 4711,
                StubConnection.event(ConnectionEventType.CONNECT_REQUEST), ADDRESS, ADDRESS));
        made.queuePair.postReceive(9, new DisniMemoryRegion(device, ByteBuffer.allocateDirect(64)), 0, 10);
        made.queuePair.accept(NO_DATA);
        return made;
    }

    @AfterEach
    void close() {
        context.close();
    }

    private void poll() throws IOException {
        context.poll((id, status, byteLength, invalidated, tag, vendorError) -> delivered.add(id + " " + status), 100);
    }

    @Test
    void shouldStandWhenTheInitiatorHasSpoken() throws IOException {
        connection.tell(ConnectionEventType.ESTABLISHED);
        assertThrows(IOException.class, () -> connection.send(1));
        verbs.complete(verbs.postedReceiveKey, StubVerbs.SUCCESS);
        poll();
        assertEquals(List.of("established"), connection.heard);
        assertEquals(List.of("9 SUCCESS"), delivered);
        connection.send(1);
    }

    @Test
    void shouldStandAtOnceWhenTheInitiatorHasSpokenBefore() throws IOException {
        verbs.complete(verbs.postedReceiveKey, StubVerbs.SUCCESS);
        poll();
        assertEquals(List.of(), connection.heard);
        connection.tell(ConnectionEventType.ESTABLISHED);
        connection.send(1);
        poll();
        assertEquals(List.of("established"), connection.heard);
        assertEquals(List.of("9 SUCCESS"), delivered);
    }

    @Test
    void shouldStandAfterAWhileWhenTheInitiatorIsSilent() throws IOException {
        connection.tell(ConnectionEventType.ESTABLISHED);
        long beganNanos = System.nanoTime();
        while (connection.heard.isEmpty()) {
            context.await(TimeUnit.SECONDS.toNanos(10));
            poll();
        }
        assertEquals(List.of("established"), connection.heard);
        assertTrue(System.nanoTime() - beganNanos > TimeUnit.MILLISECONDS.toNanos(20));
        connection.send(1);
    }

    @Test
    void shouldTellOfAnInitiatorThatGoesWithoutAWord() throws IOException {
        connection.tell(ConnectionEventType.ESTABLISHED, ConnectionEventType.DISCONNECTED);
        poll();
        assertEquals(List.of("established", "disconnected"), connection.heard);
    }

    @Test
    void shouldDeliverTheMessageOfAnInitiatorThatGoesAtOnce() throws IOException {
        connection.tell(ConnectionEventType.ESTABLISHED);
        verbs.complete(verbs.postedReceiveKey, StubVerbs.SUCCESS);
        connection.tell(ConnectionEventType.DISCONNECTED);
        poll();
        assertEquals(List.of("established", "disconnected"), connection.heard);
        assertEquals(List.of("9 SUCCESS"), delivered);
    }

    @Test
    void shouldEndWhileItIsSilent() throws IOException {
        connection.tell(ConnectionEventType.ESTABLISHED);
        connection.queuePair.moveToError();
        poll();
        assertEquals(List.of("established", "disconnected"), connection.heard);
        assertEquals(List.of("9 WORK_REQUEST_FLUSHED"), delivered);
        assertEquals(1, verbs.disconnects);
    }
}
