package org.nettyrdma.codec.rpcrdma.responder;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.nettyrdma.codec.oncrpc.DataItem;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/** What a responder keeps of a call until it has replied. It holds no buffers. */
final class ResponderCall {

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
    ResponderCall(ChunkLists chunks, ByteBuf message, long memoryBytes) {
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

    /** Appends a later call with the same XID. Returns the first of the calls. */
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
}
