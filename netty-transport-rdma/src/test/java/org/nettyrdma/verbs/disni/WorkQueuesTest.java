package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.QueuePair;

/** A device that refuses work requests, and what becomes of those. */
class WorkQueuesTest {

    private static final List<String> ALL_FLUSHED = List.of("1 WORK_REQUEST_FLUSHED", "2 WORK_REQUEST_FLUSHED",
            "3 WORK_REQUEST_FLUSHED", "4 WORK_REQUEST_FLUSHED");

    private final StubVerbs verbs = new StubVerbs();
    private final List<String> delivered = new ArrayList<>();
    private DisniContext context;
    private StubConnection connection;
    private DisniMemoryRegion region;

    @BeforeEach
    void connect() throws IOException {
        Device device = StubConnection.device(verbs);
        region = new DisniMemoryRegion(device, ByteBuffer.allocateDirect(64));
        context = new DisniContext(device);
        connection = new StubConnection(context);
    }

    @AfterEach
    void close() {
        context.close();
    }

    private void poll() throws IOException {
        context.poll((id, status, byteLength, invalidated, tag, vendorError) -> delivered.add(id + " " + status), 100);
    }

    private void sendThreeOfWhichOneIsTaken() throws IOException {
        for (int id = 1; id <= 3; id++) {
            connection.send(id);
        }
        verbs.sendsToTake = 1;
    }

    private void sendOneMoreAndEnd() throws IOException {
        verbs.sendsToTake = Integer.MAX_VALUE;
        connection.send(4);
        connection.queuePair.flush();
        verbs.postedKeys.forEach(key -> verbs.complete(key, StubVerbs.FLUSHED));
        poll();
        connection.tell(ConnectionEventType.DISCONNECTED);
        poll();
    }

    @Test
    void shouldNotReportSuccessOfWhatTheDeviceHasRefused() throws IOException {
        sendThreeOfWhichOneIsTaken();
        connection.queuePair.flush();
        sendOneMoreAndEnd();
        assertEquals(ALL_FLUSHED, delivered);
        assertEquals(1, verbs.posted.size());
    }

    @Test
    void shouldNotReportSuccessOfWhatTheDeviceHasRefusedBeforeMemoryWasExposed() throws IOException {
        sendThreeOfWhichOneIsTaken();
        assertThrows(IOException.class, () -> connection.queuePair.expose(region, 0, 10, QueuePair.ACCESS_REMOTE_READ));
        assertEquals(1, verbs.disconnects);
        sendOneMoreAndEnd();
        assertEquals(ALL_FLUSHED, delivered);
        assertEquals(1, verbs.posted.size());
    }

    @Test
    void shouldNotReportSuccessOfWhatIsDroppedWhenAnotherConnectionSends() throws IOException {
        StubConnection other = new StubConnection(context);
        connection.queuePair.postReceive(9, region, 0, 10);
        for (int id = 1; id <= 3; id++) {
            connection.send(id);
        }
        verbs.refusesReceives = true;
        other.send(20);
        other.queuePair.flush();
        verbs.refusesReceives = false;
        verbs.complete(verbs.postedKeys.remove(0), StubVerbs.SUCCESS);
        sendOneMoreAndEnd();
        List<String> expected = new ArrayList<>(List.of("20 SUCCESS", "9 WORK_REQUEST_FLUSHED"));
        expected.addAll(ALL_FLUSHED);
        assertEquals(expected, delivered);
        assertEquals(1, verbs.posted.size());
    }

    /** As of every tag that has ended with its connection. */
    @Test
    void shouldHaveNothingToWithdrawAfterTheClose() throws IOException {
        QueuePair early = StubConnection.connecting(context).queuePair;
        int tag = early.expose(region, 0, 10, QueuePair.ACCESS_REMOTE_READ);
        early.close();
        assertTrue(early.invalidate(5, tag));
    }

    @Test
    void shouldBreakAConnectionWhenPostingEndsWithAnError() throws IOException {
        connection.send(1);
        verbs.sendFailure = new OutOfMemoryError("none left");
        assertSame(verbs.sendFailure, assertThrows(Error.class, () -> connection.queuePair.flush()));
        assertEquals(1, verbs.disconnects);
    }

    @Test
    void shouldBreakAConnectionWhoseReceivesWereRefusedBeforeItStood() throws IOException {
        StubConnection early = StubConnection.connecting(context);
        early.tell(ConnectionEventType.ADDRESS_RESOLVED);
        verbs.refusesReceives = true;
        early.queuePair.postReceive(9, region, 0, 10);
        early.queuePair.flush();
        early.tell(ConnectionEventType.ROUTE_RESOLVED, ConnectionEventType.ESTABLISHED);
        assertEquals(1, verbs.disconnects);
    }

    @Test
    void shouldTellWhatAConnectionWaitsFor() throws IOException {
        StubConnection early = StubConnection.connecting(context);
        assertEquals("the device has not resolved the address", early.queuePair.awaited());
        early.tell(ConnectionEventType.ADDRESS_RESOLVED);
        assertEquals("the device has found no route", early.queuePair.awaited());
        early.tell(ConnectionEventType.ROUTE_RESOLVED);
        assertEquals("the peer has not answered the request: the server accepts no connections, or is no RDMA listener",
                early.queuePair.awaited());
        early.tell(ConnectionEventType.ESTABLISHED);
        assertNull(early.queuePair.awaited());
    }
}
