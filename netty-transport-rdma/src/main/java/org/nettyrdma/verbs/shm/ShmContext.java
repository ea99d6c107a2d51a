package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.support.DeferredTasks;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.TimerQueue;
import org.nettyrdma.verbs.support.WakeState;

/**
 * The connections of one event loop. {@link #poll} looks into the memory of those that are awake, now and then at the sockets,
 * and delivers what has come of it; so no user code runs inside a connection's own code. A connection on which nothing happens
 * for a while falls asleep, and all do before the loop sleeps: then the peer has to send a byte over the socket.
 */
final class ShmContext implements VerbsContext {

    /** Looking at the sockets takes a system call, and polling memory some nanoseconds. */
    private static final int POLLS_PER_SELECTION = 64;
    /** After so many polls without work a connection is no longer looked at. */
    private static final int MAX_IDLE_POLLS = 1 << 14;

    private final ShmLoopParts parts;
    private final ReadySockets sockets;
    private final TimerQueue timers;
    private final DeliveryRing deliveries;
    private final DeferredTasks deferred;
    private final List<ShmQueuePair> polled;
    private final WakeState wakeState = new WakeState();
    private final Set<ShmQueuePair> queuePairs = Collections.newSetFromMap(new IdentityHashMap<>());
    private int pollsToSelection;

    ShmContext(ShmLoopParts parts) {
        this.parts = parts;
        sockets = parts.sockets();
        timers = parts.timers();
        deliveries = parts.deliveries();
        deferred = parts.deferred();
        polled = parts.polled();
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) {
        return add(new ShmQueuePair(parts, attributes, listener, null, queuePairs::remove));
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        ShmConnectionRequest taken = (ShmConnectionRequest) request;
        taken.take();
        try {
            return add(new ShmQueuePair(parts, attributes, listener, taken, queuePairs::remove));
        } catch (Throwable t) {
            taken.channel().close();
            throw t;
        }
    }

    private QueuePair add(ShmQueuePair queuePair) {
        queuePairs.add(queuePair);
        return queuePair;
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        return new ShmListener(parts, address, backlog, attributes, listener);
    }

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
        int work = deferred.run(); // 1. what an earlier round left or a user asked for
        work += pollConnections();  // 2. the memory of peers
        if (polled.isEmpty() || --pollsToSelection < 0 || sockets.hasWork()) {
            pollsToSelection = POLLS_PER_SELECTION;
            work += sockets.progress(); // 3. connections that begin, sleepers that are woken, peers that have gone
        }
        work += timers.run();      // 4. time-outs, after the data that may have come in time
        return work + deliveries.deliver(handler, maxCompletions);
    }

    private int pollConnections() {
        int work = 0;
        for (int i = 0; i < polled.size(); ) {
            ShmQueuePair queuePair = polled.get(i);
            int progress = queuePair.poll();
            work += progress;
            if (!queuePair.isPolled() || queuePair.idlePolls(progress == 0) > MAX_IDLE_POLLS && queuePair.fallAsleep()) {
                queuePair.setPolled(false);
                int last = polled.size() - 1;
                polled.set(i, polled.get(last));
                polled.remove(last);
            } else {
                i++;
            }
        }
        return work;
    }

    @Override
    public void await(long timeoutNanos) throws IOException {
        if (!deliveries.isEmpty() || !deferred.isEmpty()) {
            return;
        }
        if (wakeState.beginSleep()) {
            long limitNanos = timers.limitNanos(timeoutNanos);
            if (limitNanos > 0 && fallAsleep()) {
                pollsToSelection = 0;
                sockets.await(limitNanos == Long.MAX_VALUE ? 0 : 1 + TimeUnit.NANOSECONDS.toMillis(limitNanos - 1));
            }
        }
        wakeState.endSleep();
    }

    /** Lets all connections sleep; {@code false} if one has something to do. */
    private boolean fallAsleep() {
        for (int i = polled.size() - 1; i >= 0; i--) {
            ShmQueuePair queuePair = polled.get(i);
            if (queuePair.isPolled() && !queuePair.fallAsleep()) {
                return false;
            }
            queuePair.setPolled(false);
            polled.remove(i);
        }
        return deferred.isEmpty();
    }

    @Override
    public void wakeup() {
        if (wakeState.wake()) {
            sockets.wakeup();
        }
    }

    @Override
    public void close() {
        if (!sockets.isOpen()) {
            return;
        }
        for (ShmQueuePair queuePair : new ArrayList<>(queuePairs)) {
            queuePair.close();
        }
        sockets.close();
    }
}
