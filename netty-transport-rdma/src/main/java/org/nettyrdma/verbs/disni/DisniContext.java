package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ConnectionRequest;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.QueuePairAttributes;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.IntTable;
import org.nettyrdma.verbs.support.OwnRequest;
import org.nettyrdma.verbs.support.TimerQueue;
import org.nettyrdma.verbs.support.WakeState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device as one event loop sees it. {@link #poll} takes what the device has completed and what has happened to connections,
 * which fills the {@link DeliveryRing}, and then delivers from it; so no user code runs inside a connection's own code.
 */
final class DisniContext implements VerbsContext, EventReceiver {

    private static final Logger LOGGER = LoggerFactory.getLogger(DisniContext.class);

    /** Asking for connection events takes system calls, so a busy loop does not ask each time; one that has slept does. */
    private static final int POLLS_PER_EVENT_POLL = 256;
    /** A poll that found work counts for so many that found none, because of the time that work takes. */
    private static final int POLLS_PER_WORK = 16;

    private record Arrival(IdentifierOwner owner, ConnectionEvent event) {
    }

    private final Device device;
    private final DisniLoopParts parts;
    private final NativeVerbs verbs;
    private final CompletionQueues completionQueues;
    private final DeliveryRing deliveries;
    private final TimerQueue timers;
    private final long wakeup;
    private final Sleeper sleeper;
    private final WakeState wakeState = new WakeState();
    private final Queue<Arrival> arrivals = new ConcurrentLinkedQueue<>(); // filled by any loop

    // Everything below is used by this loop's thread only.
    private final IntTable<DisniQueuePair> queuePairs = new IntTable<>();
    private final Set<DisniListener> listeners = new LinkedHashSet<>();
    private final Set<ClosingConnection> closing = new LinkedHashSet<>();
    private int lastNumber;
    private int pollsSinceEventPoll;
    private boolean closed;

    DisniContext(Device device) throws IOException {
        this.device = device;
        device.add(this);
        DisniLoopParts opened = null;
        long openedWakeup = 0;
        try {
            opened = new DisniLoopParts(device, this::completed);
            parts = opened;
            verbs = parts.verbs();
            completionQueues = parts.completionQueues();
            deliveries = parts.deliveries();
            timers = parts.timers();
            openedWakeup = verbs.createWakeup();
            wakeup = openedWakeup;
            sleeper = new Sleeper(
                    new long[] {completionQueues.channel(), device.connectionManager().channel(), device.context(), wakeup},
                    completionQueues.channel(), completionQueues.firstQueue());
        } catch (Throwable t) {
            if (openedWakeup != 0) {
                opened.verbs().destroyWakeup(openedWakeup);
            }
            if (opened != null) {
                opened.close();
            }
            device.remove(this);
            throw t;
        }
    }

    // ---- Connections

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) throws IOException {
        return new DisniQueuePair(this, attributes, listener, null);
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        DisniConnectionRequest taken = OwnRequest.of(request, DisniConnectionRequest.class, "disni");
        taken.take();
        try {
            DisniQueuePair queuePair = new DisniQueuePair(this, attributes, listener, taken);
            queuePair.takeUpRequest();
            return queuePair;
        } catch (Throwable t) {
            device.connectionManager().destroy(taken.id());
            throw t;
        }
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        return Closing.keep(listeners, new DisniListener(this, address, backlog, listener));
    }

    void remove(DisniListener listener) {
        listeners.remove(listener);
    }

    /** Makes completions find a queue pair. Returns the number by which they do. */
    int add(DisniQueuePair queuePair) {
        do {
            lastNumber++;
        } while (queuePairs.get(lastNumber) != null);
        queuePairs.put(lastNumber, queuePair);
        return lastNumber;
    }

    /** From here on completions of a queue pair are dropped. */
    void remove(int number) {
        queuePairs.remove(number);
    }

    /** Keeps an identifier until the peer has heard of the end; with the queue pair of an attempt to connect, or {@code null}. */
    void closeLater(long id, WorkQueues attempt, int timeoutMillis) {
        ClosingConnection connection = new ClosingConnection(this, id, attempt);
        try {
            closing.add(connection);
            connection.begin(timeoutMillis);
        } catch (OutOfMemoryError e) {
            connection.finish(); // without memory to wait
        }
    }

    void remove(ClosingConnection connection) {
        closing.remove(connection);
    }

    // ---- Progress

    @Override
    public int poll(CompletionHandler handler, int maxCompletions) throws IOException {
        int work = completionQueues.poll();                        // 1. completions
        pollsSinceEventPoll += work == 0 ? 1 : POLLS_PER_WORK;
        if (pollsSinceEventPoll >= POLLS_PER_EVENT_POLL) {
            pollsSinceEventPoll = 0;
            work += device.connectionManager().poll(this);         // 2. connection events, also those of other loops,
            device.pollEvents(this);                               //    and what the device says of itself
        }
        work += runArrivals();                                     // 3. connection events of this loop
        work += timers.run();                                      // 4. time-outs, after the events that may have come in time
        return work + deliveries.deliver(handler, maxCompletions); // 5. tell
    }

    /** One completion, from {@link CompletionQueues}. */
    private void completed(ByteBuffer completions, int index) {
        DisniQueuePair queuePair = queuePairs.get(WorkRequestKey.queuePair(completions.getLong(index)));
        if (queuePair != null) { // else it came after its queue pair was destroyed, which has flushed its work request
            queuePair.completed(completions, index);
        }
    }

    @Override
    public void arrived(IdentifierOwner owner, ConnectionEvent event, EventReceiver finder) {
        arrivals.add(new Arrival(owner, event));
        if (finder != this) {
            wakeup();
        }
    }

    private int runArrivals() {
        int count = 0;
        for (Arrival arrival = arrivals.poll(); arrival != null; arrival = arrivals.poll()) {
            run(arrival);
            count++;
        }
        return count;
    }

    private void run(Arrival arrival) {
        IdentifierOwner owner = arrival.owner().current();
        if (owner.context() == this) {
            owner.connectionEvent(arrival.event());
        } else {
            owner.context().arrived(owner, arrival.event(), this); // a request that moved in the meantime
        }
    }

    @Override
    public void await(long timeoutNanos) throws IOException {
        if (!deliveries.isEmpty() || !arrivals.isEmpty()) {
            return;
        }
        if (wakeState.beginSleep()) {
            completionQueues.arm();
            // Look again after arming: what completes from now on ends the sleep.
            if (completionQueues.poll() == 0 && arrivals.isEmpty()) {
                long limitNanos = timers.limitNanos(timeoutNanos);
                verbs.await(sleeper, limitNanos == Long.MAX_VALUE ? -1 : limitNanos);
            }
            completionQueues.drainEvents();
        }
        wakeState.endSleep();
        pollsSinceEventPoll = POLLS_PER_EVENT_POLL; // an event may be what has ended the sleep
    }

    @Override
    public void wakeup() {
        if (wakeState.wake()) {
            verbs.wake(wakeup);
        }
    }

    DisniLoopParts parts() {
        return parts;
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Closing steps = new Closing();
        steps.step(queuePairs, table -> steps.all(table.values(), DisniQueuePair::close));
        steps.all(listeners, DisniListener::close);
        steps.all(arrivals, this::run); // requests of peers, which the listeners reject now, and what concerns other loops
        steps.all(closing, ClosingConnection::finish);
        steps.step(parts, DisniLoopParts::close);
        steps.step(wakeup, verbs::destroyWakeup);
        steps.step(this, device::remove);
        LOGGER.debug("Context of device {} closed", device.limits().name());
        steps.end();
    }
}
