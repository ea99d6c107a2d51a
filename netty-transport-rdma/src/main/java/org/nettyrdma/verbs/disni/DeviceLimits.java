package org.nettyrdma.verbs.disni;

/**
 * What a device can do, as far as the native library tells.
 *
 * @param name                for the log, for example {@code siw0}
 * @param iwarp               whether it speaks iWARP: then the sink of an RDMA Read is registered for remote writing, and a
 *                            message that finds no receive ends the connection
 * @param maxQueueDepth       work requests in one queue
 * @param maxElements         pieces of memory in one Send or RDMA Write
 * @param maxReadElements     pieces of memory in one RDMA Read
 * @param maxReadDepth        RDMA Reads outstanding in one direction
 * @param maxCompletions      entries of one completion queue
 * @param maxMessageBytes     longest message
 * @param maxPrivateDataBytes private data in each direction, 0 where the library cannot pass it on
 * @param windows             whether memory windows of type 2 can be bound and invalidated, by either side; without them a peer
 *                            has nothing to invalidate, for a registration of user space is not its to withdraw
 */
record DeviceLimits(
        String name,
        boolean iwarp,
        int maxQueueDepth,
        int maxElements,
        int maxReadElements,
        int maxReadDepth,
        int maxCompletions,
        int maxMessageBytes,
        int maxPrivateDataBytes,
        boolean windows) {
}
