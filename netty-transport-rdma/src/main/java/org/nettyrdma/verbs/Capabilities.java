package org.nettyrdma.verbs;

/**
 * What a provider can do. The layers above choose by it.
 *
 * @param maxGatherElements      pieces of local memory that one Send or RDMA Write can gather; at least 1
 * @param maxReadScatterElements pieces of local memory that one RDMA Read can scatter into; at least 1
 * @param maxQueueDepth          work requests that a send or a receive queue can hold
 * @param maxReadDepth           RDMA Reads that can be outstanding in one direction of a connection; 0 to 16383
 * @param maxMessageBytes        largest Send, RDMA Write or RDMA Read in bytes
 * @param maxPrivateDataBytes    largest private data that can be sent with a connection request or its answer, in bytes
 * @param sendWithInvalidate     whether a Send can invalidate a steering tag of the peer, in both directions
 * @param exposure               to whom {@link QueuePair#expose} opens memory, and for how long
 * @param receiverWaits          whether a message that finds no posted receive waits for one; where it does not, such a
 *                               message ends the connection
 */
public record Capabilities(
        int maxGatherElements,
        int maxReadScatterElements,
        int maxQueueDepth,
        int maxReadDepth,
        int maxMessageBytes,
        int maxPrivateDataBytes,
        boolean sendWithInvalidate,
        Exposure exposure,
        boolean receiverWaits) {

    /** How memory is opened to a peer, best first. */
    public enum Exposure {
        /** For one call and to one connection, at hardly any cost. */
        PER_CALL,
        /**
         * For one call, by registering the bytes with the device, which takes a system call to open and one to withdraw. The tag
         * belongs to no connection: until it is withdrawn, every peer of this provider that guesses the tag can use it.
         */
        PER_CALL_REGISTRATION,
        /** For good, because the user has asked for it. Every peer that was told any tag can access all registered memory. */
        PERSISTENT
    }
}
