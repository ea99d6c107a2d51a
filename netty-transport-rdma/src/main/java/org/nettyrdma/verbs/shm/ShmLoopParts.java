package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.nettyrdma.verbs.support.DeferredTasks;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.SendSlot;
import org.nettyrdma.verbs.support.SteeringTagGenerator;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * What the connections of one event loop share.
 */
final class ShmLoopParts {

    /** More work requests than a busy loop has under way. */
    private static final int MAX_IDLE_SLOTS = 4096;
    private static final int SIGNAL_BYTES = 64;

    private final ShmSettings settings;
    private final ProcessDirectory directory;
    private final ShmStatistics statistics;
    private final TimerQueue timers;
    private final DeliveryRing deliveries = new DeliveryRing();
    private final DeferredTasks deferred = new DeferredTasks();
    private final SteeringTagGenerator steeringTagGenerator = new SteeringTagGenerator();
    private final Pool<SendSlot> slotPool = new Pool<>(SendSlot::new, MAX_IDLE_SLOTS);
    private final Map<Long, PeerBlocks> peerBlocks = new HashMap<>();
    private final List<ShmQueuePair> polled = new ArrayList<>();
    private final ByteBuffer signals = ByteBuffer.allocateDirect(SIGNAL_BYTES);
    private final ReadySockets sockets;

    ShmLoopParts(ShmSettings settings, ProcessDirectory directory, ShmStatistics statistics, LongSupplier nanoClock)
            throws IOException {
        this.settings = settings;
        this.directory = directory;
        this.statistics = statistics;
        timers = new TimerQueue(nanoClock);
        sockets = new ReadySockets(); // last, since it has to be closed
    }

    ShmSettings settings() {
        return settings;
    }

    ProcessDirectory directory() {
        return directory;
    }

    ShmStatistics statistics() {
        return statistics;
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

    SteeringTagGenerator steeringTagGenerator() {
        return steeringTagGenerator;
    }

    Pool<SendSlot> slotPool() {
        return slotPool;
    }

    /** The blocks of another process, for one more connection. */
    PeerBlocks peerBlocks(long instance) {
        return PeerBlocks.acquire(directory, instance, peerBlocks);
    }

    /** The connections whose memory is looked at with each poll; the others sleep, and their peers know. */
    List<ShmQueuePair> polled() {
        return polled;
    }

    /** Where bytes go that only wake. */
    ByteBuffer signals() {
        return signals;
    }

    ReadySockets sockets() {
        return sockets;
    }
}
