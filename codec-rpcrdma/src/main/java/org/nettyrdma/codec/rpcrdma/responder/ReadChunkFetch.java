package org.nettyrdma.codec.rpcrdma.responder;

import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.malformed;
import static org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures.tooLarge;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.List;
import org.nettyrdma.channel.RdmaRead;
import org.nettyrdma.channel.RemoteSegment;
import org.nettyrdma.codec.oncrpc.transport.CallbackPromise;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.ReadChunk;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaMessage;
import org.nettyrdma.codec.rpcrdma.shared.ItemReduction;
import org.nettyrdma.codec.rpcrdma.shared.RpcOffsets;

/**
 * Fetches the Read chunks of one call, or of one reply, and puts the message together. Each chunk is read into one buffer, so
 * that it is in one piece whatever its segments are; the parts of the message become components of one buffer and are not
 * copied. It is the promise of its RDMA Reads.
 * <pre>{@code
 *   inline   | before item 1 | between ......... | after
 *   chunks                   | item 1 | pad      ^ item 2 | pad |
 *   message  | before item 1 | item 1 | pad | between | item 2 | pad | after }</pre>
 */
public final class ReadChunkFetch extends CallbackPromise {

    /** Told once, when all RDMA Reads of a fetch have ended. */
    public interface Owner {

        /**
         * The fetch has ended.
         *
         * @param fetch the fetch: {@link #failure()} tells whether it succeeded; the owner calls {@link #assemble} or
         *              {@link #release()}
         */
        void fetchEnded(ReadChunkFetch fetch);
    }

    private final RpcRdmaMessage received;
    private final List<ReadChunk> chunks;
    private final ByteBuf[] sinks;
    private final Owner owner;
    private int outstanding = 1; // one for the posting itself, so that it cannot end before all are posted
    private Throwable failure;

    /**
     * Creates a fetch; it allocates nothing before {@link #start}.
     *
     * @param received a call, or a reply, whose Read list has passed {@link #check}; its reference passes to the fetch
     */
    public ReadChunkFetch(ChannelHandlerContext ctx, RpcRdmaMessage received, Owner owner) {
        super(ctx);
        this.received = received;
        this.chunks = received.chunks().readChunks();
        this.sinks = new ByteBuf[chunks.size()];
        this.owner = owner;
    }

    /**
     * Checks the positions and lengths of the Read chunks against the inline part, against each other and against the limit.
     * A chunk may come with or without the padding of its item (RFC 8166, section 3.4.5.2); the padding is never inline.
     *
     * @param inlineBytes length of the inline part of the RPC message
     * @throws RpcRdmaException if the message could not be put together, or is too long
     */
    static void check(ChunkLists lists, int inlineBytes, int maxMessageBytes) throws RpcRdmaException {
        check(lists, inlineBytes, maxMessageBytes, "call", RpcOffsets.FIRST_ARGUMENTS);
    }

    /** The same for the Read chunks of a reply. */
    public static void checkReply(ChunkLists lists, int inlineBytes, int maxMessageBytes) throws RpcRdmaException {
        check(lists, inlineBytes, maxMessageBytes, "reply", RpcOffsets.FIRST_RESULTS);
    }

    private static void check(ChunkLists lists, int inlineBytes, int maxMessageBytes, String kind, int firstPosition)
            throws RpcRdmaException {
        List<ReadChunk> chunks = lists.readChunks();
        long streamBytes = inlineBytes; // what the content of the other chunks is inserted into
        int first = 0;
        if (lists.hasPositionZeroChunk()) {
            if (inlineBytes > 0) { // RFC 8166, section 3.5.3
                throw malformed("Position Zero Read chunk and %d bytes of RPC message inline", inlineBytes);
            }
            streamBytes = chunks.get(0).lengthBytes();
            first = 1;
        }
        long usedBytes = 0;
        long position = 0;
        for (int i = first; i < chunks.size(); i++) {
            ReadChunk chunk = chunks.get(i);
            if (chunk.position() < firstPosition) {
                throw malformed("Read chunk at position %d, within the header of the %s", chunk.position(), kind);
            }
            if (chunk.position() < position) {
                throw malformed("Read chunk at position %d overlaps the one that ends at %d", chunk.position(), position);
            }
            usedBytes += chunk.position() - position;
            if (usedBytes > streamBytes) {
                throw malformed("Read chunk at position %d, behind the end of the message", chunk.position());
            }
            position = chunk.position() + RpcOffsets.padded(chunk.lengthBytes());
        }
        long messageBytes = position + streamBytes - usedBytes;
        if (messageBytes > maxMessageBytes) {
            throw tooLarge("%s of %d bytes (limit: %d, RpcRdmaLimits.maxMessageBytes)", kind, messageBytes, maxMessageBytes);
        }
    }

    /** Allocates the memory and writes the RDMA Reads; the caller flushes. */
    public void start() {
        try {
            for (int i = 0; i < sinks.length; i++) {
                read(i);
            }
        } catch (RuntimeException | Error e) { // no memory for a sink
            failure = e;
        }
        ended();
    }

    private void read(int index) {
        ReadChunk chunk = chunks.get(index);
        int length = (int) chunk.lengthBytes();
        ByteBuf sink = context().alloc().directBuffer((int) RpcOffsets.padded(length));
        sinks[index] = sink;
        int offset = 0;
        for (int i = 0; i < chunk.segments().size(); i++) {
            RemoteSegment segment = chunk.segments().get(i);
            if (segment.length() > 0) {
                RdmaRead read = new RdmaRead(segment, sink.retainedSlice(offset, (int) segment.length()).writerIndex(0));
                outstanding++; // not before what may fail, as nothing would end it
                context().write(read, this);
                offset += (int) segment.length();
            }
        }
        sink.writerIndex(length).writeZero((int) RpcOffsets.padded(length) - length);
    }

    @Override
    protected void written(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
        ended();
    }

    private void ended() {
        // Not before the last one: until then the device may write into the sinks.
        if (--outstanding == 0) {
            owner.fetchEnded(this);
        }
    }

    /** The call or reply as it came; its reference stays with this. */
    public RpcRdmaMessage message() {
        return received;
    }

    /** How much is to be read, in bytes. */
    public long lengthBytes() {
        return lengthBytes(chunks);
    }

    /** The bytes of all these chunks together. */
    static long lengthBytes(List<ReadChunk> chunks) {
        long length = 0;
        for (int i = 0; i < chunks.size(); i++) {
            length += chunks.get(i).lengthBytes();
        }
        return length;
    }

    /** Why the fetch failed, or {@code null} if it did not. */
    public Throwable failure() {
        return failure;
    }

    /**
     * Puts the message together; its one reference passes to the caller, and nothing is left to release. Where that fails for
     * want of memory, all is left.
     */
    public ByteBuf assemble() {
        boolean positionZero = chunks.get(0).position() == 0;
        ByteBuf stream = positionZero ? sinks[0] : received.content();
        int first = positionZero ? 1 : 0;
        if (positionZero) {
            // The last bytes are the message's own; padding is for items only.
            stream.writerIndex((int) chunks.get(0).lengthBytes());
        }
        if (first == sinks.length) {
            received.release();
            return stream;
        }
        CompositeByteBuf message = context().alloc().compositeBuffer(ItemReduction.maxPieces(sinks.length));
        try {
            assemble(message, stream, first);
        } catch (RuntimeException | Error e) {
            message.release();
            throw e;
        }
        release();
        return message;
    }

    /** With references of its own. */
    private void assemble(CompositeByteBuf message, ByteBuf stream, int first) {
        int position = 0;
        for (int i = first; i < sinks.length; i++) {
            int gap = chunks.get(i).position() - position;
            if (gap > 0) {
                message.addComponent(true, stream.readRetainedSlice(gap));
            }
            position = chunks.get(i).position() + sinks[i].readableBytes();
            message.addComponent(true, sinks[i].retain());
        }
        if (stream.isReadable()) {
            message.addComponent(true, stream.retain());
        }
    }

    public void release() {
        received.release();
        for (ByteBuf sink : sinks) {
            if (sink != null) {
                sink.release();
            }
        }
    }
}
