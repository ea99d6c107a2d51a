package org.nettyrdma.codec.rpcrdma.format;

import io.netty.buffer.ByteBuf;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;

/**
 * Writes chunk lists, which stand on the wire in the same way in both versions. Stateless.
 *
 * <p>Lists are gone through by index, here and wherever that is done for each call with chunks: the iterators of a call came to
 * half a kilobyte of garbage.
 */
final class ChunkListWriter {

    private ChunkListWriter() {
    }

    /** Appends the three lists to {@code out}, which has room for them. */
    static void write(ChunkLists chunks, ByteBuf out) {
        if (chunks == ChunkLists.EMPTY) {
            out.writeLong(0).writeInt(0);
            return;
        }
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            ReadChunk chunk = chunks.readChunks().get(i);
            for (int j = 0; j < chunk.segments().size(); j++) {
                out.writeInt(1).writeInt(chunk.position());
                writeSegment(chunk.segments().get(j), out);
            }
        }
        out.writeInt(0);
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            WriteChunk chunk = chunks.writeChunks().get(i);
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
