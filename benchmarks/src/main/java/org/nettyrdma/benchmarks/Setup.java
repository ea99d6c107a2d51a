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
 * @param smallBuffers       whether receive buffers are as small as can be, so that all but the smallest data takes chunks
 */
record Setup(Peer peer, int maxPayloadBytes, int eventLoops, int credits, boolean version2, boolean remoteInvalidation,
        boolean smallBuffers) {

    /** Largest opaque of the comparison with others. */
    static final int DEFAULT_MAX_PAYLOAD_BYTES = 1 << 20;
    /** The library's own default. */
    static final int DEFAULT_CREDITS = 128;
    private static final int SHORT_INLINE_THRESHOLD_BYTES = 4096;
    /** The library's own where the provider prefers long Sends and few connections share the memory. */
    private static final int LONG_INLINE_THRESHOLD_BYTES = 68 * 1024;
    /** Smallest that there is; the calls and replies of the ping-pong fit into it. */
    private static final int SMALL_INLINE_THRESHOLD_BYTES = 1024;

    static Setup of(Peer peer) {
        return new Setup(peer, DEFAULT_MAX_PAYLOAD_BYTES, 1, DEFAULT_CREDITS, false, true, false);
    }

    Setup withMaxPayloadBytes(int bytes) {
        return new Setup(peer, bytes, eventLoops, credits, version2, remoteInvalidation, smallBuffers);
    }

    Setup withEventLoops(int loops) {
        return new Setup(peer, maxPayloadBytes, loops, credits, version2, remoteInvalidation, smallBuffers);
    }

    Setup withCredits(int newCredits) {
        return new Setup(peer, maxPayloadBytes, eventLoops, newCredits, version2, remoteInvalidation, smallBuffers);
    }

    Setup withVersion2(boolean wanted) {
        return new Setup(peer, maxPayloadBytes, eventLoops, credits, wanted, remoteInvalidation, smallBuffers);
    }

    Setup withRemoteInvalidation(boolean wanted) {
        return new Setup(peer, maxPayloadBytes, eventLoops, credits, version2, wanted, smallBuffers);
    }

    Setup withSmallBuffers() {
        return new Setup(peer, maxPayloadBytes, eventLoops, credits, version2, remoteInvalidation, true);
    }

    /** The longest receive buffer of a connection; what is at least as long takes chunks. */
    int inlineThresholdBytes() {
        if (smallBuffers) {
            return SMALL_INLINE_THRESHOLD_BYTES;
        }
        return peer == Peer.RDMA_CHUNKS ? SHORT_INLINE_THRESHOLD_BYTES : LONG_INLINE_THRESHOLD_BYTES;
    }

    /** Whether the length of the receive buffers is not left to the library. */
    boolean setsInlineThreshold() {
        return smallBuffers || peer == Peer.RDMA_CHUNKS;
    }
}
