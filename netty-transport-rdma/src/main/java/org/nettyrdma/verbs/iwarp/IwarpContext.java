package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Set;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.SharedReceiveQueue;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.DeferredTasks;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.OwnRequest;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * The connections of one event loop. {@link #poll} lets ready sockets make progress, which fills the {@link DeliveryRing}, and
 * then delivers from it; so no user code runs inside a connection's own code.
 */
final class IwarpContext implements VerbsContext {

    private final IwarpLoopParts parts;
    private final TimerQueue timers;
    private final DeliveryRing deliveries;
    private final DeferredTasks deferred;
    private final Set<IwarpQueuePair> queuePairs = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<IwarpListener> listeners = new LinkedHashSet<>();

    IwarpContext(IwarpLoopParts parts) {
        this.parts = parts;
        timers = parts.timers();
        deliveries = parts.deliveries();
        deferred = parts.core().deferred();
        parts.core().beforeClose(this::closeAll);
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) {
        return Closing.keep(queuePairs, new IwarpQueuePair(parts, attributes, listener, null, queuePairs::remove));
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        IwarpConnectionRequest own = OwnRequest.of(request, IwarpConnectionRequest.class, IwarpQueuePair.PROVIDER);
        return own.take(() -> Closing.keep(queuePairs,
                new IwarpQueuePair(parts, attributes, listener, own, queuePairs::remove)));
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int depth) {
        return new SharedReceiveStack(parts.core(), depth);
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        return Closing.keep(listeners, new IwarpListener(parts, address, backlog, attributes, listener, listeners::remove));
    }

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
        int work = deferred.run();       // 1. what an earlier round left or a user asked for
        work += parts.core().progress(); // 2. sockets
        work += timers.run();            // 3. time-outs, after the data that may have come in time
        return work + deliveries.deliver(handler, maxCompletions);
    }

    @Override
    public void await(long timeoutNanos) throws IOException {
        parts.core().await(timeoutNanos, () -> true);
    }

    /** Both are one system call; but what is here already is polled with none, and without a look at the clock. */
    @Override
    public boolean canAwaitUnpolled() {
        return !parts.core().hasWork();
    }

    @Override
    public void wakeup() {
        parts.core().wakeup();
    }

    /** Of a peer that has ended its output too, the system goes on delivering when the socket is closed. */
    @Override
    public boolean isDrained() {
        return !parts.draining().isWaiting();
    }

    @Override
    public void close() {
        parts.core().close();
    }

    private void closeAll() {
        Closing closing = new Closing();
        closing.all(listeners, IwarpListener::close);
        closing.all(queuePairs, IwarpQueuePair::close);
        closing.step(parts.draining(), SocketDrain::close); // last, since these drain, too
        closing.end();
    }
}
