package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.iwarp.IwarpProvider;
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

    /**
     * A Read that was not answered keeps the completion of the invalidation behind it until the end, when all windows are free.
     */
    @Test
    void shouldFreeAWindowOnceWhoseInvalidationIsDeliveredAfterTheEnd() {
        List<String> windowsFreed = new ArrayList<>();
        MemoryWindows windows = windows(windowsFreed);
        ExposedPieces exposed = new ExposedPieces(null, windows);
        exposed.bound(0x1100, 0, 77);
        exposed.bound(0x2200, 0, 88);
        sends.addRead(11, 500, null);
        exposed.startWithdrawing(0x1100);
        int invalidation = sends.add(12, success -> {
            exposed.withdrawn(0x1100, success);
            return true;
        });
        sends.complete(invalidation, WorkCompletionStatus.SUCCESS, 0);
        exposed.freeWindows();
        sends.flush();
        exposed.freeWindows();
        windows.close();
        assertEquals(List.of("11 WORK_REQUEST_FLUSHED 0 0", "12 SUCCESS 0 0"), delivered());
        assertEquals(List.of("77", "88"), windowsFreed.stream().sorted().toList());
    }

    /** A device whose registrations have numbers, and do not always end. */
    private static final class StubbornDevice implements Registrar {

        private final List<Registration> registered = new ArrayList<>();
        private final Set<Registration> stubborn = new HashSet<>();
        private Throwable nextFailure;

        @Override
        public Registration register(ByteBuffer memory, int offset, int length, int access) throws IOException {
            if (registered.size() == 1 && nextFailure instanceof Error error) {
                throw error;
            }
            Registration registration = new Registration(registered.size() + 1, 4096, 0x10, 0x1000 + registered.size());
            registered.add(registration);
            return registration;
        }

        @Override
        public boolean deregister(Registration registration) {
            return !stubborn.contains(registration) && registered.remove(registration);
        }
    }

    private static MemoryRegion region() throws IOException {
        return new IwarpProvider().registerMemory(ByteBuffer.allocateDirect(100));
    }

    @Test
    void shouldSayWhatIsStillExposedAtTheEnd() throws IOException {
        StubbornDevice device = new StubbornDevice();
        ExposedPieces exposed = new ExposedPieces(device, windows(new ArrayList<>()));
        int kept = exposed.register(region(), 0, 10, 1);
        int ended = exposed.register(region(), 10, 10, 1);
        device.stubborn.add(device.registered.get(0));
        exposed.close(true);
        assertTrue(exposed.isOpen(kept));
        assertFalse(exposed.isOpen(ended));
    }

    @Test
    void shouldTakeAWindowForOpenThatIsNotFreedUnlessItsQueuePairIsDestroyed() {
        MemoryWindows stubborn = new MemoryWindows(new MemoryWindows.Source() {
            @Override
            public long allocate() {
                throw new AssertionError("none was wanted");
            }

            @Override
            public void deallocate(long window) throws IOException {
                throw new IOException("busy");
            }
        });
        ExposedPieces exposed = new ExposedPieces(new StubbornDevice(), stubborn);
        exposed.bound(0x1100, 0, 77);
        exposed.freeWindows();
        exposed.close(false);
        assertTrue(exposed.isOpen(0x1100));
        exposed.close(true);
        assertFalse(exposed.isOpen(0x1100));
    }

    @Test
    void shouldNotCompleteAReadWhoseMemoryThePeerMayStillReach() throws IOException {
        StubbornDevice device = new StubbornDevice();
        ReadSinks sinks = new ReadSinks(device, new SendWorkRequest(2).read(11, 1, 0).addElement(region(), 0, 10)
                .addElement(region(), 20, 10));
        device.stubborn.add(device.registered.get(1));
        sends.add(10, null);
        int read = sends.addRead(11, 20, sinks);
        sends.complete(read, WorkCompletionStatus.SUCCESS, 0);
        sends.complete(sends.add(12, null), WorkCompletionStatus.SUCCESS, 0);
        sends.flush();
        assertEquals(List.of("10 SUCCESS 0 0"), delivered());
        assertTrue(sends.isStuck());
        assertFalse(sends.isEmpty());
        assertEquals(1, device.registered.size());
    }

    @Test
    void shouldLeaveEmptyPiecesOfAReadOut() throws IOException {
        StubbornDevice device = new StubbornDevice();
        ReadSinks sinks = new ReadSinks(device, new SendWorkRequest(3).read(11, 1, 0).addElement(region(), 0, 0)
                .addElement(region(), 20, 10).addElement(region(), 40, 0));
        assertEquals(1, sinks.count());
        assertEquals(10, sinks.length(0));
        assertEquals(device.registered, List.of(sinks.registration(0)));
    }

    @Test
    void shouldEndRegistrationsForAReadWhenThereIsNoMemoryForTheNext() {
        StubbornDevice device = new StubbornDevice();
        device.nextFailure = new OutOfMemoryError("none left");
        assertThrows(OutOfMemoryError.class, () -> new ReadSinks(device,
                new SendWorkRequest(2).read(11, 1, 0).addElement(region(), 0, 10).addElement(region(), 20, 10)));
        assertEquals(List.of(), device.registered);
    }

    @Test
    void shouldUseAWindowAgainWhenItsInvalidationIsComplete() throws IOException {
        List<String> windowsFreed = new ArrayList<>();
        MemoryWindows windows = windows(windowsFreed);
        ExposedPieces exposed = new ExposedPieces(null, windows);
        exposed.bound(0x1100, 0, 77);
        exposed.startWithdrawing(0x1100);
        exposed.withdrawn(0x1100, true);
        exposed.freeWindows();
        assertEquals(List.of(), windowsFreed);
        assertEquals(77, windows.take());
    }

    private static MemoryWindows windows(List<String> freed) {
        return new MemoryWindows(new MemoryWindows.Source() {
            @Override
            public long allocate() {
                throw new AssertionError("a window was to be used again");
            }

            @Override
            public void deallocate(long window) {
                freed.add(String.valueOf(window));
            }
        });
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
