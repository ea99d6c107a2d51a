package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;
import static io.netty.util.internal.ObjectUtil.checkPositive;

import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;

/**
 * What a requester offers to a responder. The policy avoids legal chunk lists that some responders handle wrongly. The Linux
 * server of kernel 6.1 assembles calls with two Read chunks wrongly, and closes the connection when a Write list comes with a
 * Reply chunk. That server does not survive a segment of length 0 at all, so no policy allows one.
 *
 * @param maxReadChunks           Read chunks in one call, a Position Zero Read chunk counted; 1 to 8, default 1. With 2 or
 *                                more a long call keeps Read chunks for its large eligible arguments
 * @param writeListWithReplyChunk whether a call may offer Write chunks and a Reply chunk; default {@code false}
 * @param maxSegmentsPerChunk     segments in a chunk; 1 to 64, default 16. Data in more pieces of memory is copied. The header of
 *                                a call with all its segments must fit into the inline threshold: 24 bytes each in the Read list,
 *                                16 each in the Write list and the Reply chunk. Segments of the Write list and the Reply chunk
 *                                come back in the reply and must fit into the inline threshold of that direction, too. A call
 *                                that does not fit fails before it is sent. For the number that this side accepts see
 *                                {@link RpcRdmaLimits#maxSegmentsPerChunk}
 * @param maxSegmentBytes         bytes in a segment; at least 1, default 2147483647, which is practically no limit. Longer pieces
 *                                of memory are offered as several segments, each with a handle of its own. Remote invalidation
 *                                then spares the invalidation of one handle only. A call that would need more than
 *                                {@code maxSegmentsPerChunk} of them fails before it is sent
 */
public record PeerPolicy(int maxReadChunks, boolean writeListWithReplyChunk, int maxSegmentsPerChunk, int maxSegmentBytes) {

    /** Works with every responder that is known; the default. */
    public static final PeerPolicy CONSERVATIVE = new PeerPolicy(1, false, 16, Integer.MAX_VALUE);

    /** Uses all that RFC 8166 allows; for responders that are known to follow it. */
    public static final PeerPolicy SPECIFICATION = new PeerPolicy(8, true, 64, Integer.MAX_VALUE);

    /**
     * Checks the numbers.
     *
     * @param maxReadChunks           Read chunks in one call
     * @param writeListWithReplyChunk whether Write chunks and a Reply chunk may come together
     * @param maxSegmentsPerChunk     segments in a chunk
     * @param maxSegmentBytes         bytes in a segment
     * @throws IllegalArgumentException if a number is out of its range
     */
    public PeerPolicy {
        checkInRange(maxReadChunks, 1, 8, "maxReadChunks");
        checkInRange(maxSegmentsPerChunk, 1, 64, "maxSegmentsPerChunk");
        checkPositive(maxSegmentBytes, "maxSegmentBytes");
    }

    /**
     * How many segments a piece of memory needs.
     *
     * @param bytes its length, 0 or more
     * @return how many segments it takes; 0 for none at all
     */
    public long segmentsOf(long bytes) {
        return bytes == 0 ? 0 : (bytes - 1) / maxSegmentBytes + 1;
    }

    /**
     * How many segments a chunk in one piece of memory has.
     *
     * @param bytes its length, 0 or more
     * @return how many segments it takes
     * @throws RpcRdmaException if they are more than {@code maxSegmentsPerChunk}
     */
    public int segmentsOfChunk(long bytes) throws RpcRdmaException {
        long segments = segmentsOf(bytes);
        if (segments > maxSegmentsPerChunk) {
            throw RpcRdmaFailures.tooLarge("chunk of %d bytes in segments of %d (limit: %d segments, "
                    + "PeerPolicy.maxSegmentsPerChunk)", bytes, maxSegmentBytes, maxSegmentsPerChunk);
        }
        return (int) segments;
    }
}
