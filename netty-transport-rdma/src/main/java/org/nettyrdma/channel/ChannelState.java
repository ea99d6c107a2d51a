package org.nettyrdma.channel;

/** The life of a {@link QueuePairChannel}; it only moves forward. */
enum ChannelState {
    /** No connection asked for. */
    OPEN,
    /** Asked the peer, or answered its request; no outcome yet. */
    CONNECTING,
    /** Connected. */
    ACTIVE,
    /** The connection is over, but what arrived before has not been read, or the cause is not known yet. */
    ENDED,
    /** Closed. What is left of the queue pair is {@link Draining}. */
    CLOSED
}
