package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.util.Objects;

/**
 * Outbound message: fetches bytes from the peer's memory with RDMA Read, any number of bytes as one work request.
 *
 * <p>The bytes go to the writable part of the sink. When they are there the sink's writer index is advanced by their number and
 * the promise succeeds. The write passes the one reference of this message to the channel, which drops it when the read
 * completes. A caller that wants the bytes retains the sink before. Until the read completes, nothing else may use the writable
 * part of the sink, not even another read. Give each read a slice of its own. A read whose sink has no room for it any more when
 * it is written fails. So does one of more than {@link RegisteredByteBufAllocator#MAX_POOLED_BYTES} whose sink the device cannot
 * reach: the sink has to be in registered memory, in no more pieces than {@code maxReadScatterElements} of the provider.
 */
public final class RdmaRead extends RdmaOperation<RdmaRead> {

    private final RemoteSegment source;

    /**
     * An RDMA Read.
     *
     * @param source memory that the peer has exposed for reading; all of it is read
     * @param sink   takes the bytes, from its writer index on
     * @throws IllegalArgumentException if the source is longer than the sink's writable part, or the sink is read-only; the
     *         caller keeps the reference
     */
    public RdmaRead(RemoteSegment source, ByteBuf sink) {
        super(sink);
        this.source = Objects.requireNonNull(source, "source");
        if (sink.isReadOnly()) {
            throw new IllegalArgumentException("an RDMA Read cannot write into " + sink);
        }
        requireFit();
    }

    /** The number of bytes to read; an int, because it fits into the sink. */
    int length() {
        return (int) source.length();
    }

    /**
     * Where the bytes come from.
     *
     * @return the segment
     */
    public RemoteSegment source() {
        return source;
    }

    @Override
    void requireFit() {
        int room = content().writableBytes();
        if (source.length() > room) {
            throw new IllegalArgumentException(source + " does not fit into " + room + " writable bytes");
        }
    }

    /** With a sink of its own that has the same room. */
    @Override
    public RdmaRead copy() {
        ByteBuf sink = content();
        return replaceOrRelease(sink.copy(0, sink.capacity()).setIndex(sink.readerIndex(), sink.writerIndex()));
    }

    @Override
    public RdmaRead replace(ByteBuf sink) {
        return new RdmaRead(source, sink);
    }

    @Override
    public String toString() {
        return "RdmaRead(" + contentToString() + ", " + source + ')';
    }
}
