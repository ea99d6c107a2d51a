package org.nettyrdma.verbs.shm;

import java.util.concurrent.atomic.LongAdder;

/** What has happened on all connections of a provider. Safe for use from any thread. */
public final class ShmStatistics {

    final LongAdder connections = new LongAdder();
    final LongAdder invalidRequests = new LongAdder();
    final LongAdder violations = new LongAdder();
    final LongAdder terminatesReceived = new LongAdder();
    final LongAdder lostConnections = new LongAdder();
    final LongAdder wakeUpsSent = new LongAdder();

    ShmStatistics() {
    }

    /**
     * Connections that were made, by either side.
     *
     * @return how many
     */
    public long connections() {
        return connections.sum();
    }

    /**
     * Connection requests that were dropped: malformed, late, too many, or from a user who may not connect.
     *
     * @return how many
     */
    public long invalidRequests() {
        return invalidRequests.sum();
    }

    /**
     * Connections ended because the peer broke the protocol or used memory that it must not.
     *
     * @return how many
     */
    public long violations() {
        return violations.sum();
    }

    /**
     * Connections that the peer has ended with a reason.
     *
     * @return how many
     */
    public long terminatesReceived() {
        return terminatesReceived.sum();
    }

    /**
     * Connections whose peer has gone without a word.
     *
     * @return how many
     */
    public long lostConnections() {
        return lostConnections.sum();
    }

    /**
     * Bytes sent to wake peers that slept.
     *
     * @return how many
     */
    public long wakeUpsSent() {
        return wakeUpsSent.sum();
    }
}
