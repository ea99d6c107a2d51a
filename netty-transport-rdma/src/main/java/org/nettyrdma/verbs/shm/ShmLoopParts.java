package org.nettyrdma.verbs.shm;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.nettyrdma.verbs.support.DeliveryRing;
import org.nettyrdma.verbs.support.LoopCore;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.TimerQueue;

/** What the connections of one event loop share. */
class ShmLoopParts {

    private static final int SIGNAL_BYTES = 64;

    private final LoopCore core;
    private final ShmSettings settings;
    private final ProcessDirectory directory;
    private final ShmStatistics statistics;
    private final Map<Long, PeerBlocks> peerBlocks = new HashMap<>();
    private final List<ShmQueuePair> polled = new ArrayList<>();
    private final TakenReceives takenReceives = new TakenReceives();
    private final ByteBuffer signals = ByteBuffer.allocateDirect(SIGNAL_BYTES);

    ShmLoopParts(LoopCore core, ShmSettings settings, ProcessDirectory directory, ShmStatistics statistics) {
        this.core = core;
        this.settings = settings;
        this.directory = directory;
        this.statistics = statistics;
    }

    LoopCore core() {
        return core;
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
        return core.timers();
    }

    DeliveryRing deliveries() {
        return core.deliveries();
    }

    /** Runs a task at the start of the next poll. */
    void defer(Runnable task) {
        core.deferred().add(task);
    }

    /** The blocks of another process, for one more connection. */
    PeerBlocks peerBlocks(long instance) {
        return PeerBlocks.acquire(directory, instance, peerBlocks);
    }

    /** The connections whose memory is looked at with each poll; the others sleep, and their peers know. */
    List<ShmQueuePair> polled() {
        return polled;
    }

    /** What the connection whose turn it is has taken from a shared receive queue. */
    TakenReceives takenReceives() {
        return takenReceives;
    }

    /** Where bytes go that only wake. */
    ByteBuffer signals() {
        return signals;
    }

    ReadySockets sockets() {
        return core.sockets();
    }
}
