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
 * @param writeWithImmediate     whether an RDMA Write can carry immediate data, in both directions: InfiniBand and RoCE have it,
 *                               iWARP (RFC 5040) has not
 * @param exposure               to whom {@link QueuePair#expose} opens memory, and for how long
 * @param receiverWaits          whether a message that finds no posted receive waits for one; where it does not, such a
 *                               message ends the connection
 * @param maxSharedReceives      receives that a {@link SharedReceiveQueue} can hold; 0 where the provider has no such queues
 */
public record Capabilities(
        int maxGatherElements,
        int maxReadScatterElements,
        int maxQueueDepth,
        int maxReadDepth,
        int maxMessageBytes,
        int maxPrivateDataBytes,
        boolean sendWithInvalidate,
        boolean writeWithImmediate,
        Exposure exposure,
        boolean receiverWaits,
        int maxSharedReceives) {

    /**
     * What a provider without shared receive queues can do.
     *
     * @param maxGatherElements      see the component of the same name, as for the others
     * @param maxReadScatterElements pieces of local memory that one RDMA Read can scatter into
     * @param maxQueueDepth          work requests that a send or a receive queue can hold
     * @param maxReadDepth           RDMA Reads that can be outstanding in one direction of a connection
     * @param maxMessageBytes        largest Send, RDMA Write or RDMA Read in bytes
     * @param maxPrivateDataBytes    largest private data in bytes
     * @param sendWithInvalidate     whether a Send can invalidate a steering tag of the peer
     * @param writeWithImmediate     whether an RDMA Write can carry immediate data
     * @param exposure               to whom memory is opened, and for how long
     * @param receiverWaits          whether a message that finds no posted receive waits for one
     */
    public Capabilities(int maxGatherElements, int maxReadScatterElements, int maxQueueDepth, int maxReadDepth,
                        int maxMessageBytes, int maxPrivateDataBytes, boolean sendWithInvalidate,
                        boolean writeWithImmediate, Exposure exposure, boolean receiverWaits) {
        this(maxGatherElements, maxReadScatterElements, maxQueueDepth, maxReadDepth, maxMessageBytes, maxPrivateDataBytes,
                sendWithInvalidate, writeWithImmediate, exposure, receiverWaits, 0);
    }

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
