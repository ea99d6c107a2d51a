package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.nettyrdma.verbs.support.DeferredTasks;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.SendSlot;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * What the connections of one event loop share.
 */
final class IwarpLoopParts {

    private static final int MAX_IDLE_BUFFERS = 64;
    /** About half a megabyte, and more work requests than a busy loop has under way. */
    private static final int MAX_IDLE_SLOTS = 4096;

    private final IwarpStatistics statistics;
    private final ReadySockets sockets;
    private final TimerQueue timers;
    private final DeliveryRing deliveries = new DeliveryRing();
    private final DeferredTasks deferred = new DeferredTasks();
    private final IntSupplier steeringTagGenerator;
    private final Pool<ByteBuffer> stagingPool =
            new Pool<>(() -> ByteBuffer.allocateDirect(InboundStream.STAGING_BYTES), MAX_IDLE_BUFFERS);
    private final Pool<FpduBatch> batchPool;
    private final Pool<SendSlot> slotPool = new Pool<>(SendSlot::new, MAX_IDLE_SLOTS);
    private final SocketDrain draining;

    IwarpLoopParts(IwarpStatistics statistics, LongSupplier nanoClock, IntSupplier steeringTagGenerator,
                   Supplier<FpduBatch> newBatch) throws IOException {
        batchPool = new Pool<>(newBatch, MAX_IDLE_BUFFERS);
        this.statistics = statistics;
        this.steeringTagGenerator = steeringTagGenerator;
        timers = new TimerQueue(nanoClock);
        draining = new SocketDrain(timers, stagingPool);
        sockets = new ReadySockets(); // last, since it has to be closed
    }

    IwarpStatistics statistics() {
        return statistics;
    }

    ReadySockets sockets() {
        return sockets;
    }

    TimerQueue timers() {
        return timers;
    }

    DeliveryRing deliveries() {
        return deliveries;
    }

    /** Runs a task at the start of the next poll. */
    void defer(Runnable task) {
        deferred.add(task);
    }

    /** What is to run at the start of the next poll. */
    DeferredTasks deferred() {
        return deferred;
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

    SocketDrain draining() {
        return draining;
    }
}
