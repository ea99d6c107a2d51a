package org.nettyrdma.verbs.iwarp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.SteeringTagGenerator;

/** One or two contexts of the provider that the test's own thread pumps, so that no test waits for anything but progress. */
final class IwarpTestPeer implements AutoCloseable, CompletionHandler {

    static final QueuePairAttributes ATTRIBUTES = new QueuePairAttributes(64, 64, 16, 16, false, 2000);
    static final QueuePairAttributes CHECKSUM = new QueuePairAttributes(64, 64, 16, 16, true, 2000);
    static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** A completion as it was delivered. */
    record Completion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag) {
    }

    /** A queue pair with what its listener and its completions have told, and memory to work with. */
    final class Endpoint implements QueuePair.Listener {

        final int number = endpoints.size();
        final MemoryRegion region;
        final ArrayDeque<Completion> completions = new ArrayDeque<>();
        final SendWorkRequest request = new SendWorkRequest(FpduBatch.MAX_PIECES + 1);
        QueuePair queuePair;
        ConnectionParameters parameters;
        IOException connectFailure;
        ByteBuffer rejectData;
        boolean disconnected;
        IOException disconnectCause;

        Endpoint() {
            region = provider.registerMemory(ByteBuffer.allocateDirect(memoryBytes));
            endpoints.add(this);
        }

        /** Turns a number that is unique on this endpoint into one that is unique in this test. */
        long id(int id) {
            return (long) number << 32 | id;
        }

        Endpoint receive(int id, int offset, int length) throws IOException {
            queuePair.postReceive(id(id), region, offset, length);
            return this;
        }

        Endpoint send(int id, int offset, int length) throws IOException {
            return post(request.send(id(id)).addElement(region, offset, length));
        }

        Endpoint write(int id, int offset, int length, int tag, long remoteOffset) throws IOException {
            return post(request.write(id(id), tag, remoteOffset).addElement(region, offset, length));
        }

        Endpoint read(int id, int offset, int length, int tag, long remoteOffset) throws IOException {
            return post(request.read(id(id), tag, remoteOffset).addElement(region, offset, length));
        }

        Endpoint post(SendWorkRequest workRequest) throws IOException {
            queuePair.postSend(workRequest);
            queuePair.flush();
            return this;
        }

        Completion awaitCompletion() throws IOException {
            pump("a completion of endpoint " + number, () -> !completions.isEmpty());
            return completions.remove();
        }

        void expectCompletion(int id, int byteLength) throws IOException {
            assertEquals(new Completion(id, WorkCompletionStatus.SUCCESS, byteLength, false, 0), awaitCompletion());
        }

        void expectFlushed(int id) throws IOException {
            assertEquals(new Completion(id, WorkCompletionStatus.WORK_REQUEST_FLUSHED, 0, false, 0), awaitCompletion());
        }

        IOException awaitDisconnect() throws IOException {
            pump("the end of endpoint " + number, () -> disconnected);
            return disconnectCause;
        }

        IOException awaitConnectFailure() throws IOException {
            pump("the refusal of endpoint " + number, () -> connectFailure != null);
            return connectFailure;
        }

        void awaitEstablished() throws IOException {
            pump("the connection of endpoint " + number, () -> parameters != null);
        }

        byte[] bytes(int offset, int length) {
            byte[] bytes = new byte[length];
            region.memory().get(offset, bytes);
            return bytes;
        }

        void fill(int offset, byte[] bytes) {
            region.memory().put(offset, bytes);
        }

        @Override
        public void established(ConnectionParameters newParameters) {
            assertNull(parameters);
            parameters = newParameters;
        }

        @Override
        public void connectFailed(IOException cause, ByteBuffer privateData) {
            assertNull(connectFailure);
            assertNull(parameters);
            assertNotNull(cause);
            connectFailure = cause;
            rejectData = privateData;
        }

        @Override
        public void disconnected(IOException cause) {
            assertNotNull(parameters);
            assertEquals(false, disconnected);
            disconnected = true;
            disconnectCause = cause;
        }
    }

    final IwarpProvider provider = new IwarpProvider();
    final IwarpContext server;
    final IwarpContext client;
    final IwarpLoopParts clientParts;
    final List<Endpoint> endpoints = new ArrayList<>();
    final ArrayDeque<ConnectionRequest> requests = new ArrayDeque<>();
    ConnectionListener listener;
    int memoryBytes = 256 << 10;
    private boolean clientHasNoMemory;
    int maxPendingRequests = 1024;
    int maxPendingRequestsPerAddress = 1024;

    IwarpTestPeer() throws IOException {
        this(System::nanoTime, new SteeringTagGenerator());
    }

    IwarpTestPeer(LongSupplier clock, IntSupplier steeringTags) throws IOException {
        server = (IwarpContext) provider.openContext(new LoopCore(clock, steeringTags));
        clientParts = new IwarpLoopParts(new LoopCore(clock, steeringTags), provider.statistics(), this::newBatch);
        client = new IwarpContext(clientParts);
    }

    private FpduBatch newBatch() {
        if (clientHasNoMemory) {
            throw new OutOfMemoryError("on purpose");
        }
        return new FpduBatch();
    }

    /** From now on connections of the client find no memory to send anything. */
    void takeMemoryOfClient() {
        clientHasNoMemory = true;
        assertThrows(OutOfMemoryError.class, () -> {
            while (true) {
                clientParts.batchPool().take();
            }
        });
    }

    SocketAddress listen() throws IOException {
        return listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    SocketAddress listen(SocketAddress address) throws IOException {
        ListenAttributes attributes = new ListenAttributes(5000, maxPendingRequests, maxPendingRequestsPerAddress, 0, true);
        listener = server.listen(address, 512, attributes, new ConnectionListener.Handler() {
            @Override
            public void connectionRequested(ConnectionRequest request) {
                requests.add(request);
            }

            @Override
            public void acceptFailed(Throwable cause) {
                throw new AssertionError(cause);
            }
        });
        listener.setAccepting(true);
        return listener.localAddress();
    }

    ConnectionRequest awaitRequest() throws IOException {
        pump("a connection request", () -> !requests.isEmpty());
        return requests.remove();
    }

    /** A queue pair that can connect. */
    Endpoint newEndpoint(QueuePairAttributes attributes) {
        Endpoint endpoint = new Endpoint();
        endpoint.queuePair = client.createQueuePair(attributes, endpoint);
        return endpoint;
    }

    /** A queue pair that can accept. */
    Endpoint newEndpoint(QueuePairAttributes attributes, ConnectionRequest request) throws IOException {
        Endpoint endpoint = new Endpoint();
        endpoint.queuePair = server.createQueuePair(attributes, endpoint, request);
        return endpoint;
    }

    Endpoint connect(QueuePairAttributes attributes) throws IOException {
        return connect(attributes, listener == null ? listen() : listener.localAddress());
    }

    Endpoint connect(QueuePairAttributes attributes, SocketAddress address) throws IOException {
        Endpoint endpoint = newEndpoint(attributes);
        endpoint.queuePair.connect(address, null, NO_DATA);
        return endpoint;
    }

    Endpoint accept(QueuePairAttributes attributes) throws IOException {
        Endpoint endpoint = newEndpoint(attributes, awaitRequest());
        endpoint.queuePair.accept(NO_DATA);
        return endpoint;
    }

    /** Lets both contexts work until something is so. */
    void pump(String what, BooleanSupplier condition) throws IOException {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            if (poll() == 0) {
                Thread.onSpinWait();
                if (System.nanoTime() - deadline > 0) {
                    throw new AssertionError("waited in vain for " + what);
                }
            }
        }
    }

    int poll() throws IOException {
        return server.poll(this, 16) + client.poll(this, 16);
    }

    /** Lets both contexts work until neither has anything to do, as far as what they did before reaches. */
    void settle() throws IOException {
        for (int idle = 0; idle < 100; idle++) {
            if (poll() > 0) {
                idle = 0;
            }
        }
    }

    @Override
    public void onCompletion(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated,
                             int invalidatedTag, int vendorError) {
        endpoints.get((int) (workRequestId >>> 32)).completions.add(
                new Completion((int) workRequestId, status, byteLength, invalidated, invalidatedTag));
    }

    @Override
    public void onSharedReceive(int queuePairNumber, long workRequestId, WorkCompletionStatus status, int byteLength,
                                boolean invalidated, int invalidatedTag, int vendorError) {
        endpoints.get(queuePairNumber).completions.add(
                new Completion(workRequestId, status, byteLength, invalidated, invalidatedTag));
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
