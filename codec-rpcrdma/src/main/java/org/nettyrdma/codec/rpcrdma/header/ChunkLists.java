package org.nettyrdma.codec.rpcrdma.header;

import java.util.List;

/**
 * The chunks of one message (RFC 8166, section 4.3; version-two-08, section 3.3). The chunk handlers work on this type for both
 * versions.
 *
 * @param readChunks       what the responder is to fetch, in ascending order of position; immutable, empty in replies
 * @param writeChunks      places for the DDP-eligible results, in the order of the results; immutable
 * @param replyChunk       place for a whole reply, or {@code null} if there is none
 * @param invalidateHandle the handle among those of the chunks that the responder may invalidate with its reply, or 0 if there is
 *                         none; always 0 in version 1, which has no such field, and in replies. In a received call it is the
 *                         number that the requester wrote: check that it is one of the handles before you use it
 */
public record ChunkLists(List<ReadChunk> readChunks, List<WriteChunk> writeChunks, WriteChunk replyChunk,
                         int invalidateHandle) {

    /** No chunks: what most messages have. */
    public static final ChunkLists EMPTY = new ChunkLists(List.of(), List.of(), null);

    /**
     * Copies the lists unless they are immutable.
     *
     * @param readChunks  what the responder is to fetch
     * @param writeChunks places for the DDP-eligible results
     * @param replyChunk  place for a whole reply, or {@code null}
     * @param invalidateHandle the handle that the reply may invalidate, or 0
     */
    public ChunkLists {
        readChunks = List.copyOf(readChunks);
        writeChunks = List.copyOf(writeChunks);
    }

    /**
     * Creates lists with no handle for the peer to invalidate.
     *
     * @param readChunks  what the responder is to fetch
     * @param writeChunks places for the DDP-eligible results
     * @param replyChunk  place for a whole reply, or {@code null}
     */
    public ChunkLists(List<ReadChunk> readChunks, List<WriteChunk> writeChunks, WriteChunk replyChunk) {
        this(readChunks, writeChunks, replyChunk, 0);
    }

    /**
     * The same chunks, with a handle that the peer may invalidate.
     *
     * @param handle the steering tag
     * @return the same chunks with it
     */
    public ChunkLists withInvalidateHandle(int handle) {
        return handle == invalidateHandle ? this : new ChunkLists(readChunks, writeChunks, replyChunk, handle);
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
