package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.SocketAddress;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
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
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.SharedReceiveStack;
import org.nettyrdma.verbs.support.TimerQueue;

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
    private final Set<ShmQueuePair> queuePairs = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<ShmListener> listeners = new HashSet<>();
    private final int fewestPollsPerSelection;
    private int pollsPerSelection = POLLS_PER_SELECTION;
    private int pollsToSelection;

    /**
     * @param socketsCarryData whether connections of another kind use the sockets for all that they carry; then these are looked
     *                         at with every poll as long as that finds something
     */
    ShmContext(ShmLoopParts parts, boolean socketsCarryData) {
        this.parts = parts;
        fewestPollsPerSelection = socketsCarryData ? 0 : POLLS_PER_SELECTION;
        sockets = parts.sockets();
        timers = parts.timers();
        deliveries = parts.deliveries();
        deferred = parts.core().deferred();
        polled = parts.polled();
        parts.directory().use();
        parts.core().beforeClose(this::closeAll);
    }

    @Override
    public ShmQueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) {
        return Closing.keep(queuePairs, new ShmQueuePair(parts, attributes, listener, null, queuePairs::remove));
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        ShmConnectionRequest own = OwnRequest.of(request, ShmConnectionRequest.class, ShmQueuePair.PROVIDER);
        return own.take(() -> Closing.keep(queuePairs,
                new ShmQueuePair(parts, attributes, listener, own, queuePairs::remove)));
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int depth) {
        return new SharedReceiveStack(parts.core(), depth);
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        return listen(BoundSocket.bind(parts.directory(), address, backlog), attributes, listener);
    }

    /** Takes the socket over. */
    ShmListener listen(BoundSocket socket, ListenAttributes attributes, ConnectionListener.Handler handler) throws IOException {
        return Closing.keep(listeners, new ShmListener(parts, socket, attributes, handler, listeners::remove));
    }

    ShmLoopParts parts() {
        return parts;
    }

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
        int work = deferred.run(); // 1. what an earlier round left or a user asked for
        work += pollConnections();  // 2. the memory of peers
        if (polled.isEmpty() || --pollsToSelection < 0 || sockets.hasWork()) {
            // 3. connections that begin, sleepers that are woken, peers that have gone, and those of another kind
            int progress = polled.isEmpty() ? parts.core().progress() : sockets.progress();
            pollsPerSelection = progress > 0 ? fewestPollsPerSelection
                    : Math.min(POLLS_PER_SELECTION, 2 * pollsPerSelection + 1);
            pollsToSelection = pollsPerSelection;
            work += progress;
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
                queuePair.stopPolling();
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
        parts.core().await(timeoutNanos, this::fallAsleep);
    }

    /** As with software iWARP, while all connections sleep. */
    @Override
    public boolean canAwaitUnpolled() {
        return polled.isEmpty() && !parts.core().hasWork();
    }

    /** Lets all connections sleep; {@code false} if one has something to do. */
    private boolean fallAsleep() {
        for (int i = polled.size() - 1; i >= 0; i--) {
            ShmQueuePair queuePair = polled.get(i);
            if (queuePair.isPolled() && !queuePair.fallAsleep()) {
                return false;
            }
            queuePair.stopPolling();
            polled.remove(i);
        }
        pollsToSelection = 0;
        return deferred.isEmpty() && parts.deliveries().isEmpty(); // a connection may have failed meanwhile
    }

    @Override
    public void wakeup() {
        parts.core().wakeup();
    }

    @Override
    public void close() {
        parts.core().close();
    }

    private void closeAll() {
        Closing closing = new Closing();
        closing.all(listeners, ShmListener::close); // their files and names stay otherwise
        closing.all(queuePairs, ShmQueuePair::close);
        closing.step(parts.directory(), ProcessDirectory::release);
        closing.end();
    }
}
