package org.nettyrdma.channel;

/**
 * The values that both sides of a connection agreed on when it was set up. They do not change afterwards.
 *
 * @param provider          name of the provider that carries the connection, for example {@code "iwarp"}; of the two that
 *                          {@code "iwarp-shm"} chooses from, the one that it has chosen
 * @param mpaRevision       revision of MPA that the connection was set up with (RFC 5044, section 7.1.1; RFC 6581, section 6), 1
 *                          or 2; 0 where the transport is not iWARP or the provider does not tell
 * @param checksum          whether everything sent is covered by a CRC, which it is when either side asked for it (RFC 5044,
 *                          section 7.1.2); {@link RdmaChannelOption#CHECKSUM} says only what this side asked for
 * @param inboundReadDepth  RDMA Reads that the peer may have outstanding towards this side; 0 to 16383
 * @param outboundReadDepth RDMA Reads that this side may have outstanding towards the peer; further ones wait; 0 to 16383,
 *                          and with 0 no {@link RdmaRead} can be sent
 * @param maxSendBytes      longest message that the provider can send, in bytes; the peer's receive buffers may be smaller
 */
public record RdmaConnectionInfo(
        String provider,
        int mpaRevision,
        boolean checksum,
        int inboundReadDepth,
        int outboundReadDepth,
        int maxSendBytes) {
}
