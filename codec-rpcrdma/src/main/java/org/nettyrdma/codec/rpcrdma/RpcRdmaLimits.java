package org.nettyrdma.codec.rpcrdma;

import static io.netty.util.internal.ObjectUtil.checkInRange;

/**
 * How much one connection accepts and offers. Immutable; start with {@link #DEFAULT} and change what differs. What the calls
 * of all connections may take of memory and time is in {@link ResourceLimits}.
 *
 * @param credits                calls that may be in progress at once, asked for by a requester and granted by a responder;
 *                               1 to 1024, default 128. Never more than the channel has receives posted takes effect
 * @param inlineThresholdBytes   largest Send in each direction, header included; 1024 to 65536 and a multiple of 1024,
 *                               default 4096. What takes effect is the smaller one of this and the peer's; a peer that
 *                               does not tell its own is taken to have 1024. The channel's receive buffers must have
 *                               this size
 * @param maxMessageBytes        largest RPC message accepted or sent, with everything that travels in chunks; 1024 bytes to
 *                               17 MiB, default 1 MiB + 64 KiB. Larger calls are answered with ERR_CHUNK
 * @param maxSegmentsPerChunk    segments accepted in one chunk; 1 to 1024, default 64
 * @param maxReadChunks          Read chunks (positions) accepted in one call; 1 to 64, default 8
 * @param maxWriteChunks         Write chunks accepted in one call, the Reply chunk not counted; 1 to 64, default 8
 * @param defaultReplyChunkBytes Reply chunk that a requester offers with a call of which nobody said how large the reply can
 *                               get, in bytes; 0 to {@code maxMessageBytes}, default 65536. With 0 such a call offers
 *                               nothing, and the peer refuses it when the reply does not fit inline
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

    /** The default of each limit. */
    public static final RpcRdmaLimits DEFAULT =
            new RpcRdmaLimits(128, 4096, 1024 * 1024 + MESSAGE_OVERHEAD_BYTES, 64, 8, 8, 65536);

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
        checkInRange(inlineThresholdBytes, 1024, 65536, "inlineThresholdBytes");
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
     * @param newInlineThresholdBytes largest Send, 1024 to 65536 bytes, a multiple of 1024
     * @return the changed limits
     */
    public RpcRdmaLimits withInlineThresholdBytes(int newInlineThresholdBytes) {
        return new RpcRdmaLimits(credits, newInlineThresholdBytes, maxMessageBytes, maxSegmentsPerChunk, maxReadChunks,
                maxWriteChunks, defaultReplyChunkBytes);
    }

    /**
     * These limits with another size of messages; the Reply chunk offered by default shrinks with it where it must.
     *
     * @param newMaxMessageBytes largest RPC message, 1024 bytes to 17 MiB
     * @return the changed limits
     */
    public RpcRdmaLimits withMaxMessageBytes(int newMaxMessageBytes) {
        return new RpcRdmaLimits(credits, inlineThresholdBytes, newMaxMessageBytes, maxSegmentsPerChunk, maxReadChunks,
                maxWriteChunks, Math.min(defaultReplyChunkBytes, Math.max(0, newMaxMessageBytes)));
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
