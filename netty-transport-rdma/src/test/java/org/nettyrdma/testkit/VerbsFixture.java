package org.nettyrdma.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.nettyrdma.testkit.VerbsSide.Completion;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * What the parts of {@link VerbsContract} have in common: both ends of a connection, each with a context of its own, driven by
 * the thread of the test. Everything is closed after each test.
 */
public abstract class VerbsFixture {

    static final long TIMEOUT_SECONDS = 30;
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(TestAddress.LOCAL, 0);
    static final ListenAttributes LISTEN = new ListenAttributes(5000, 1024, 1024, 0, true);
    static final int QUEUE_DEPTH = 8;
    static final QueuePairAttributes ATTRIBUTES = new QueuePairAttributes(QUEUE_DEPTH, QUEUE_DEPTH, 4, 4, false, 1000);
    static final ByteBuffer NO_DATA = ByteBuffer.allocate(0);

    VerbsSide client;
    VerbsSide server;
    ConnectionListener listener;
    final Queue<ConnectionRequest> requests = new ArrayDeque<>();
    private final Queue<Throwable> acceptFailures = new ArrayDeque<>();

    /**
     * The provider under test.
     *
     * @return a provider that is available; the same with each call
     */
    protected abstract VerbsProvider provider();

    @BeforeEach
    void open() throws IOException {
        client = new VerbsSide(provider());
        server = new VerbsSide(provider());
        listener = server.context.listen(ANY_PORT, 16, LISTEN, new ConnectionListener.Handler() {
            @Override
            public void connectionRequested(ConnectionRequest request) {
                requests.add(request);
            }

            @Override
            public void acceptFailed(Throwable cause) {
                acceptFailures.add(cause);
            }
        });
        listener.setAccepting(true);
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        assertTrue(acceptFailures.isEmpty());
    }

    void pumpUntil(BooleanSupplier condition) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (client.poll() + server.poll() == 0) {
                client.context.await(100_000);
            }
            assertTrue(System.nanoTime() - deadlineNanos < 0, () -> "client " + client.events + ' ' + client.completions
                    + ", server " + server.events + ' ' + server.completions);
        }
    }

    void request(byte[] privateData) throws IOException {
        client.queuePair = client.context.createQueuePair(ATTRIBUTES, client);
        for (int i = 0; i < QUEUE_DEPTH / 2; i++) {
            client.postReceive(i);
        }
        client.queuePair.connect(listener.localAddress(), null, ByteBuffer.wrap(privateData));
        pumpUntil(() -> !requests.isEmpty());
    }

    void accept(VerbsSide by, byte[] privateData) throws IOException {
        by.queuePair = by.context.createQueuePair(ATTRIBUTES, by, requests.remove());
        for (int i = 0; i < QUEUE_DEPTH / 2; i++) {
            by.postReceive(i);
        }
        by.queuePair.accept(ByteBuffer.wrap(privateData));
        pumpUntil(() -> client.isEstablished() && by.isEstablished());
    }

    void connect() throws IOException {
        request(new byte[0]);
        accept(server, new byte[0]);
    }

    void assertCompletes(VerbsSide side, long id) throws IOException {
        pumpUntil(() -> !side.completions.isEmpty());
        Completion completion = side.completions.remove();
        assertEquals(id, completion.id());
        assertEquals(WorkCompletionStatus.SUCCESS, completion.status());
    }

    Completion nextCompletion(VerbsSide side) throws IOException {
        pumpUntil(() -> !side.completions.isEmpty());
        return side.completions.remove();
    }
}
