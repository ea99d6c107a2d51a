package org.nettyrdma.benchmarks;

/**
 * What one end, or both, have done since they were started. Where an end cannot tell, a figure stays 0 and {@link #movementKnown}
 * says so.
 *
 * @param processor           processor time of the process; shared by the ends in it
 * @param clientAllocated     bytes of Java heap that the client's event loops have allocated
 * @param serverAllocated     the same of the server's
 * @param movementKnown       whether the other figures are counted at all
 * @param copiedBytes         bytes of messages copied in user space because they were not in registered memory
 * @param sends               messages sent by the client's channels
 * @param writtenBytes        bytes that RDMA Writes of the server have moved
 * @param readBytes           bytes that RDMA Reads of the server have moved
 * @param exposures           pieces of memory that the client has exposed, each a registration
 * @param remoteInvalidations of them, those withdrawn by a reply
 * @param localInvalidations  of them, those withdrawn by the client
 */
record Counters(ProcessorTime processor, long clientAllocated, long serverAllocated, boolean movementKnown, long copiedBytes,
        long sends, long writtenBytes, long readBytes, long exposures, long remoteInvalidations, long localInvalidations) {

    static final Counters NONE = new Counters(ProcessorTime.NONE, 0, 0, false, 0, 0, 0, 0, 0, 0, 0);

    /** An end that can tell nothing but what it has allocated. */
    static Counters ofAllocation(long clientAllocated, long serverAllocated) {
        return new Counters(ProcessorTime.NONE, clientAllocated, serverAllocated, false, 0, 0, 0, 0, 0, 0, 0);
    }

    Counters plus(Counters other) {
        return combine(other, 1);
    }

    Counters minus(Counters earlier) {
        return combine(earlier, -1);
    }

    Counters with(ProcessorTime time) {
        return new Counters(time, clientAllocated, serverAllocated, movementKnown, copiedBytes, sends, writtenBytes, readBytes,
                exposures, remoteInvalidations, localInvalidations);
    }

    private Counters combine(Counters other, int sign) {
        return new Counters(processor.plus(other.processor, sign), clientAllocated + sign * other.clientAllocated,
                serverAllocated + sign * other.serverAllocated, movementKnown || other.movementKnown,
                copiedBytes + sign * other.copiedBytes, sends + sign * other.sends, writtenBytes + sign * other.writtenBytes,
                readBytes + sign * other.readBytes, exposures + sign * other.exposures,
                remoteInvalidations + sign * other.remoteInvalidations, localInvalidations + sign * other.localInvalidations);
    }
}
