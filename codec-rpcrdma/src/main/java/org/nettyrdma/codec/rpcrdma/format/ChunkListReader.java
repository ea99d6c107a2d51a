package org.nettyrdma.codec.rpcrdma.format;

import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaError;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;

/**
 * Reads chunk lists, which stand on the wire in the same way in both versions: verifies, bounds, and only then reads. No
 * number of the peer's leads to an allocation before it was compared with our limit and with the bytes that are there.
 * Stateless, so any thread may use it.
 */
public final class ChunkListReader {

    private final RpcRdmaLimits limits;

    ChunkListReader(RpcRdmaLimits limits) {
        this.limits = limits;
    }

    /**
     * Reads the three lists.
     *
     * @param in               stands at the Read list, afterwards behind the Reply chunk
     * @param invalidateHandle what the header says about {@link ChunkLists#invalidateHandle}
     */
    ChunkLists read(ByteBuf in, int invalidateHandle) throws RpcRdmaException {
        if (invalidateHandle == 0 && HeaderLayout.isChunkFree(in, in.readerIndex())) { // takes no allocation
            in.skipBytes(3 * Integer.BYTES);
            return ChunkLists.EMPTY;
        }
        List<ReadChunk> readChunks = readReadList(in);
        List<WriteChunk> writeChunks = readWriteList(in);
        WriteChunk replyChunk = readPresence(in, "Reply chunk") ? readWriteChunk(in, "Reply chunk") : null;
        return new ChunkLists(readChunks, writeChunks, replyChunk, invalidateHandle);
    }

    private List<ReadChunk> readReadList(ByteBuf in) throws RpcRdmaException {
        if (!readPresence(in, "Read list")) {
            return List.of();
        }
        ReadChunk first = readRun(in);
        if (!readPresence(in, "Read list")) {
            return List.of(first);
        }
        List<ReadChunk> chunks = new ArrayList<>(2);
        chunks.add(first);
        do {
            insert(chunks, readRun(in));
            if (chunks.size() > limits.maxReadChunks()) {
                throw malformed(new RpcRdmaError.ReadChunks(limits.maxReadChunks()), "more than %d Read chunks "
                        + "(RpcRdmaLimits.maxReadChunks)", limits.maxReadChunks());
            }
        } while (readPresence(in, "Read list"));
        return chunks;
    }

    /** Reads one entry, its presence word being read already, and those after it that have the same position. */
    private ReadChunk readRun(ByteBuf in) throws RpcRdmaException {
        requireReadable(in, HeaderLayout.READ_ENTRY_LENGTH, "Read list entry"); // with the presence word of the next
        int start = in.readerIndex();
        int position = in.getInt(start);
        // RFC 8166, section 3.4.5
        if ((position & 3) != 0 || position < 0 || position > limits.maxMessageBytes()) {
            throw malformed("Read list position %s (expected: a multiple of 4 in 0..%d, RpcRdmaLimits.maxMessageBytes)",
                    Integer.toUnsignedString(position), limits.maxMessageBytes());
        }
        int count = 1;
        int next = start + HeaderLayout.READ_ENTRY_LENGTH; // the position of the entry after those counted
        while (next + HeaderLayout.READ_ENTRY_LENGTH <= in.writerIndex()
                && in.getInt(next - Integer.BYTES) == 1 && in.getInt(next) == position) {
            count++;
            next += HeaderLayout.READ_ENTRY_LENGTH;
        }
        requireSegments(count, in.readableBytes(), "Read chunk");
        if (count == 1) {
            in.readerIndex(start + Integer.BYTES);
            return new ReadChunk(position, List.of(readSegment(in)));
        }
        RemoteSegment[] segments = new RemoteSegment[count];
        for (int i = 0; i < count; i++) {
            in.readerIndex(start + i * HeaderLayout.READ_ENTRY_LENGTH + Integer.BYTES);
            segments[i] = readSegment(in);
        }
        return new ReadChunk(position, List.of(segments));
    }

    /**
     * Keeps the chunks sorted. A sender should sort them itself (the draft rfc5666bis-01, section 5.2.1), so this is usually an
     * append; a position that comes up again continues its chunk.
     */
    private void insert(List<ReadChunk> chunks, ReadChunk chunk) throws RpcRdmaException {
        int index = chunks.size();
        while (index > 0 && chunks.get(index - 1).position() > chunk.position()) {
            index--;
        }
        if (index > 0 && chunks.get(index - 1).position() == chunk.position()) {
            List<RemoteSegment> segments = new ArrayList<>(chunks.get(index - 1).segments());
            segments.addAll(chunk.segments());
            requireSegments(segments.size(), Integer.MAX_VALUE, "Read chunk");
            chunks.set(index - 1, new ReadChunk(chunk.position(), segments));
        } else {
            chunks.add(index, chunk);
        }
    }

    private List<WriteChunk> readWriteList(ByteBuf in) throws RpcRdmaException {
        if (!readPresence(in, "Write list")) {
            return List.of();
        }
        WriteChunk first = readWriteChunk(in, "Write chunk");
        if (!readPresence(in, "Write list")) {
            return List.of(first);
        }
        List<WriteChunk> chunks = new ArrayList<>(2);
        chunks.add(first);
        do {
            if (chunks.size() == limits.maxWriteChunks()) {
                throw malformed(new RpcRdmaError.WriteChunks(limits.maxWriteChunks()), "more than %d Write chunks "
                        + "(RpcRdmaLimits.maxWriteChunks)", limits.maxWriteChunks());
            }
            chunks.add(readWriteChunk(in, "Write chunk"));
        } while (readPresence(in, "Write list"));
        return chunks;
    }

    private WriteChunk readWriteChunk(ByteBuf in, String field) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, field);
        long count = in.readUnsignedInt();
        requireSegments(count, in.readableBytes(), field);
        requireReadable(in, (int) count * HeaderLayout.SEGMENT_LENGTH, field);
        if (count == 1) {
            return new WriteChunk(List.of(readSegment(in)));
        }
        RemoteSegment[] segments = new RemoteSegment[(int) count]; // bounded by our limit and by the bytes present
        for (int i = 0; i < segments.length; i++) {
            segments[i] = readSegment(in);
        }
        return new WriteChunk(List.of(segments));
    }

    private static RemoteSegment readSegment(ByteBuf in) throws RpcRdmaException {
        int handle = in.readInt();
        long length = in.readUnsignedInt();
        long offset = in.readLong();
        if (length > 0 && Long.compareUnsigned(offset + length - 1, offset) < 0) {
            throw malformed("segment of %d bytes at offset %s runs over the end of the address space", length,
                    Long.toUnsignedString(offset));
        }
        return new RemoteSegment(handle, length, offset);
    }

    /** None at all is a chunk as well, without room (RFC 8166, section 4.3.2.3); a Read chunk has an entry for each segment. */
    private void requireSegments(long count, int bytesPresent, String field) throws RpcRdmaException {
        if (count > limits.maxSegmentsPerChunk()) {
            // Only what could be parsed is a question of how many segments are supported.
            boolean parses = count * HeaderLayout.SEGMENT_LENGTH <= bytesPresent;
            RpcRdmaError error = parses ? new RpcRdmaError.Segments(limits.maxSegmentsPerChunk()) : RpcRdmaError.BAD_XDR;
            throw malformed(error, "%s of %d segments (limit: %d, RpcRdmaLimits.maxSegmentsPerChunk)", field, count,
                    limits.maxSegmentsPerChunk());
        }
    }

    private static boolean readPresence(ByteBuf in, String field) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, field);
        int present = in.readInt();
        if ((present & ~1) != 0) {
            throw malformed("%s: presence word %s (expected: 0..1)", field, Integer.toUnsignedString(present));
        }
        return present == 1;
    }

    public static void requireReadable(ByteBuf in, int length, String field) throws RpcRdmaException {
        if (in.readableBytes() < length) {
            throw malformed("%s needs %d bytes, %d are left", field, length, in.readableBytes());
        }
    }
}
