package org.nettyrdma.verbs.iwarp;

import java.util.function.Supplier;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.TimerQueue;

/** What the connections of one event loop share. */
final class IwarpLoopParts {

    private static final int MAX_IDLE_BATCHES = 64;

    private final LoopCore core;
    private final IwarpStatistics statistics;
    private final StagingBuffers stagingBuffers = new StagingBuffers();
    private final Pool<FpduBatch> batchPool;
    private final SocketDrain draining;

    IwarpLoopParts(LoopCore core, IwarpStatistics statistics, Supplier<FpduBatch> newBatch) {
        this.core = core;
        this.statistics = statistics;
        batchPool = new Pool<>(newBatch, MAX_IDLE_BATCHES, FpduBatch::free);
        draining = new SocketDrain(core.timers(), stagingBuffers.small(), core::execute);
    }

    LoopCore core() {
        return core;
    }

    IwarpStatistics statistics() {
        return statistics;
    }

    ReadySockets sockets() {
        return core.sockets();
    }

    TimerQueue timers() {
        return core.timers();
    }

    DeliveryRing deliveries() {
        return core.deliveries();
    }

    /** Runs a task at the start of the next poll. */
    void defer(Runnable task) {
        core.deferred().add(task);
    }

    StagingBuffers stagingBuffers() {
        return stagingBuffers;
    }

    Pool<FpduBatch> batchPool() {
        return batchPool;
    }

    SocketDrain draining() {
        return draining;
    }
}
