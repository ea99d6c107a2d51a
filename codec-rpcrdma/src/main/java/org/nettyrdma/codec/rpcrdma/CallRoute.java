package org.nettyrdma.codec.rpcrdma;

/** How a call travelled from the requester to the responder. */
public enum CallRoute {
    /** In one Send. */
    INLINE,
    /** In one Send, with at least one DDP-eligible argument in a Read chunk. */
    READ_CHUNK,
    /** Whole in a Position Zero Read chunk. */
    LONG
}
