package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * The connections of one event loop. {@link #poll} lets ready sockets make progress, which fills the {@link DeliveryRing}, and
 * then delivers from it; so no user code runs inside a connection's own code.
 */
final class IwarpContext implements VerbsContext {

    /** The loop runs and nobody has asked to wake it. */
    private static final int AWAKE = 0;
    /** The loop is in the selector, or about to go there: waking it takes a system call. */
    private static final int ASLEEP = 1;
    /** Somebody has asked to wake the loop. */
    private static final int WOKEN = 2;

    private final IwarpLoopParts parts;
    private final ReadySockets sockets;
    private final TimerQueue timers;
    private final DeliveryRing deliveries;
    private final ArrayDeque<Runnable> deferred;
    private final AtomicInteger wakeState = new AtomicInteger(AWAKE);
    private final Set<IwarpQueuePair> queuePairs = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * @param nanoClock            as {@link System#nanoTime}
     * @param steeringTagGenerator makes tags that no peer can guess
     */
    IwarpContext(IwarpStatistics statistics, LongSupplier nanoClock, IntSupplier steeringTagGenerator) throws IOException {
        this(new IwarpLoopParts(statistics, nanoClock, steeringTagGenerator, FpduBatch::new));
    }

    IwarpContext(IwarpLoopParts parts) {
        this.parts = parts;
        sockets = parts.sockets();
        timers = parts.timers();
        deliveries = parts.deliveries();
        deferred = parts.deferred();
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) {
        return add(new IwarpQueuePair(parts, attributes, listener, null, queuePairs::remove));
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        IwarpConnectionRequest taken = (IwarpConnectionRequest) request;
        taken.take();
        try {
            return add(new IwarpQueuePair(parts, attributes, listener, taken, queuePairs::remove));
        } catch (Throwable t) {
            taken.channel().close();
            throw t;
        }
    }

    private QueuePair add(IwarpQueuePair queuePair) {
        queuePairs.add(queuePair);
        return queuePair;
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        return new IwarpListener(parts, address, backlog, attributes, listener);
    }

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
        int work = runDeferred();   // 1. what an earlier round left or a user asked for
        work += sockets.progress(); // 2. sockets
        work += timers.run();       // 3. time-outs, after the data that may have come in time
        return work + deliveries.deliver(handler, maxCompletions);
    }

    @Override
    public void await(long timeoutNanos) throws IOException {
        if (!deliveries.isEmpty() || !deferred.isEmpty()) {
            return;
        }
        if (wakeState.compareAndSet(AWAKE, ASLEEP)) {
            long limitNanos = Math.min(timeoutNanos < 0 ? Long.MAX_VALUE : timeoutNanos, timers.nanosToNext());
            if (limitNanos > 0) {
                sockets.await(limitNanos == Long.MAX_VALUE ? 0 : 1 + TimeUnit.NANOSECONDS.toMillis(limitNanos - 1));
            }
        }
        wakeState.set(AWAKE);
    }

    @Override
    public void wakeup() {
        if (wakeState.getAndSet(WOKEN) == ASLEEP) {
            sockets.wakeup();
        }
    }

    private int runDeferred() {
        int count = deferred.size(); // what these tasks defer waits for the next round
        for (int i = 0; i < count; i++) {
            deferred.poll().run();
        }
        return count;
    }

    @Override
    public void close() {
        if (!sockets.isOpen()) {
            return;
        }
        for (IwarpQueuePair queuePair : new ArrayList<>(queuePairs)) {
            queuePair.close();
        }
        sockets.close();
    }
}
