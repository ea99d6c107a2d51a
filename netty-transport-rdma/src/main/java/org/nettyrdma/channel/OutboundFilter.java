package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.util.internal.StringUtil;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.verbs.Capabilities;

/**
 * Looks at every message when it is written: refuses what the device cannot do, and copies into registered memory what it
 * cannot reach, so that posting finds nothing to complain about. Event loop only.
 */
final class OutboundFilter {

    private final PostingTools tools;
    private final Capabilities capabilities;
    private final RdmaChannelStatistics statistics;

    OutboundFilter(PostingTools tools, RdmaChannelStatistics statistics) {
        this.tools = tools;
        this.statistics = statistics;
        capabilities = tools.provider().capabilities();
    }

    /**
     * Returns what to post instead of {@code message}; its reference passes on. If this throws it stays with the caller.
     *
     * @param agreed {@code null} before the connection stands
     */
    Object filter(Object message, RdmaConnectionInfo agreed) throws RdmaException {
        if (message instanceof ByteBuf buffer) {
            // Empty buffers are often one and the same object, and cancelled entries become it; entries must be told apart.
            if (!buffer.isReadable()) {
                return new RdmaSend(buffer);
            }
            ByteBuf sent = inRegisteredMemory(buffer);
            if (sent != buffer) {
                buffer.release();
            }
            return sent;
        }
        if (message instanceof RdmaRead read) {
            read.requireFit();
            requireLength(read.length());
            if (read.length() > RegisteredByteBufAllocator.MAX_POOLED_BYTES && !tools.findSink(read)) {
                throw new RdmaException("an RDMA Read of " + read.length() + " bytes needs a sink in registered memory, in "
                        + "at most " + capabilities.maxReadScatterElements() + " pieces (into other memory: "
                        + RegisteredByteBufAllocator.MAX_POOLED_BYTES + " bytes at most)");
            }
            if (agreed != null && agreed.outboundReadDepth() == 0) {
                throw noReads();
            }
            return read;
        }
        if (message instanceof RdmaSend send && send.isInvalidating() && !capabilities.sendWithInvalidate()) {
            throw new RdmaException("provider " + tools.provider().name() + " has no Send with Invalidate");
        }
        if (message instanceof RdmaOperation<?> operation) { // an RdmaSend or an RdmaWrite
            operation.requireFit();
            ByteBuf original = operation.content(); // which it does not give out any more once it was released
            ByteBuf content = inRegisteredMemory(original);
            return content == original ? operation : copyOf(operation, original, content);
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(message)
                + " (expected: ByteBuf, RdmaSend, RdmaWrite, RdmaRead)");
    }

    /** The same operation on a copy of its content; {@code original} is released when nothing can fail any more. */
    private static RdmaOperation<?> copyOf(RdmaOperation<?> operation, ByteBuf original, ByteBuf copy) {
        RdmaOperation<?> replaced;
        try {
            replaced = operation.replace(copy);
        } catch (Throwable t) { // the content has grown beyond the target, for instance
            copy.release();
            throw t;
        }
        original.release();
        return replaced;
    }

    /** Why the connection that stands can have no RDMA Read. */
    static RdmaException noReads() {
        return new RdmaException("no RDMA Read can be sent: the outbound read depth is 0, by RdmaChannelOption."
                + "OUTBOUND_READ_DEPTH of this side or INBOUND_READ_DEPTH of the peer");
    }

    private void requireLength(int bytes) throws RdmaException {
        if (bytes > capabilities.maxMessageBytes()) {
            throw new RdmaException("message of " + bytes + " bytes exceeds the limit of provider " + tools.provider().name()
                    + ", " + capabilities.maxMessageBytes());
        }
    }

    /** The buffer itself if the device can send from it, else a copy in registered memory; the buffer is not released. */
    private ByteBuf inRegisteredMemory(ByteBuf buffer) throws RdmaException {
        int length = buffer.readableBytes();
        requireLength(length);
        RegisteredPieces pieces = tools.pieces();
        if (pieces.isOnePiece(buffer, buffer.readerIndex(), length)) {
            return buffer;
        }
        if (pieces.find(buffer, buffer.readerIndex(), length) && pieces.count() <= capabilities.maxGatherElements()) {
            return buffer;
        }
        ByteBuf copy = tools.newCopy(length);
        try {
            copy.writeBytes(buffer, buffer.readerIndex(), length);
        } catch (Throwable t) { // the buffer has been released, for instance
            copy.release();
            throw t;
        }
        statistics.add(Counter.COPIED_BYTES, length);
        return copy;
    }
}
