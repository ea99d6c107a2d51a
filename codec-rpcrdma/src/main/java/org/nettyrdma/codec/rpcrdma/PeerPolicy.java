package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;

/**
 * What a requester offers to a responder: the one place that knows which chunk lists, legal as they are, some responders get
 * wrong. The Linux server of kernel 6.1 puts calls with two Read chunks together wrongly, and closes the connection when a
 * Write list comes with a Reply chunk.
 *
 * @param maxReadChunks           Read chunks in one call; 1 to 8, default 1
 * @param writeListWithReplyChunk whether a call may offer Write chunks and a Reply chunk; default {@code false}
 * @param maxSegmentsPerChunk     segments in a chunk; 1 to 64, default 16. Data in more pieces is copied
 */
public record PeerPolicy(int maxReadChunks, boolean writeListWithReplyChunk, int maxSegmentsPerChunk) {

    /** Works with every responder that is known; the default. */
    public static final PeerPolicy CONSERVATIVE = new PeerPolicy(1, false, 16);

    /** Uses what rfc5666bis-01 allows; for responders that are known to follow it. */
    public static final PeerPolicy SPECIFICATION = new PeerPolicy(8, true, 16);

    /**
     * Checks the numbers.
     *
     * @param maxReadChunks           Read chunks in one call
     * @param writeListWithReplyChunk whether Write chunks and a Reply chunk may come together
     * @param maxSegmentsPerChunk     segments in a chunk
     * @throws IllegalArgumentException if a number is out of its range
     */
    public PeerPolicy {
        checkInRange(maxReadChunks, 1, 8, "maxReadChunks");
        checkInRange(maxSegmentsPerChunk, 1, 64, "maxSegmentsPerChunk");
    }
}
