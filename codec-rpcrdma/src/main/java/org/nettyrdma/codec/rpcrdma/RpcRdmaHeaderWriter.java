package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.ChunkError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Done;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Malformed;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.Msg;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.VersionError;
import org.nettyrdma.codec.rpcrdma.RpcRdmaHeader.WithChunks;

/** Writes version 1 headers as bytes. Stateless. */
final class RpcRdmaHeaderWriter {

    private RpcRdmaHeaderWriter() {
    }

    /** The length of the header in bytes, without the RPC message. */
    static int lengthOf(RpcRdmaHeader header) {
        if (header instanceof WithChunks message) {
            return RpcRdmaLayout.headerLength(message.chunks());
        }
        if (header instanceof Done) {
            return RpcRdmaLayout.FIXED_LENGTH;
        }
        return header instanceof VersionError ? RpcRdmaLayout.ERR_VERS_LENGTH : RpcRdmaLayout.ERR_CHUNK_LENGTH;
    }

    /** Appends the header to {@code out}, which has room for {@link #lengthOf} bytes. */
    static void write(RpcRdmaHeader header, ByteBuf out) {
        if (header instanceof WithChunks message) {
            writeFixed(header, header instanceof Msg ? MessageType.RDMA_MSG : MessageType.RDMA_NOMSG, out);
            writeChunkLists(message.chunks(), out);
        } else if (header instanceof VersionError error) {
            writeFixed(header, MessageType.RDMA_ERROR, out);
            out.writeInt(RpcRdmaLayout.ERR_VERS);
            out.writeInt((int) error.lowestVersion());
            out.writeInt((int) error.highestVersion());
        } else if (header instanceof ChunkError) {
            writeFixed(header, MessageType.RDMA_ERROR, out);
            out.writeInt(RpcRdmaLayout.ERR_CHUNK);
        } else if (header instanceof Done) {
            writeFixed(header, MessageType.RDMA_DONE, out);
        } else if (header instanceof Malformed) {
            throw new IllegalArgumentException("a malformed header cannot be sent: " + header);
        }
    }

    private static void writeFixed(RpcRdmaHeader header, MessageType type, ByteBuf out) {
        out.writeLong((long) header.xid() << 32 | header.version() & 0xFFFF_FFFFL);
        out.writeLong(header.credits() << 32 | type.code());
    }

    private static void writeChunkLists(ChunkLists chunks, ByteBuf out) {
        if (chunks == ChunkLists.EMPTY) {
            out.writeLong(0).writeInt(0);
            return;
        }
        for (ReadChunk chunk : chunks.readChunks()) {
            for (RemoteSegment segment : chunk.segments()) {
                out.writeInt(1).writeInt(chunk.position());
                writeSegment(segment, out);
            }
        }
        out.writeInt(0);
        for (WriteChunk chunk : chunks.writeChunks()) {
            writeWriteChunk(chunk, out);
        }
        out.writeInt(0);
        if (chunks.replyChunk() == null) {
            out.writeInt(0);
        } else {
            writeWriteChunk(chunks.replyChunk(), out);
        }
    }

    private static void writeWriteChunk(WriteChunk chunk, ByteBuf out) {
        List<RemoteSegment> segments = chunk.segments();
        out.writeInt(1).writeInt(segments.size());
        for (int i = 0; i < segments.size(); i++) {
            writeSegment(segments.get(i), out);
        }
    }

    private static void writeSegment(RemoteSegment segment, ByteBuf out) {
        out.writeInt(segment.steeringTag()).writeInt((int) segment.length()).writeLong(segment.offset());
    }
}
