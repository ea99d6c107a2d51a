package org.nettyrdma.verbs.disni;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaEventChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nettyrdma.testing.RequiresRdmaDevice;

/** What the native library does on a device; skipped where there is none. */
@RequiresRdmaDevice
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class NativeVerbsTest {

    private static final int MEMORY_BYTES = 4_096;
    private static final int LOCAL = NativeExtensions.ACCESS_LOCAL_WRITE;
    private static final int REMOTE = LOCAL | NativeExtensions.ACCESS_REMOTE_READ | NativeExtensions.ACCESS_REMOTE_WRITE;
    private static final int STATUS_FLUSHED = 5;

    private int handlesBefore;
    private NativeDevice device;

    @BeforeEach
    void open() throws IOException {
        assertTrue(NativeLibrary.hasExtensions());
        handlesBefore = NativeExtensions.liveHandles();
        device = new NativeDevice();
    }

    @AfterEach
    void close() throws IOException {
        device.close();
        assertEquals(handlesBefore, NativeExtensions.liveHandles());
    }

    private boolean isIwarp() throws IOException {
        return attribute(NativeExtensions.DEVICE_TRANSPORT) == NativeExtensions.TRANSPORT_IWARP;
    }

    private long attribute(int index) throws IOException {
        return NativeExtensions.deviceAttributes(NativeDevice.handle(device.context), 1)[index];
    }

    private boolean hasWindows() throws IOException {
        return (attribute(NativeExtensions.DEVICE_FLAGS)
                & (NativeExtensions.DEVICE_MEMORY_WINDOW_TYPE_2A | NativeExtensions.DEVICE_MEMORY_WINDOW_TYPE_2B)) != 0;
    }

    @Test
    void shouldTellTheLimitsOfTheDevice() throws Exception {
        assertFalse(NativeExtensions.deviceName(NativeDevice.handle(device.context)).isEmpty());
        assertEquals(NativeExtensions.DEVICE_ATTRIBUTES, NativeExtensions.deviceAttributes(NativeDevice.handle(device.context), 1)
                .length);
        assertTrue(attribute(NativeExtensions.DEVICE_MAX_QUEUE_DEPTH) > 0);
        assertTrue(attribute(NativeExtensions.DEVICE_MAX_ELEMENTS) > 0);
        assertTrue(attribute(NativeExtensions.DEVICE_MAX_RESPONDER_RESOURCES) > 0);
        assertTrue(attribute(NativeExtensions.DEVICE_MAX_REGION_BYTES) > MEMORY_BYTES);
        assertEquals(NativeExtensions.LINK_LAYER_ETHERNET, attribute(NativeExtensions.DEVICE_LINK_LAYER));
        assertNull(NativeExtensions.nextAsyncEvent(NativeDevice.handle(device.context)));
        assertThrows(IOException.class, () -> NativeExtensions.deviceAttributes(NativeDevice.handle(device.context), 99));
        System.Logger log = System.getLogger(NativeVerbsTest.class.getName());
        log.log(System.Logger.Level.INFO, "device " + NativeExtensions.deviceName(NativeDevice.handle(device.context)) + ' '
                + Arrays.toString(NativeExtensions.deviceAttributes(NativeDevice.handle(device.context), 1)));
    }

    @Test
    void shouldCarryPrivateDataAndReadDepthsBothWays() throws Exception {
        byte[] hello = {1, 2, 3, 4, 5};
        byte[] welcome = {9, 8, 7};
        try (NativeConnection connection = new NativeConnection(device)) {
            connection.request(hello, 3, 2);
            assertEquals(NativeDevice.handle(device.listener), device.event.getLong(NativeExtensions.EVENT_LISTEN_ID));
            assertArrayEquals(hello, Arrays.copyOf(device.eventPrivateData(), hello.length));
            if (isIwarp()) {
                assertEquals(hello.length, device.eventPrivateData().length);
            }
            // What one side directs the other must serve: the numbers change places.
            assertEquals(2, device.event.getInt(NativeExtensions.EVENT_RESPONDER_RESOURCES));
            assertEquals(3, device.event.getInt(NativeExtensions.EVENT_INITIATOR_DEPTH));
            assertTrue(NativeExtensions.lastConnectionEvent(NativeDevice.handle(device.events), device.event));
            assertArrayEquals(hello, Arrays.copyOf(device.eventPrivateData(), hello.length));
            connection.accept(welcome, 2, 3);
            assertArrayEquals(welcome, Arrays.copyOf(connection.acceptedData, welcome.length));
            // Which of the two numbers is whose the drivers do not agree on.
            assertEquals(5, connection.acceptedResponderResources + connection.acceptedInitiatorDepth);
        }
    }

    @Test
    void shouldRejectWithPrivateData() throws Exception {
        byte[] reason = {42, 43};
        try (NativeConnection connection = new NativeConnection(device)) {
            connection.request(new byte[0], 1, 1);
            NativeExtensions.reject(NativeDevice.handle(connection.server), reason);
            assertEquals(NativeDevice.handle(connection.client), device.awaitEvent(device.events, NativeConnection.REJECTED));
            assertArrayEquals(reason, Arrays.copyOf(device.eventPrivateData(), reason.length));
        }
    }

    @Test
    void shouldMoveARequestToAnotherChannel() throws Exception {
        RdmaEventChannel other = device.cm.createEventChannel();
        try (NativeConnection connection = new NativeConnection(device)) {
            connection.request(new byte[0], 1, 1);
            NativeExtensions.migrate(NativeDevice.handle(connection.server), NativeDevice.handle(other));
            connection.serverQueuePair = device.newQueuePair(connection.server);
            NativeExtensions.accept(NativeDevice.handle(connection.server), null, 1, 1, 7, 7);
            assertEquals(NativeDevice.handle(connection.client), device.awaitEvent(device.events, NativeConnection.ESTABLISHED));
            assertEquals(NativeDevice.handle(connection.server), device.awaitEvent(other, NativeConnection.ESTABLISHED));
            assertTrue(other.destroyEventChannel() < 0, "the channel has an identifier");
        }
        assertEquals(0, device.dispatcher._destroyEventChannel(NativeDevice.handle(other)));
    }

    @Test
    void shouldKnowTheAddressesOfBothSides() throws Exception {
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            InetSocketAddress listening =
                    SocketAddresses.decode(NativeExtensions.localAddress(NativeDevice.handle(device.listener)));
            InetSocketAddress clientLocal =
                    SocketAddresses.decode(NativeExtensions.localAddress(NativeDevice.handle(connection.client)));
            assertEquals(listening,
                    SocketAddresses.decode(NativeExtensions.remoteAddress(NativeDevice.handle(connection.client))));
            assertEquals(clientLocal,
                    SocketAddresses.decode(NativeExtensions.remoteAddress(NativeDevice.handle(connection.server))));
        }
    }

    @Test
    void shouldSendGatheredAndInlineMessages() throws Exception {
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, LOCAL);
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            for (int i = 0; i < 16; i++) {
                memory.put(i, (byte) (i + 1));
            }
            int[] limits = NativeExtensions.queuePairLimits(connection.clientQueuePair);
            int inline = limits[NativeExtensions.LIMIT_INLINE_BYTES] >= 4 ? NativeExtensions.FLAG_INLINE : 0;
            NativeRequests receives = NativeRequests.receives().receive(1).element(region, 1_000, 100).receive(2)
                    .element(region, 2_000, 100);
            assertEquals(2, receives.post(connection.serverQueuePair));
            NativeRequests sends = NativeRequests.sends()
                    .send(3, NativeExtensions.OPCODE_SEND, NativeExtensions.FLAG_SIGNALED, 0, 0).element(region, 8, 2)
                    .element(region, 0, 3)
                    .send(4, NativeExtensions.OPCODE_SEND, NativeExtensions.FLAG_SIGNALED | inline, 0, 0).element(region, 4, 4);
            assertEquals(2, sends.post(connection.clientQueuePair));
            ByteBuffer completions = device.awaitCompletions(4);
            for (int i = 0; i < 4; i++) {
                int at = i * NativeExtensions.COMPLETION_BYTES;
                assertEquals(0, completions.getInt(at + NativeExtensions.COMPLETION_STATUS));
                long id = completions.getLong(at + NativeExtensions.COMPLETION_ID);
                if (id <= 2) {
                    assertEquals(id == 1 ? 5 : 4, completions.getInt(at + NativeExtensions.COMPLETION_LENGTH));
                }
            }
            assertArrayEquals(new byte[] {9, 10, 1, 2, 3, 0}, bytes(memory, 1_000, 6));
            assertArrayEquals(new byte[] {5, 6, 7, 8, 0}, bytes(memory, 2_000, 5));
        } finally {
            device.deregister(region);
        }
    }

    @Test
    void shouldReadAndWriteThePeersMemory() throws Exception {
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, REMOTE);
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            memory.putLong(0, 0x0102030405060708L);
            assertEquals(1, NativeRequests.sends()
                    .send(1, NativeExtensions.OPCODE_WRITE, NativeExtensions.FLAG_SIGNALED, region.getRkey(),
                    region.getAddr() + 512)
                    .element(region, 0, 8).post(connection.clientQueuePair));
            device.awaitCompletions(1);
            assertEquals(1, NativeRequests.sends()
                    .send(2, NativeExtensions.OPCODE_READ, NativeExtensions.FLAG_SIGNALED, region.getRkey(),
                    region.getAddr() + 512)
                    .element(region, 1_024, 8).post(connection.serverQueuePair));
            assertEquals(0, device.awaitCompletions(1).getInt(NativeExtensions.COMPLETION_STATUS));
            assertEquals(0x0102030405060708L, memory.getLong(1_024));
        } finally {
            device.deregister(region);
        }
    }

    @Test
    void shouldPassImmediateDataOnAsItIsOnTheWire() throws Exception {
        assumeTrue(NativeExtensions.deviceAttributes(NativeDevice.handle(device.context), 1)[NativeExtensions.DEVICE_TRANSPORT]
                == NativeExtensions.TRANSPORT_INFINIBAND, "iWARP has no immediate data");
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, REMOTE);
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            memory.putLong(0, 0x0102030405060708L);
            assertEquals(1, NativeRequests.receives().receive(1).post(connection.serverQueuePair));
            assertEquals(1, NativeRequests.sends()
                    .send(2, NativeExtensions.OPCODE_WRITE_WITH_IMMEDIATE, NativeExtensions.FLAG_SIGNALED, region.getRkey(),
                    region.getAddr() + 512)
                    .immediate(0x81020304).element(region, 0, 8).post(connection.clientQueuePair));
            ByteBuffer completions = device.awaitCompletions(2);
            int received = completions.getLong(NativeExtensions.COMPLETION_ID) == 1 ? 0 : NativeExtensions.COMPLETION_BYTES;
            assertEquals(0, completions.getInt(received + NativeExtensions.COMPLETION_STATUS));
            assertEquals(NativeExtensions.COMPLETED_IMMEDIATE, completions.getInt(received + NativeExtensions.COMPLETION_OPCODE));
            assertEquals(8, completions.getInt(received + NativeExtensions.COMPLETION_LENGTH));
            assertEquals(0x81020304, completions.getInt(received + NativeExtensions.COMPLETION_IMMEDIATE));
            assertEquals(0x0102030405060708L, memory.getLong(512));
        } finally {
            device.deregister(region);
        }
    }

    @Test
    void shouldOpenMemoryThroughAWindowUntilThePeerInvalidatesIt() throws Exception {
        assumeTrue(hasWindows(), "the device has no memory windows of type 2");
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, LOCAL | NativeExtensions.ACCESS_WINDOW_BIND);
        long window = NativeExtensions.allocateMemoryWindow(NativeDevice.handle(device.domain));
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            int key = bind(connection.serverQueuePair, window, region, NativeExtensions.ACCESS_REMOTE_WRITE);
            assertEquals(key, NativeExtensions.memoryWindowKey(window));
            memory.put(0, (byte) 77);
            NativeRequests.receives().receive(1).element(region, 2_048, 64).post(connection.serverQueuePair);
            NativeRequests.sends()
                    .send(2, NativeExtensions.OPCODE_WRITE, 0, key, region.getAddr() + 512).element(region, 0, 1)
                    .send(3, NativeExtensions.OPCODE_SEND_WITH_INVALIDATE, NativeExtensions.FLAG_SIGNALED, key, 0)
                    .element(region, 0, 1)
                    .post(connection.clientQueuePair);
            ByteBuffer completions = device.awaitCompletions(2);
            int received = completions.getLong(0) == 1 ? 0 : NativeExtensions.COMPLETION_BYTES;
            assertEquals(0, completions.getInt(received + NativeExtensions.COMPLETION_STATUS));
            assertEquals(NativeExtensions.WITH_INVALIDATE,
                    completions.getInt(received + NativeExtensions.COMPLETION_FLAGS) & NativeExtensions.WITH_INVALIDATE);
            assertEquals(key, completions.getInt(received + NativeExtensions.COMPLETION_INVALIDATED_KEY));
            assertEquals(77, memory.get(512));

            int second = bind(connection.serverQueuePair, window, region, NativeExtensions.ACCESS_REMOTE_READ);
            assertNotEquals(key, second);
            NativeRequests.sends().send(4, NativeExtensions.OPCODE_LOCAL_INVALIDATE, NativeExtensions.FLAG_SIGNALED, second, 0)
                    .post(connection.serverQueuePair);
            assertEquals(0, device.awaitCompletions(1).getInt(NativeExtensions.COMPLETION_STATUS));
            // Nothing is open any more: the peer's access ends the connection.
            NativeRequests.sends().send(5, NativeExtensions.OPCODE_READ, NativeExtensions.FLAG_SIGNALED, second, region.getAddr())
                    .element(region, 0, 1).post(connection.clientQueuePair);
            assertNotEquals(0, device.awaitCompletions(1).getInt(NativeExtensions.COMPLETION_STATUS));
        } finally {
            NativeExtensions.deallocateMemoryWindow(window);
            device.deregister(region);
        }
    }

    private int bind(long queuePair, long window, IbvMr region, int rights) throws IOException {
        NativeRequests bind = NativeRequests.sends()
                .send(9, NativeExtensions.OPCODE_BIND, NativeExtensions.FLAG_SIGNALED, 0, window).access(rights)
                .element(region, 0, 1_024);
        assertEquals(1, bind.post(queuePair));
        assertEquals(0, device.awaitCompletions(1).getInt(NativeExtensions.COMPLETION_STATUS));
        return bind.buffer().getInt(NativeExtensions.SEND_KEY);
    }

    @Test
    void shouldSayThatThereAreNoWindowsWhereThereAreNone() throws Exception {
        assumeTrue(!hasWindows(), "the device has memory windows");
        assertThrows(IOException.class, () -> NativeExtensions.allocateMemoryWindow(NativeDevice.handle(device.domain)));
    }

    @Test
    void shouldSleepUntilACompletionCameOrAWakeUp() throws Exception {
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, LOCAL);
        long wakeup = NativeExtensions.createWakeup();
        long[] sources = {wakeup, NativeDevice.handle(device.completionEvents), NativeDevice.handle(device.events),
            NativeDevice.handle(device.context)};
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            assertEquals(0, device.dispatcher._reqNotifyCQ(NativeDevice.handle(device.completions), 0));
            assertEquals(0, NativeExtensions.await(sources, sources.length, 1_000_000));
            NativeRequests.receives().receive(1).element(region, 0, 64).post(connection.serverQueuePair);
            NativeRequests.sends().send(2, NativeExtensions.OPCODE_SEND, 0, 0, 0).element(region, 0, 1)
                    .post(connection.clientQueuePair);
            assertEquals(2, NativeExtensions.await(sources, sources.length, TimeUnit.SECONDS.toNanos(30)));
            assertEquals(1, NativeExtensions.drainCompletionEvents(NativeDevice.handle(device.completionEvents)));
            device.awaitCompletions(1);
            NativeExtensions.wakeup(wakeup);
            assertEquals(1, NativeExtensions.await(sources, sources.length, -1));
            connection.client.disconnect();
            assertEquals(4, NativeExtensions.await(sources, sources.length, TimeUnit.SECONDS.toNanos(30)) & 4);
        } finally {
            NativeExtensions.destroyWakeup(wakeup);
            device.deregister(region);
        }
    }

    @Test
    void shouldFlushReceivesInTheErrorState() throws Exception {
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, LOCAL);
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            NativeRequests.receives().receive(1).element(region, 0, 64).receive(2).element(region, 64, 64)
                    .post(connection.serverQueuePair);
            NativeExtensions.moveToError(connection.serverQueuePair);
            ByteBuffer completions = device.awaitCompletions(2);
            assertEquals(STATUS_FLUSHED, completions.getInt(NativeExtensions.COMPLETION_STATUS));
            assertEquals(1, completions.getLong(NativeExtensions.COMPLETION_ID));
            assertEquals(2, completions.getLong(NativeExtensions.COMPLETION_BYTES));
        } finally {
            device.deregister(region);
        }
    }

    @Test
    void shouldRefuseWhatTheDriverWouldTrust() throws Exception {
        ByteBuffer memory = NativeDevice.direct(MEMORY_BYTES);
        IbvMr region = device.register(memory, LOCAL);
        IbvMr gone = device.register(memory, LOCAL);
        device.deregister(gone);
        try (NativeConnection connection = new NativeConnection(device).connect()) {
            long queuePair = connection.clientQueuePair;
            assertRefused("errno 34", queuePair, send(0).element(region, 4_000, 97));
            assertRefused("errno 34", queuePair, send(0).element(region, -1, 1));
            assertRefused("errno 34", queuePair, send(0).element(region, 0, -1));
            assertRefused("errno 9", queuePair, send(0).element(gone, 0, 1));
            assertRefused("errno 90", queuePair, send(NativeExtensions.FLAG_INLINE).element(region, 0, 3_000));
            assertRefused("errno 22", queuePair, send(1 << 20).element(region, 0, 1));
            assertRefused("errno 22", queuePair, NativeRequests.sends().send(1, 5, 0, 0, 0).element(region, 0, 8));
            NativeRequests many = send(0);
            for (int i = 0; i < 33; i++) {
                many.element(region, 0, 1);
            }
            assertRefused("errno 22", queuePair, many);
            // The first one is fine and is posted; the second is not.
            assertEquals(1, send(NativeExtensions.FLAG_SIGNALED).element(region, 0, 0)
                    .send(2, NativeExtensions.OPCODE_SEND, 0, 0, 0).element(gone, 0, 1).post(queuePair));
        } finally {
            device.deregister(region);
        }
    }

    private static NativeRequests send(int flags) {
        return NativeRequests.sends().send(1, NativeExtensions.OPCODE_SEND, flags, 0, 0);
    }

    private static void assertRefused(String reason, long queuePair, NativeRequests requests) {
        String message = assertThrows(IOException.class, () -> requests.post(queuePair)).getMessage();
        assertTrue(message.startsWith("ibv_post_send failed: ") && message.contains(reason), message);
    }

    @Test
    void shouldKeepWhatOthersWereCreatedFrom() throws Exception {
        try (NativeConnection connection = new NativeConnection(device)) {
            assertEquals(-16, device.dispatcher._deallocPd(NativeDevice.handle(device.domain)));
            assertEquals(-16, device.dispatcher._destroyCQ(NativeDevice.handle(device.completions)));
            assertEquals(-16, device.dispatcher._destroyCompChannel(NativeDevice.handle(device.completionEvents)));
            assertEquals(-16, device.dispatcher._destroyCmId(NativeDevice.handle(connection.client)));
            assertEquals(-16, device.dispatcher._destroyEventChannel(NativeDevice.handle(device.events)));
            assertThrows(IOException.class, () -> NativeExtensions.closeContext(NativeDevice.handle(device.context)));
        }
    }

    @Test
    void shouldRefuseAVerbThatNeedsADeviceBeforeThereIsOne() throws Exception {
        RdmaCmId id = device.newId(device.events);
        assertThrows(IOException.class, () -> id.resolveRoute(1));
        assertThrows(IOException.class, () -> NativeExtensions.connect(NativeDevice.handle(id), null, 1, 1, 7, 7));
        assertThrows(IOException.class, () -> NativeExtensions.accept(NativeDevice.handle(id), null, 1, 1, 7, 7));
        assertTrue(id.disconnect() < 0);
        assertThrows(IOException.class, () -> device.newQueuePair(id));
        id.destroyId();
    }

    private static byte[] bytes(ByteBuffer memory, int offset, int length) {
        byte[] bytes = new byte[length];
        memory.get(offset, bytes);
        return bytes;
    }
}
