package org.nettyrdma.testkit;

/**
 * What a provider does about a peer that breaks the rules. In software it is all of it; on a device, its driver decides.
 *
 * @param checksBounds      whether an access beside what is exposed, but within the same memory region, is refused
 * @param checksRightToRead whether an RDMA Read needs a steering tag that grants reading
 * @param tellsBothEnds     whether each end learns why its connection has ended. Otherwise an iWARP device leaves out the sender
 *                          of a Send that withdraws what it may not, and any other one all but the sender of an RDMA Read
 */
public record Refusals(boolean checksBounds, boolean checksRightToRead, boolean tellsBothEnds) {

    /** Nothing is left out. */
    public static final Refusals ALL = new Refusals(true, true, true);
}
