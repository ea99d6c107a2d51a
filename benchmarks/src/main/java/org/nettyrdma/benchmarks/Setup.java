package org.nettyrdma.benchmarks;

/**
 * How both ends of a peer are set up.
 *
 * @param peer               which software carries the calls
 * @param maxPayloadBytes    longest opaque that a call or a reply may have
 * @param eventLoops         threads on each end, where the peer lets one choose
 * @param credits            calls that a connection may have under way, where the peer has such a limit
 * @param version2           version 2 of RPC-over-RDMA instead of version 1
 * @param remoteInvalidation whether replies may withdraw the memory that their calls have exposed
 * @param smallQueues        as little memory for each connection as {@code credits} allow
 */
record Setup(Peer peer, int maxPayloadBytes, int eventLoops, int credits, boolean version2, boolean remoteInvalidation,
        boolean smallQueues) {

    /** Largest opaque of the comparison with others. */
    static final int DEFAULT_MAX_PAYLOAD_BYTES = 1 << 20;
    /** The library's own default. */
    static final int DEFAULT_CREDITS = 128;

    static Setup of(Peer peer) {
        return new Setup(peer, DEFAULT_MAX_PAYLOAD_BYTES, 1, DEFAULT_CREDITS, false, true, false);
    }

    Setup withMaxPayloadBytes(int bytes) {
        return new Setup(peer, bytes, eventLoops, credits, version2, remoteInvalidation, smallQueues);
    }

    Setup withEventLoops(int loops) {
        return new Setup(peer, maxPayloadBytes, loops, credits, version2, remoteInvalidation, smallQueues);
    }

    Setup withCredits(int newCredits) {
        return new Setup(peer, maxPayloadBytes, eventLoops, newCredits, version2, remoteInvalidation, smallQueues);
    }

    Setup withVersion2(boolean wanted) {
        return new Setup(peer, maxPayloadBytes, eventLoops, credits, wanted, remoteInvalidation, smallQueues);
    }

    Setup withRemoteInvalidation(boolean wanted) {
        return new Setup(peer, maxPayloadBytes, eventLoops, credits, version2, wanted, smallQueues);
    }

    Setup withSmallQueues(int newCredits) {
        return new Setup(peer, maxPayloadBytes, eventLoops, newCredits, version2, remoteInvalidation, true);
    }
}
