package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one event loop. {@link #poll} lets ready sockets make progress, which fills the {@link DeliveryRing}, and
 * then delivers from it; so no user code runs inside a connection's own code.
 */
final class IwarpContext implements VerbsContext {

    private static final Logger LOGGER = LoggerFactory.getLogger(IwarpContext.class);

    /** The loop runs and nobody has asked to wake it. */
    private static final int AWAKE = 0;
    /** The loop is in the selector, or about to go there: waking it takes a system call. */
    private static final int ASLEEP = 1;
    /** Somebody has asked to wake the loop. */
    private static final int WOKEN = 2;

    private static final int MAX_IDLE_BUFFERS = 64;
    /** About half a megabyte, and more work requests than a busy loop has under way. */
    private static final int MAX_IDLE_SLOTS = 4096;

    private final IwarpStatistics statistics;
    private final ReadySockets sockets;
    private final AtomicInteger wakeState = new AtomicInteger(AWAKE);

    private final TimerQueue timers;
    private final DeliveryRing deliveries = new DeliveryRing();
    private final ArrayDeque<Runnable> deferred = new ArrayDeque<>();
    private final Set<IwarpQueuePair> queuePairs = Collections.newSetFromMap(new IdentityHashMap<>());

    private final IntSupplier steeringTagGenerator;
    private final Pool<ByteBuffer> stagingPool =
            new Pool<>(() -> ByteBuffer.allocateDirect(InboundStream.STAGING_BYTES), MAX_IDLE_BUFFERS);
    private final Pool<FpduBatch> batchPool = new Pool<>(FpduBatch::new, MAX_IDLE_BUFFERS);
    private final Pool<SendSlot> slotPool = new Pool<>(SendSlot::new, MAX_IDLE_SLOTS);

    /**
     * @param nanoClock            as {@link System#nanoTime}
     * @param steeringTagGenerator makes tags that no peer can guess
     */
    IwarpContext(IwarpStatistics statistics, LongSupplier nanoClock, IntSupplier steeringTagGenerator) throws IOException {
        this.statistics = statistics;
        this.steeringTagGenerator = steeringTagGenerator;
        timers = new TimerQueue(nanoClock);
        sockets = new ReadySockets();
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener) {
        return add(new IwarpQueuePair(this, attributes, listener, null));
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes, QueuePair.Listener listener, ConnectionRequest request)
            throws IOException {
        IwarpConnectionRequest taken = (IwarpConnectionRequest) request;
        taken.take();
        try {
            return add(new IwarpQueuePair(this, attributes, listener, taken));
        } catch (RuntimeException e) {
            taken.channel().close();
            throw e;
        }
    }

    private QueuePair add(IwarpQueuePair queuePair) {
        queuePairs.add(queuePair);
        return queuePair;
    }

    void remove(IwarpQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    @Override
    public ConnectionListener listen(SocketAddress address, int backlog, ListenAttributes attributes,
                                     ConnectionListener.Handler listener) throws IOException {
        return new IwarpListener(this, address, backlog, attributes, listener);
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

    /**
     * Ends what a handler stands for. A fault of ours must cost one connection, not the loop.
     */
    static void fail(SocketHandler handler, Exception cause) {
        if (cause instanceof RuntimeException) {
            LOGGER.warn("Unexpected failure; its connection is closed", cause);
        }
        handler.failed(cause);
    }

    private int runDeferred() {
        int count = deferred.size(); // what these tasks defer waits for the next round
        for (int i = 0; i < count; i++) {
            deferred.poll().run();
        }
        return count;
    }

    SelectionKey register(SelectableChannel channel, int operations, SocketHandler handler) throws IOException {
        return sockets.register(channel, operations, handler);
    }

    /**
     * Runs a task at the start of the next {@link #poll}.
     */
    void defer(Runnable task) {
        deferred.add(task);
    }

    /**
     * Takes a socket off this context, so that another one can have it.
     *
     * @param then what to do when that has happened
     */
    void deregister(SelectionKey key, Runnable then) {
        sockets.deregister(key, then);
    }

    /**
     * Closes a connection without losing what TCP has taken, see {@link DrainingSocket}.
     */
    void drain(SocketChannel channel, SelectionKey key, int timeoutMillis) {
        new DrainingSocket(this, channel, key).start(timeoutMillis);
    }

    IwarpStatistics statistics() {
        return statistics;
    }

    TimerQueue timers() {
        return timers;
    }

    DeliveryRing deliveries() {
        return deliveries;
    }

    IntSupplier steeringTagGenerator() {
        return steeringTagGenerator;
    }

    Pool<ByteBuffer> stagingPool() {
        return stagingPool;
    }

    Pool<FpduBatch> batchPool() {
        return batchPool;
    }

    Pool<SendSlot> slotPool() {
        return slotPool;
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

    /**
     * Closes what is of no use any more; that it could not be closed in order is of no consequence.
     */
    static void closeQuietly(AutoCloseable closeable) {
        try {
            closeable.close();
        } catch (Exception e) {
            LOGGER.debug("Closing {} failed", closeable, e);
        }
    }
}
