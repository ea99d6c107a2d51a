package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.WriteChunk;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/** What a responder keeps of a call until it has replied. It holds no buffers. */
public final class ResponderCall {

    /**
     * Stands for every call that has offered nothing: what is to be known of it is that it has no reply yet. Most calls are of
     * this kind, and take no object of their own.
     */
    static final ResponderCall WITHOUT_CHUNKS = new ResponderCall(ChunkLists.EMPTY, Unpooled.EMPTY_BUFFER, 0);

    private final ChunkLists chunks;
    private final int program;
    private final int version;
    private final int procedure;
    private final long memoryBytes;
    /**
     * The next call with the same XID. A requester that sends a call again before it has the reply gets two replies, each
     * by the chunks of one of the two messages, in the order in which they came.
     */
    private ResponderCall next;

    /**
     * @param message     the whole call
     * @param memoryBytes what it has been given of the memory of all calls, until it is answered
     */
    public ResponderCall(ChunkLists chunks, ByteBuf message, long memoryBytes) {
        this.chunks = chunks;
        this.memoryBytes = memoryBytes;
        boolean complete = RpcOffsets.hasCallHeader(message);
        this.program = complete ? RpcOffsets.word(message, RpcOffsets.PROGRAM) : 0;
        this.version = complete ? RpcOffsets.word(message, RpcOffsets.VERSION) : 0;
        this.procedure = complete ? RpcOffsets.word(message, RpcOffsets.PROCEDURE) : 0;
    }

    ChunkLists chunks() {
        return chunks;
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /** Finds the eligible results in a reply to this call that does not tell them itself. */
    List<DataItem> itemsOf(ByteBuf reply, BindingTable bindings) {
        return bindings.itemsOfReply(program, version, procedure, reply);
    }

    ResponderCall next() {
        return next;
    }

    /**
     * Appends a later call with the same XID.
     *
     * @return the first of the calls
     */
    ResponderCall append(ResponderCall later) {
        ResponderCall first = distinct();
        ResponderCall last = first;
        while (last.next != null) {
            last = last.next;
        }
        last.next = later.distinct();
        return first;
    }

    /** This call as one that can be linked. */
    private ResponderCall distinct() {
        return this == WITHOUT_CHUNKS ? new ResponderCall(ChunkLists.EMPTY, Unpooled.EMPTY_BUFFER, 0) : this;
    }

    /**
     * The one handle of all segments of the call, which the reply may invalidate; -1 if there are none, or several of which
     * some may be meant to live longer (as the Linux client's for padding is). The handle of empty segments alone may stand
     * for no memory at all.
     */
    public long onlyHandle() {
        long handle = -1;
        if (exposedBytes() == 0) {
            return handle;
        }
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            ReadChunk chunk = chunks.readChunks().get(i);
            handle = only(handle, chunk.segments());
        }
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            WriteChunk chunk = chunks.writeChunks().get(i);
            handle = only(handle, chunk.segments());
        }
        return Math.max(-1, chunks.replyChunk() == null ? handle : only(handle, chunks.replyChunk().segments()));
    }

    /**
     * The handle that the requester has named for the reply to invalidate; -1 if it has named none, or one that stands in no
     * segment of the call.
     */
    public long namedHandle() {
        return chunks.invalidateHandle() != 0 && isNamedHandleListed() ? chunks.invalidateHandle() & 0xFFFF_FFFFL : -1;
    }

    /** Whether the handle that the requester has named, if it has, stands in a segment of the call. */
    boolean isNamedHandleListed() {
        int handle = chunks.invalidateHandle();
        boolean found = handle == 0 || chunks.replyChunk() != null && lists(chunks.replyChunk().segments(), handle);
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            ReadChunk chunk = chunks.readChunks().get(i);
            found |= lists(chunk.segments(), handle);
        }
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            WriteChunk chunk = chunks.writeChunks().get(i);
            found |= lists(chunk.segments(), handle);
        }
        return found;
    }

    private static boolean lists(List<RemoteSegment> segments, int handle) {
        for (int i = 0; i < segments.size(); i++) {
            RemoteSegment segment = segments.get(i);
            if (segment.steeringTag() == handle) {
                return true;
            }
        }
        return false;
    }

    private long exposedBytes() {
        long bytes = chunks.replyChunk() == null ? 0 : chunks.replyChunk().lengthBytes();
        for (int i = 0; i < chunks.readChunks().size(); i++) {
            ReadChunk chunk = chunks.readChunks().get(i);
            bytes += chunk.lengthBytes();
        }
        for (int i = 0; i < chunks.writeChunks().size(); i++) {
            WriteChunk chunk = chunks.writeChunks().get(i);
            bytes += chunk.lengthBytes();
        }
        return bytes;
    }

    /** The handle after these segments, where -1 stands for none seen and -2 for several. */
    private static long only(long handle, List<RemoteSegment> segments) {
        long only = handle;
        for (int i = 0; i < segments.size(); i++) {
            RemoteSegment segment = segments.get(i);
            long next = segment.steeringTag() & 0xFFFF_FFFFL;
            if (only != -1 && only != next) {
                return -2;
            }
            only = next;
        }
        return only;
    }
}
