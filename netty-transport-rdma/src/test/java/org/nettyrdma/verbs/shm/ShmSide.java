package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionParameters;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SendWorkRequest;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;

/** One end of connections under test: a context, memory, and what was heard of the last connection. */
final class ShmSide implements QueuePair.Listener, ConnectionListener.Handler, CompletionHandler, AutoCloseable {

    /** A completion of a shared receive. */
    record SharedCompletion(int queuePairNumber, long id, WorkCompletionStatus status, int byteLength) {
    }

    static final int MEMORY_BYTES = 1 << 20;
    static final long TIMEOUT_SECONDS = 30;
    static final QueuePairAttributes ATTRIBUTES = new QueuePairAttributes(64, 64, 4, 4, false, 1000);

    final VerbsProvider verbs;
    /** What has the memory. */
    final ShmProvider provider;
    final VerbsContext context;
    final ByteBuffer memory;
    final MemoryRegion region;
    final Queue<ConnectionRequest> requests = new ArrayDeque<>();
    final List<SharedCompletion> sharedCompletions = new ArrayList<>();
    final SendWorkRequest work = new SendWorkRequest(4);
    QueuePair queuePair;
    boolean established;
    boolean ended;
    IOException cause;
    ConnectionParameters parameters;
    byte[] rejection;
    int ends;
    int received;
    int sent;
    int flushed;
    int failed;

    ShmSide(VerbsProvider verbs) throws IOException {
        this.verbs = verbs;
        provider = verbs instanceof ShmProvider shm ? shm : verbs instanceof SameHostProvider both ? both.shm() : null;
        context = verbs.openContext();
        memory = verbs.allocate(MEMORY_BYTES);
        region = verbs.registerMemory(memory);
    }

    SocketAddress listen() throws IOException {
        return listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    SocketAddress listen(SocketAddress address) throws IOException {
        ConnectionListener listener = context.listen(address, 16, new ListenAttributes(5000, 16, 16, 0, true), this);
        listener.setAccepting(true);
        return listener.localAddress();
    }

    /** Takes up the next request. */
    void accept(int receives) throws IOException {
        accept(ATTRIBUTES, receives);
    }

    void accept(QueuePairAttributes attributes, int receives) throws IOException {
        awaitTrue(() -> !requests.isEmpty());
        open(context.createQueuePair(attributes, this, requests.remove()), receives);
        queuePair.accept(ByteBuffer.allocate(0));
        awaitTrue(() -> established || ended);
    }

    void connect(SocketAddress address, int receives) throws IOException {
        open(context.createQueuePair(ATTRIBUTES, this), receives);
        queuePair.connect(address, null, ByteBuffer.allocate(0));
    }

    void open(QueuePair opened, int receives) throws IOException {
        queuePair = opened;
        established = false;
        ended = false;
        cause = null;
        for (int i = 0; i < receives; i++) {
            queuePair.postReceive(i, region, i * 1024, 1024);
        }
    }

    void awaitTrue(BooleanSupplier condition) throws IOException {
        long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(TIMEOUT_SECONDS);
        while (!condition.getAsBoolean()) {
            if (context.poll(this, 64) == 0) {
                context.await(1_000_000);
            }
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("nothing for " + TIMEOUT_SECONDS + " s; established " + established + ", ended "
                        + ended + ", cause " + cause + ", received " + received);
            }
        }
    }

    void send(int bytes) throws IOException {
        queuePair.postSend(work.send(1000).addElement(region, 512 * 1024, bytes));
        queuePair.flush();
    }

    @Override
    public void connectionRequested(ConnectionRequest request) {
        requests.add(request);
    }

    @Override
    public void acceptFailed(Throwable reason) {
        throw new IllegalStateException(reason);
    }

    @Override
    public void established(ConnectionParameters agreed) {
        established = true;
        parameters = agreed;
    }

    @Override
    public void connectFailed(IOException reason, ByteBuffer privateData) {
        ended = true;
        ends++;
        cause = reason;
        rejection = new byte[privateData.remaining()];
        privateData.duplicate().get(rejection);
    }

    @Override
    public void disconnected(IOException reason) {
        ended = true;
        ends++;
        cause = reason;
    }

    @Override
    public void onCompletion(long id, WorkCompletionStatus status, int byteLength, boolean invalidated, int invalidatedTag,
                             int vendorError) {
        if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            flushed++;
        } else if (status != WorkCompletionStatus.SUCCESS) {
            failed++;
        } else if (id < 1000) {
            received++;
            if (!ended) {
                repost((int) id);
            }
        } else {
            sent++;
        }
    }

    @Override
    public void onSharedReceive(int queuePairNumber, long id, WorkCompletionStatus status, int byteLength, boolean invalidated,
                                int invalidatedTag, int vendorError) {
        sharedCompletions.add(new SharedCompletion(queuePairNumber, id, status, byteLength));
    }

    private void repost(int number) {
        try {
            queuePair.postReceive(number, region, number * 1024, 1024);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        context.close();
        region.close();
        verbs.free(memory);
    }
}
