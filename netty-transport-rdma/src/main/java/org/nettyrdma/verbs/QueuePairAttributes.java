package org.nettyrdma.verbs;

/**
 * The settings that a queue pair is created with.
 *
 * @param sendQueueDepth       send, write, read and invalidate work requests that can be outstanding; 1 to
 *                             {@link Capabilities#maxQueueDepth()}. A provider may refuse more
 * @param receiveQueueDepth    receives that can be posted; in the same range. Without effect on a queue pair with shared receives
 * @param inboundReadDepth     RDMA Reads that the peer may have outstanding towards this side (IRD); 0 to 16383. Providers
 *                             may lower it, to a power of two or to their limit
 * @param outboundReadDepth    RDMA Reads that this side keeps outstanding towards the peer at most (ORD); 0 to 16383
 * @param checksum             whether this side asks for a checksum over what is sent, where the transport has the choice
 * @param closeTimeoutMillis   how long an orderly close may wait for messages that are being sent, in milliseconds; 0 for not at
 *                             all
 * @param sharedReceives       where the queue pair finds buffers for what its peer sends, a queue of the same context;
 *                             {@code null} for receives of its own
 * @param queuePairNumber      tells a queue pair with shared receives from the others when a receive completes; any number. The
 *                             user chooses it, and must not use it again before the queue pair is closed and all that it had is
 *                             completed
 */
public record QueuePairAttributes(
        int sendQueueDepth,
        int receiveQueueDepth,
        int inboundReadDepth,
        int outboundReadDepth,
        boolean checksum,
        int closeTimeoutMillis,
        SharedReceiveQueue sharedReceives,
        int queuePairNumber) {

    private static final int MAX_READ_DEPTH = 16_383;

    /**
     * Checks the ranges that are the same for all providers.
     *
     * @param sendQueueDepth     see the component of the same name, as for the others
     * @param receiveQueueDepth  receives that can be posted
     * @param inboundReadDepth   RDMA Reads that the peer may have outstanding
     * @param outboundReadDepth  RDMA Reads that this side keeps outstanding at most
     * @param checksum           whether this side asks for a checksum
     * @param closeTimeoutMillis how long an orderly close may wait, in milliseconds
     * @param sharedReceives     where it finds buffers; {@code null} for receives of its own
     * @param queuePairNumber    any number
     * @throws IllegalArgumentException if one is out of range
     */
    public QueuePairAttributes {
        check("sendQueueDepth", sendQueueDepth, 1, Integer.MAX_VALUE);
        check("receiveQueueDepth", receiveQueueDepth, 1, Integer.MAX_VALUE);
        check("inboundReadDepth", inboundReadDepth, 0, MAX_READ_DEPTH);
        check("outboundReadDepth", outboundReadDepth, 0, MAX_READ_DEPTH);
        check("closeTimeoutMillis", closeTimeoutMillis, 0, Integer.MAX_VALUE);
    }

    private static void check(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": " + value + " (expected: " + min + ".." + max + ')');
        }
    }

    /**
     * The settings of a queue pair that has receives of its own.
     *
     * @param sendQueueDepth     see the component of the same name, as for the others
     * @param receiveQueueDepth  receives that can be posted
     * @param inboundReadDepth   RDMA Reads that the peer may have outstanding
     * @param outboundReadDepth  RDMA Reads that this side keeps outstanding at most
     * @param checksum           whether this side asks for a checksum
     * @param closeTimeoutMillis how long an orderly close may wait, in milliseconds
     * @throws IllegalArgumentException if one is out of range
     */
    public QueuePairAttributes(int sendQueueDepth, int receiveQueueDepth, int inboundReadDepth, int outboundReadDepth,
                               boolean checksum, int closeTimeoutMillis) {
        this(sendQueueDepth, receiveQueueDepth, inboundReadDepth, outboundReadDepth, checksum, closeTimeoutMillis, null, 0);
    }
}
