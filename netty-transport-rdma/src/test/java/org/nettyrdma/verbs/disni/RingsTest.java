package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.DeliveryRing;

/** The bookkeeping of what a device has, which needs no device. */
class RingsTest {

    private final DeliveryRing deliveries = new DeliveryRing();
    private final SendRing sends = new SendRing(4, 6, deliveries);
    private final List<String> aftermaths = new ArrayList<>();

    private List<String> delivered() {
        List<String> delivered = new ArrayList<>();
        deliveries.deliver((id, status, byteLength, invalidated, tag, vendorError) ->
                delivered.add(id + " " + status + " " + byteLength + " " + vendorError), 100);
        return delivered;
    }

    @Test
    void shouldCompleteWhatWasPostedBeforeASignal() {
        sends.add(10, null);
        sends.add(11, success -> aftermaths.add("11 " + success));
        int signaled = sends.add(12, null);
        sends.add(13, null);
        sends.complete(signaled, WorkCompletionStatus.SUCCESS, 0);
        assertEquals(List.of("10 SUCCESS 0 0", "11 SUCCESS 0 0", "12 SUCCESS 0 0"), delivered());
        assertEquals(List.of("11 true"), aftermaths);
        assertFalse(sends.isEmpty());
    }

    @Test
    void shouldWaitForAReadThatASendHasOvertaken() {
        sends.add(10, null);
        int read = sends.addRead(11, 500, null);
        int send = sends.add(12, null);
        sends.complete(send, WorkCompletionStatus.SUCCESS, 0);
        assertEquals(List.of("10 SUCCESS 0 0"), delivered());
        sends.complete(read, WorkCompletionStatus.SUCCESS, 0);
        assertEquals(List.of("11 SUCCESS 500 0", "12 SUCCESS 0 0"), delivered());
    }

    @Test
    void shouldFlushAReadButNotTheSendThatHasOvertakenIt() {
        sends.addRead(11, 500, null);
        sends.complete(sends.add(12, null), WorkCompletionStatus.SUCCESS, 0);
        sends.flush();
        assertEquals(List.of("11 WORK_REQUEST_FLUSHED 0 0", "12 SUCCESS 0 0"), delivered());
    }

    @Test
    void shouldBlameOnlyTheWorkRequestThatFailed() {
        sends.add(10, null);
        int failed = sends.addRead(11, 500, success -> aftermaths.add("11 " + success));
        sends.addRead(12, 500, success -> aftermaths.add("12 " + success));
        sends.complete(failed, WorkCompletionStatus.REMOTE_ACCESS_ERROR, 77);
        sends.flush();
        assertEquals(List.of("10 SUCCESS 0 0", "11 REMOTE_ACCESS_ERROR 0 77", "12 WORK_REQUEST_FLUSHED 0 0"), delivered());
        assertEquals(List.of("11 false", "12 false"), aftermaths);
        assertTrue(sends.isEmpty());
    }

    @Test
    void shouldKeepRoomOfItsOwnForTheProvider() {
        for (int id = 0; id < 4; id++) {
            assertTrue(sends.hasRoom());
            sends.add(id, null);
        }
        assertFalse(sends.hasRoom());
        sends.addInternal();
        int last = sends.addInternal();
        assertFalse(sends.hasInternalRoom());
        sends.complete(last, WorkCompletionStatus.SUCCESS, 0);
        assertEquals(4, delivered().size());
        assertTrue(sends.hasRoom() && sends.hasInternalRoom() && sends.isEmpty());
    }

    @Test
    void shouldForgetWhatWasNotPosted() {
        sends.addInternal();
        sends.removeLast();
        int slot = sends.add(1, null);
        sends.complete(slot, WorkCompletionStatus.SUCCESS, 0);
        assertEquals(List.of("1 SUCCESS 0 0"), delivered());
    }

    @Test
    void shouldGoRoundMoreThanOnce() {
        for (int id = 0; id < 50; id += 3) {
            sends.add(id, null);
            sends.add(id + 1, null);
            sends.complete(sends.add(id + 2, null), WorkCompletionStatus.SUCCESS, 0);
            assertEquals(List.of(id + " SUCCESS 0 0", id + 1 + " SUCCESS 0 0", id + 2 + " SUCCESS 0 0"), delivered());
        }
    }

    @Test
    void shouldRefuseACompletionOfNothing() {
        int slot = sends.add(1, null);
        sends.complete(slot, WorkCompletionStatus.SUCCESS, 0);
        assertThrows(IllegalStateException.class, () -> sends.complete(slot, WorkCompletionStatus.SUCCESS, 0));
        assertThrows(IllegalStateException.class, () -> sends.complete(600, WorkCompletionStatus.SUCCESS, 0));
    }

    @Test
    void shouldPackAndUnpackKeys() {
        for (int number : new int[] {1, 2, Integer.MAX_VALUE, -1, Integer.MIN_VALUE}) {
            for (int slot : new int[] {0, 1, 255, WorkRequestKey.MAX_SLOT}) {
                long send = WorkRequestKey.send(number, slot);
                long receive = WorkRequestKey.receive(number, slot);
                assertTrue(WorkRequestKey.isSend(send));
                assertFalse(WorkRequestKey.isSend(receive));
                assertEquals(number, WorkRequestKey.queuePair(send));
                assertEquals(number, WorkRequestKey.queuePair(receive));
                assertEquals(slot, WorkRequestKey.slot(send));
                assertEquals(slot, WorkRequestKey.slot(receive));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldKnowEveryConnectionEvent(ConnectionEventType type) {
        assertEquals(type, ConnectionEventType.of(type.code()));
        assertTrue(type.code() < 0 || type.code() == type.ordinal()); // rdma_cma.h numbers them from 0
        assertEquals(ConnectionEventType.UNKNOWN, ConnectionEventType.of(100 + type.ordinal()));
    }
}
