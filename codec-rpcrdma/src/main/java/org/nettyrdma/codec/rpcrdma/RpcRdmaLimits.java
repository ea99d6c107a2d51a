package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;

/**
 * How much one connection accepts and offers. Immutable; start with {@link #DEFAULT} and change single values.
 * {@link ResourceLimits} bounds the memory and time of the calls of all connections.
 *
 * @param credits                calls that may be in progress at once, asked for by a requester and granted by a responder;
 *                               1 to 1024, default 128. The number of posted receives of the channel bounds it
 * @param inlineThresholdBytes   largest Send in each direction, header included; 1024 to 262144 and a multiple of 1024, default
 *                               4096; for longer ones where they cost little see {@link RpcRdmaBuilder#inlineThresholdBytes}.
 *                               The smaller of this and the value of the peer takes effect. A peer that does not tell a value
 *                               has 1024. The channel's receive buffers must have this size
 * @param maxMessageBytes        largest RPC message accepted or sent, with everything that travels in chunks; 1024 bytes to
 *                               17 MiB, default 1 MiB + 64 KiB. Larger calls are answered with ERR_CHUNK
 * @param maxSegmentsPerChunk    segments accepted in one chunk; 1 to 1024, default 64. A segment takes 24 bytes of the header in
 *                               the Read list, and 16 in the Write list and the Reply chunk. The header must fit into
 *                               {@code inlineThresholdBytes}: 1024 bytes have room for 41 segments of a Read chunk, so a higher
 *                               limit needs a higher threshold. For the number that this side sends see
 *                               {@link PeerPolicy#maxSegmentsPerChunk}
 * @param maxReadChunks          Read chunks (positions) accepted in one call; 1 to 64, default 8
 * @param maxWriteChunks         Write chunks accepted in one call, the Reply chunk not counted; 1 to 64, default 8
 * @param defaultReplyChunkBytes largest Reply chunk that a requester offers with a call whose reply size is not known, in bytes;
 *                               0 to {@code maxMessageBytes}, which is the default. A peer refuses a call whose reply does not
 *                               fit, possibly after it has carried the call out. With 0 such a call has room for an inline reply
 *                               only. For calls while memory is short see {@link org.nettyrdma.codec.oncrpc.ReplySpace}
 */
public record RpcRdmaLimits(
        int credits,
        int inlineThresholdBytes,
        int maxMessageBytes,
        int maxSegmentsPerChunk,
        int maxReadChunks,
        int maxWriteChunks,
        int defaultReplyChunkBytes) {

    /** Room that {@link #maxMessageBytes()} leaves beside the payload for the rest of the message, in bytes. */
    public static final int MESSAGE_OVERHEAD_BYTES = 64 * 1024;

    /** The largest inline threshold that the private data of RFC 8797 can tell. */
    public static final int MAX_INLINE_THRESHOLD_BYTES = 256 * 1024;

    /** The default of each limit. */
    public static final RpcRdmaLimits DEFAULT =
            new RpcRdmaLimits(128, 4096, 1024 * 1024 + MESSAGE_OVERHEAD_BYTES, 64, 8, 8, 1024 * 1024 + MESSAGE_OVERHEAD_BYTES);

    /**
     * Checks each limit.
     *
     * @param credits                calls in progress
     * @param inlineThresholdBytes   largest Send
     * @param maxMessageBytes        largest RPC message
     * @param maxSegmentsPerChunk    segments in a chunk
     * @param maxReadChunks          Read chunks in a call
     * @param maxWriteChunks         Write chunks in a call
     * @param defaultReplyChunkBytes Reply chunk of a call with replies of unknown size
     * @throws IllegalArgumentException if one is out of its range; the message names it
     */
    public RpcRdmaLimits {
        checkInRange(credits, 1, 1024, "credits");
        checkInRange(inlineThresholdBytes, 1024, MAX_INLINE_THRESHOLD_BYTES, "inlineThresholdBytes");
        if (inlineThresholdBytes % 1024 != 0) {
            throw new IllegalArgumentException(
                    "inlineThresholdBytes: " + inlineThresholdBytes + " (expected: a multiple of 1024)");
        }
        checkInRange(maxMessageBytes, 1024, 17 * 1024 * 1024, "maxMessageBytes");
        checkInRange(maxSegmentsPerChunk, 1, 1024, "maxSegmentsPerChunk");
        checkInRange(maxReadChunks, 1, 64, "maxReadChunks");
        checkInRange(maxWriteChunks, 1, 64, "maxWriteChunks");
        checkInRange(defaultReplyChunkBytes, 0, maxMessageBytes, "defaultReplyChunkBytes");
    }

    /**
     * These limits with another number of credits.
     *
     * @param newCredits calls in progress, 1 to 1024
     * @return the changed limits
     */
    public RpcRdmaLimits withCredits(int newCredits) {
        return new RpcRdmaLimits(newCredits, inlineThresholdBytes, maxMessageBytes, maxSegmentsPerChunk, maxReadChunks,
                maxWriteChunks, defaultReplyChunkBytes);
    }

    /**
     * These limits with another inline threshold.
     *
     * @param newInlineThresholdBytes largest Send, 1024 to 262144 bytes, a multiple of 1024
     * @return the changed limits
     */
    public RpcRdmaLimits withInlineThresholdBytes(int newInlineThresholdBytes) {
        return new RpcRdmaLimits(credits, newInlineThresholdBytes, maxMessageBytes, maxSegmentsPerChunk, maxReadChunks,
                maxWriteChunks, defaultReplyChunkBytes);
    }

    /**
     * These limits with another size of messages. The default size of the Reply chunk follows the new size if it equals the old
     * one. It is lowered if it would be larger than the new size.
     *
     * @param newMaxMessageBytes largest RPC message, 1024 bytes to 17 MiB
     * @return the changed limits
     */
    public RpcRdmaLimits withMaxMessageBytes(int newMaxMessageBytes) {
        return new RpcRdmaLimits(credits, inlineThresholdBytes, newMaxMessageBytes, maxSegmentsPerChunk, maxReadChunks,
                maxWriteChunks, defaultReplyChunkBytes == maxMessageBytes ? newMaxMessageBytes
                        : Math.min(defaultReplyChunkBytes, Math.max(0, newMaxMessageBytes)));
    }

    /**
     * These limits with other bounds for the chunk lists of received messages.
     *
     * @param newMaxSegmentsPerChunk segments in a chunk, 1 to 1024
     * @param newMaxReadChunks       Read chunks in a call, 1 to 64
     * @param newMaxWriteChunks      Write chunks in a call, 1 to 64
     * @return the changed limits
     */
    public RpcRdmaLimits withMaxChunks(int newMaxSegmentsPerChunk, int newMaxReadChunks, int newMaxWriteChunks) {
        return new RpcRdmaLimits(credits, inlineThresholdBytes, maxMessageBytes, newMaxSegmentsPerChunk, newMaxReadChunks,
                newMaxWriteChunks, defaultReplyChunkBytes);
    }

    /**
     * These limits with another Reply chunk for calls with replies of unknown size.
     *
     * @param newDefaultReplyChunkBytes its size, 0 to {@link #maxMessageBytes()}
     * @return the changed limits
     */
    public RpcRdmaLimits withDefaultReplyChunkBytes(int newDefaultReplyChunkBytes) {
        return new RpcRdmaLimits(credits, inlineThresholdBytes, maxMessageBytes, maxSegmentsPerChunk, maxReadChunks,
                maxWriteChunks, newDefaultReplyChunkBytes);
    }
}
