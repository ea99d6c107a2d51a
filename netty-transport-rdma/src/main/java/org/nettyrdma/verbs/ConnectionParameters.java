package org.nettyrdma.verbs;

import java.nio.ByteBuffer;

/**
 * The values that the two sides agreed on when they connected.
 *
 * @param privateData       what the peer sent with its request or its answer, read-only, empty if there was none;
 *                          InfiniBand and RoCE fill the rest of their fixed length with zeros
 * @param inboundReadDepth  RDMA Reads that the peer may have outstanding towards this side; it may keep to fewer
 * @param outboundReadDepth RDMA Reads that this side may have outstanding towards the peer
 * @param checksum          whether everything sent on the connection is covered by a checksum
 * @param mpaRevision       revision of MPA on an iWARP connection, 1 or 2; 0 where there is none or it is not known
 */
public record ConnectionParameters(
        ByteBuffer privateData,
        int inboundReadDepth,
        int outboundReadDepth,
        boolean checksum,
        int mpaRevision) {
}
