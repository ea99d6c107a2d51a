package org.nettyrdma.channel;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsContext;

/**
 * Stands in for a context that has failed and could not be replaced, for example because its device was removed: the event loop
 * goes on without channels, and who asks for one is told why there is none.
 */
final class LostContext implements VerbsContext {

    private final Throwable cause;
    private final Semaphore wakeUps = new Semaphore(0);

    LostContext(Throwable cause) {
        this.cause = cause;
    }

    private IOException refusal() {
        return new IOException(cause.getMessage(), cause);
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) throws IOException {
        throw refusal();
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        throw refusal();
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int depth) throws IOException {
        throw refusal();
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        throw refusal();
    }

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) {
        return 0;
    }

    @Override
    public void await(long timeoutNanos) {
        try {
            if (timeoutNanos < 0) {
                wakeUps.acquire();
            } else if (!wakeUps.tryAcquire(timeoutNanos, TimeUnit.NANOSECONDS)) {
                return;
            }
            wakeUps.drainPermits();
        } catch (InterruptedException e) {
            // As good as a wake-up; an event loop ends by its own shutdown only.
        }
    }

    @Override
    public void wakeup() {
        wakeUps.release();
    }

    @Override
    public void close() {
        // There is nothing to close.
    }
}
