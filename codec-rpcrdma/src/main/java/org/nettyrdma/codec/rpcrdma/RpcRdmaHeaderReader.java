package org.nettyrdma.codec.rpcrdma;

import static org.nettyrdma.codec.rpcrdma.RpcRdmaException.malformed;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.NoMsg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;

/**
 * Reads version 1 headers from bytes: verifies, bounds, and only then reads. No number of the peer's leads to an allocation
 * before it was compared with our limit and with the bytes that are there. Stateless, so any thread may use it.
 */
final class RpcRdmaHeaderReader {

    private final RpcRdmaLimits limits;

    RpcRdmaHeaderReader(RpcRdmaLimits limits) {
        this.limits = limits;
    }

    /**
     * Reads a header.
     *
     * @param in the received message, with at least the fixed words; afterwards its reader index stands behind the header
     * @return the header
     * @throws RpcRdmaException if it breaks a rule; then the reader index is undefined
     */
    RpcRdmaHeader read(ByteBuf in) throws RpcRdmaException {
        int xid = in.readInt();
        int version = in.readInt();
        long credits = in.readUnsignedInt();
        int typeCode = in.readInt();
        MessageType type = MessageType.of(typeCode);
        // The error types come before the version: whoever refuses a version may quote that version in its answer.
        if (type == MessageType.RDMA_ERROR) {
            return readError(in, xid, version, credits);
        }
        if (version != RpcRdmaLayout.VERSION) {
            throw RpcRdmaException.version(version);
        }
        switch (type) {
            case RDMA_MSG:
                return new Msg(xid, credits, readChunkLists(in));
            case RDMA_NOMSG:
                ChunkLists chunks = readChunkLists(in);
                if (in.isReadable()) {
                    throw malformed("%d bytes after an RDMA_NOMSG header", in.readableBytes());
                }
                return new NoMsg(xid, credits, chunks);
            case RDMA_MSGP:
                // The hint may be ignored, the message is to be treated as RDMA_MSG (rfc5666bis-01, section 5.7.1).
                requireReadable(in, RpcRdmaLayout.ALIGNMENT_HINT_LENGTH, "alignment hint");
                in.skipBytes(RpcRdmaLayout.ALIGNMENT_HINT_LENGTH);
                return new Msg(xid, credits, readChunkLists(in));
            case RDMA_DONE:
                if (in.isReadable()) {
                    throw malformed("%d bytes after an RDMA_DONE", in.readableBytes());
                }
                return new Done(xid, credits);
            default:
                throw malformed("message type %s (expected: 0..4)", Integer.toUnsignedString(typeCode));
        }
    }

    private static RpcRdmaHeader readError(ByteBuf in, int xid, int version, long credits) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, "error code");
        int code = in.readInt();
        RpcRdmaHeader header;
        switch (code) {
            case RpcRdmaLayout.ERR_VERS:
                requireReadable(in, 2 * Integer.BYTES, "version range");
                header = new VersionError(xid, version, credits, in.readUnsignedInt(), in.readUnsignedInt());
                break;
            case RpcRdmaLayout.ERR_CHUNK:
                header = new ChunkError(xid, version, credits);
                break;
            default:
                throw malformed("RDMA_ERROR with code %s (expected: 1..2)", Integer.toUnsignedString(code));
        }
        if (in.isReadable()) {
            throw malformed("%d bytes after an RDMA_ERROR", in.readableBytes());
        }
        return header;
    }

    private ChunkLists readChunkLists(ByteBuf in) throws RpcRdmaException {
        int start = in.readerIndex();
        // Most messages have no chunk; three zero words take no allocation and one comparison each.
        if (in.readableBytes() >= 12 && in.getLong(start) == 0 && in.getInt(start + 8) == 0) {
            in.skipBytes(12);
            return ChunkLists.EMPTY;
        }
        List<ReadChunk> readChunks = readReadList(in);
        List<WriteChunk> writeChunks = readWriteList(in);
        WriteChunk replyChunk = readPresence(in, "Reply chunk") ? readWriteChunk(in, "Reply chunk") : null;
        return new ChunkLists(readChunks, writeChunks, replyChunk);
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
                throw malformed("more than %d Read chunks", limits.maxReadChunks());
            }
        } while (readPresence(in, "Read list"));
        return chunks;
    }

    /** Reads one entry, its presence word being read already, and those after it that have the same position. */
    private ReadChunk readRun(ByteBuf in) throws RpcRdmaException {
        requireReadable(in, RpcRdmaLayout.READ_ENTRY_LENGTH, "Read list entry"); // with the presence word of the next
        int start = in.readerIndex();
        int position = in.getInt(start);
        if ((position & 3) != 0 || position < 0 || position > limits.maxMessageBytes()) {
            throw malformed("Read list position %s (expected: a multiple of 4 in 0..%d)",
                    Integer.toUnsignedString(position), limits.maxMessageBytes());
        }
        int count = 1;
        int next = start + RpcRdmaLayout.READ_ENTRY_LENGTH; // the position of the entry after those counted
        while (next + RpcRdmaLayout.READ_ENTRY_LENGTH <= in.writerIndex()
                && in.getInt(next - Integer.BYTES) == 1 && in.getInt(next) == position) {
            count++;
            next += RpcRdmaLayout.READ_ENTRY_LENGTH;
        }
        requireSegments(count, "Read chunk");
        RemoteSegment[] segments = new RemoteSegment[count];
        for (int i = 0; i < count; i++) {
            in.readerIndex(start + i * RpcRdmaLayout.READ_ENTRY_LENGTH + Integer.BYTES);
            segments[i] = readSegment(in);
        }
        return new ReadChunk(position, List.of(segments));
    }

    /**
     * Keeps the chunks sorted. A sender should sort them itself (rfc5666bis-01, section 5.2.1), so this is usually an append;
     * a position that comes up again continues its chunk.
     */
    private void insert(List<ReadChunk> chunks, ReadChunk chunk) throws RpcRdmaException {
        int index = chunks.size();
        while (index > 0 && chunks.get(index - 1).position() > chunk.position()) {
            index--;
        }
        if (index > 0 && chunks.get(index - 1).position() == chunk.position()) {
            List<RemoteSegment> segments = new ArrayList<>(chunks.get(index - 1).segments());
            segments.addAll(chunk.segments());
            requireSegments(segments.size(), "Read chunk");
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
                throw malformed("more than %d Write chunks", limits.maxWriteChunks());
            }
            chunks.add(readWriteChunk(in, "Write chunk"));
        } while (readPresence(in, "Write list"));
        return chunks;
    }

    private WriteChunk readWriteChunk(ByteBuf in, String field) throws RpcRdmaException {
        requireReadable(in, Integer.BYTES, field);
        long count = in.readUnsignedInt();
        requireSegments(count, field);
        requireReadable(in, (int) count * RpcRdmaLayout.SEGMENT_LENGTH, field);
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

    private void requireSegments(long count, String field) throws RpcRdmaException {
        if (count < 1 || count > limits.maxSegmentsPerChunk()) {
            throw malformed("%s of %d segments (expected: 1..%d)", field, count, limits.maxSegmentsPerChunk());
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

    private static void requireReadable(ByteBuf in, int length, String field) throws RpcRdmaException {
        if (in.readableBytes() < length) {
            throw malformed("%s needs %d bytes, %d are left", field, length, in.readableBytes());
        }
    }
}
