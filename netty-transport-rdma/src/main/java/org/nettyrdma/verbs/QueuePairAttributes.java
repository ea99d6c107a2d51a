package org.nettyrdma.verbs;

/**
 * The settings that a queue pair is created with.
 *
 * @param sendQueueDepth       send, write, read and invalidate work requests that can be outstanding; at least 1
 * @param receiveQueueDepth    receives that can be posted; at least 1
 * @param inboundReadDepth     RDMA Reads that the peer may have outstanding towards this side (IRD); 0 to 16383. Providers
 *                             may lower it, to a power of two or to their limit
 * @param outboundReadDepth    RDMA Reads that this side keeps outstanding towards the peer at most (ORD); 0 to 16383
 * @param checksum             whether this side asks for a checksum over what is sent, where the transport has the choice
 * @param closeTimeoutMillis   how long an orderly close may wait for messages that are being sent, in milliseconds
 */
public record QueuePairAttributes(
        int sendQueueDepth,
        int receiveQueueDepth,
        int inboundReadDepth,
        int outboundReadDepth,
        boolean checksum,
        int closeTimeoutMillis) {
}
