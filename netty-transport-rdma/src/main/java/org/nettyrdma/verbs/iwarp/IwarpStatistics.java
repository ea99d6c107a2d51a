package org.nettyrdma.verbs.iwarp;

import java.util.concurrent.atomic.LongAdder;

/** Counters of a provider. They only grow; every one may be read from any thread. */
public final class IwarpStatistics {

    final LongAdder connections = new LongAdder();
    final LongAdder invalidRequests = new LongAdder();
    final LongAdder lateRequests = new LongAdder();
    final LongAdder displacedRequests = new LongAdder();
    final LongAdder receiveWaits = new LongAdder();
    final LongAdder violations = new LongAdder();
    final LongAdder terminatesReceived = new LongAdder();
    final LongAdder lostConnections = new LongAdder();

    IwarpStatistics() {
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
     * Connection requests that were dropped because they were no proper MPA request, or asked for markers.
     *
     * @return how many
     */
    public long invalidRequests() {
        return invalidRequests.sum();
    }

    /**
     * Peers that connected and did not send a whole MPA request in time.
     *
     * @return how many
     */
    public long lateRequests() {
        return lateRequests.sum();
    }

    /**
     * Peers that had not sent their whole MPA request yet and gave way to newer ones, because there were too many of them.
     *
     * @return how many
     */
    public long displacedRequests() {
        return displacedRequests.sum();
    }

    /**
     * Times that a Send arrived and no receive was posted, so that the connection was not read until one was. A number that
     * grows fast says that the receive queue is too short or that the application is slow.
     *
     * @return how many
     */
    public long receiveWaits() {
        return receiveWaits.sum();
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
     * Connections ended by a peer's Terminate.
     *
     * @return how many
     */
    public long terminatesReceived() {
        return terminatesReceived.sum();
    }

    /**
     * Connections ended by a failure of TCP, or in the middle of a message.
     *
     * @return how many
     */
    public long lostConnections() {
        return lostConnections.sum();
    }
}
