package org.nettyrdma.codec.rpcrdma;

/**
 * User event for the chunk handler: what {@link ConnectionConfiguration} has settled for a connection, from now on.
 *
 * @param sendBytes       largest Send from here to the peer, header included
 * @param peerServesReads whether the peer serves RDMA Reads at all
 */
record ConnectionConfigured(int sendBytes, boolean peerServesReads) {
}
