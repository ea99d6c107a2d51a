package org.nettyrdma.codec.rpcrdma;

import java.util.List;

/**
 * The chunks of one message (rfc5666bis-01, section 5.2). Whatever version the header is of, the chunk handlers work on
 * this.
 *
 * @param readChunks  what the responder is to fetch, in ascending order of position; immutable, empty in replies
 * @param writeChunks places for the DDP-eligible results, in the order of the results; immutable
 * @param replyChunk  place for a whole reply, or {@code null} if there is none
 */
public record ChunkLists(List<ReadChunk> readChunks, List<WriteChunk> writeChunks, WriteChunk replyChunk) {

    /** No chunks: what most messages have. */
    public static final ChunkLists EMPTY = new ChunkLists(List.of(), List.of(), null);

    /**
     * Copies the lists unless they are immutable.
     *
     * @param readChunks  what the responder is to fetch
     * @param writeChunks places for the DDP-eligible results
     * @param replyChunk  place for a whole reply, or {@code null}
     */
    public ChunkLists {
        readChunks = List.copyOf(readChunks);
        writeChunks = List.copyOf(writeChunks);
    }

    /**
     * Whether there is no chunk of any kind.
     *
     * @return {@code true} if so
     */
    public boolean isEmpty() {
        return this == EMPTY || readChunks.isEmpty() && writeChunks.isEmpty() && replyChunk == null;
    }

    /**
     * Whether the RPC message itself travels in a Position Zero Read chunk.
     *
     * @return {@code true} if so
     */
    public boolean hasPositionZeroChunk() {
        return !readChunks.isEmpty() && readChunks.get(0).position() == 0;
    }
}
