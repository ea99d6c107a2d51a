package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;

/** A request that comes on one event loop and is served by another. */
class DisniConnectionRequestTest {

    private static final long ID = 4711;
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    private static final String PEER_GONE = "connectFailed: the peer has gone before the connection stood";

    private final StubVerbs verbs = new StubVerbs();
    private DisniContext listening;
    private DisniContext serving;
    private DisniListener listener;
    private DisniConnectionRequest request;
    private final List<ConnectionRequest> handled = new ArrayList<>();

    @BeforeEach
    void listen() throws IOException {
        Device device = StubConnection.device(verbs);
        listening = new DisniContext(device);
        serving = new DisniContext(device);
        listener = (DisniListener) listening.listen(ADDRESS, 1, null, new Handler());
        request = newRequest(ID);
    }

    private DisniConnectionRequest newRequest(long id) {
        return new DisniConnectionRequest(listener, id, StubConnection.event(ConnectionEventType.CONNECT_REQUEST), ADDRESS,
                ADDRESS);
    }

    private final class Handler implements ConnectionListener.Handler {

        @Override
        public void connectionRequested(ConnectionRequest requested) {
            handled.add(requested);
        }

        @Override
        public void acceptFailed(Throwable cause) {
            throw new AssertionError(cause);
        }
    }

    @AfterEach
    void close() {
        serving.close();
        listening.close();
    }

    private static void poll(DisniContext context) throws IOException {
        context.poll((id, status, byteLength, invalidated, tag, vendorError) -> { }, 100);
    }

    /** The loop that listens has looked for the owner just before the other has taken the request over. */
    @Test
    void shouldRunAnEventOnTheLoopThatServes() throws IOException {
        StubConnection connection = new StubConnection(serving, request);
        request.connectionEvent(StubConnection.event(ConnectionEventType.DISCONNECTED));
        assertTrue(serving.parts().deliveries().isEmpty());
        poll(listening);
        assertTrue(serving.parts().deliveries().isEmpty());
        poll(serving);
        assertEquals(List.of(PEER_GONE), connection.heard);
    }

    @Test
    void shouldKeepTheOrderOfEventsThatComeBeforeAndAfterTheHandOver() throws IOException {
        listening.arrived(request, StubConnection.event(ConnectionEventType.DISCONNECTED), listening);
        StubConnection connection = new StubConnection(serving, request);
        poll(listening);
        serving.arrived(connection.queuePair, StubConnection.event(ConnectionEventType.UNREACHABLE), serving);
        poll(serving);
        assertEquals(List.of(PEER_GONE), connection.heard);
    }

    @Test
    void shouldNotLoseAnEventThatComesWhileTheRequestIsTaken() throws IOException {
        request.take();
        request.connectionEvent(StubConnection.event(ConnectionEventType.DISCONNECTED));
        StubConnection connection = StubConnection.ofTaken(serving, request);
        poll(serving);
        assertEquals(List.of(PEER_GONE), connection.heard);
    }

    @Test
    void shouldDestroyAnIdentifierOnceWhoseQueuePairCannotBeCreated() throws IOException {
        verbs.refusesQueuePairs = true;
        assertThrows(IOException.class, () -> new StubConnection(serving, request));
        request.connectionEvent(StubConnection.event(ConnectionEventType.DISCONNECTED));
        poll(serving);
        assertEquals(1, Collections.frequency(verbs.destroyedIds, ID));
    }

    @Test
    void shouldLeaveThePlaceOfAPeerThatHasGoneToTheNext() throws IOException {
        DisniConnectionRequest next = newRequest(ID + 1);
        request.connectionEvent(StubConnection.event(ConnectionEventType.CONNECT_REQUEST));
        request.connectionEvent(StubConnection.event(ConnectionEventType.DISCONNECTED));
        next.connectionEvent(StubConnection.event(ConnectionEventType.CONNECT_REQUEST));
        listener.setAccepting(true);
        poll(listening);
        assertEquals(List.of(next), handled);
        assertEquals(1, Collections.frequency(verbs.destroyedIds, ID));
    }

    /** Another loop may have found it, and this one not looked since. */
    @Test
    void shouldRejectWhatHasJustArrivedWhenTheContextCloses() {
        listener.setAccepting(true);
        listening.arrived(request, StubConnection.event(ConnectionEventType.CONNECT_REQUEST), serving);
        listening.close();
        assertEquals(List.of(), handled);
        assertEquals(1, Collections.frequency(verbs.destroyedIds, ID));
    }

    @Test
    void shouldTellAnotherLoopWhatHasArrivedForItWhenTheContextCloses() throws IOException {
        listening.arrived(request, StubConnection.event(ConnectionEventType.DISCONNECTED), listening);
        StubConnection connection = new StubConnection(serving, request);
        listening.close();
        poll(serving);
        assertEquals(List.of(PEER_GONE), connection.heard);
    }

    @Test
    void shouldDestroyTheIdentifierOfEachRequestThoughItCannotBeRejected() {
        List<DisniConnectionRequest> all = List.of(request, newRequest(ID + 1));
        listener.setAccepting(true);
        all.forEach(each -> each.connectionEvent(StubConnection.event(ConnectionEventType.CONNECT_REQUEST)));
        verbs.rejectFailure = new OutOfMemoryError("no memory for the answer");
        assertEquals(verbs.rejectFailure, assertThrows(OutOfMemoryError.class, listening::close));
        assertTrue(verbs.destroyedIds.containsAll(List.of(ID, ID + 1)));
    }

    @Test
    void shouldRejectWhatTheUserWasNotToldOfWhenTheContextCloses() {
        listener.setAccepting(true);
        request.connectionEvent(StubConnection.event(ConnectionEventType.CONNECT_REQUEST));
        listening.close();
        assertEquals(List.of(), handled);
        assertEquals(1, Collections.frequency(verbs.destroyedIds, ID));
    }
}
