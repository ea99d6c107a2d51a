package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.support.GrowingQueue;
import org.nettyrdma.verbs.support.SteeringTag;

/** What a user has posted and exposed before it is known which provider carries the connection. */
final class EarlyWork {

    private record Receive(long workRequestId, MemoryRegion region, int offset, int length) {
    }

    private record Exposure(MemoryRegion region, int offset, int length, int access) {
    }

    private final ReplayedTags tags;
    private final int receiveDepth;
    private final GrowingQueue<Receive> receives = new GrowingQueue<>(16);
    private final Map<Integer, Exposure> exposures = new LinkedHashMap<>();

    /** How many messages the user has allowed to be taken from a shared receive queue. */
    private long allowedReceives = Long.MAX_VALUE;

    EarlyWork(ReplayedTags tags, int receiveDepth) {
        this.tags = tags;
        this.receiveDepth = receiveDepth;
    }

    void allowReceives(long messages) {
        allowedReceives = messages;
    }

    void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        if (receives.size() == receiveDepth) {
            throw new IOException("the receive queue is full: depth " + receiveDepth);
        }
        receives.add(new Receive(workRequestId, region, offset, length));
    }

    /** Posts the receives, which are then no longer kept here, and says how many shared ones may be taken. */
    void postReceivesTo(QueuePair queuePair) throws IOException {
        queuePair.allowReceives(allowedReceives);
        for (Receive next = receives.poll(); next != null; next = receives.poll()) {
            queuePair.postReceive(next.workRequestId, next.region, next.offset, next.length);
        }
    }

    int expose(MemoryRegion region, int offset, int length, int access) {
        SteeringTag.check(region, offset, length, access);
        int tag;
        do {
            tag = tags.getAsInt();
        } while (exposures.containsKey(tag));
        exposures.put(tag, new Exposure(region, offset, length, access));
        return tag;
    }

    /** Exposes by the same tags what is exposed; it is kept here for the case that another queue pair has to. */
    void exposeTo(QueuePair queuePair) throws IOException {
        for (int tag : exposures.keySet()) {
            exposeTo(queuePair, tag);
        }
    }

    void exposeTo(QueuePair queuePair, int tag) throws IOException {
        Exposure exposure = exposures.get(tag);
        tags.replay(tag);
        try {
            queuePair.expose(exposure.region, exposure.offset, exposure.length, exposure.access);
        } finally {
            tags.replay(0); // if it was not taken
        }
    }

    long remoteOffset(int tag) {
        if (!exposures.containsKey(tag)) {
            throw new IllegalArgumentException(String.format("steeringTag: 0x%08x (expected: a valid one)", tag));
        }
        return 0; // as with both providers
    }

    void invalidate(int tag) {
        exposures.remove(tag);
    }
}
