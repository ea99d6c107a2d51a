package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import java.util.Objects;

/**
 * Outbound message: places bytes into the peer's memory with RDMA Write, as one work request whatever their number.
 *
 * <p>Writing it passes its one reference to the channel, which drops it when the write completes. Until then the bytes
 * must not be changed. The promise succeeds when the provider has completed the RDMA Write, which does not say that the
 * bytes have arrived; but a Send written afterwards is seen by the peer only when they have (RFC 5040 section 5.5).
 */
public final class RdmaWrite extends DefaultByteBufHolder {

    private final RemoteSegment target;

    /**
     * An RDMA Write.
     *
     * @param source its readable bytes are written; they may be none
     * @param target memory that the peer has exposed for writing
     * @throws IllegalArgumentException if there are more bytes than the target holds
     */
    public RdmaWrite(ByteBuf source, RemoteSegment target) {
        super(source);
        this.target = Objects.requireNonNull(target, "target");
        if (source.readableBytes() > target.length()) {
            throw new IllegalArgumentException("source of " + source.readableBytes() + " bytes does not fit into " + target);
        }
    }

    /**
     * Where the bytes go; they start at its offset.
     *
     * @return the segment
     */
    public RemoteSegment target() {
        return target;
    }

    @Override
    public RdmaWrite replace(ByteBuf source) {
        return new RdmaWrite(source, target);
    }

    @Override
    public RdmaWrite copy() {
        return (RdmaWrite) super.copy();
    }

    @Override
    public RdmaWrite duplicate() {
        return (RdmaWrite) super.duplicate();
    }

    @Override
    public RdmaWrite retainedDuplicate() {
        return (RdmaWrite) super.retainedDuplicate();
    }

    @Override
    public RdmaWrite retain() {
        super.retain();
        return this;
    }

    @Override
    public RdmaWrite retain(int increment) {
        super.retain(increment);
        return this;
    }

    @Override
    public RdmaWrite touch() {
        super.touch();
        return this;
    }

    @Override
    public RdmaWrite touch(Object hint) {
        super.touch(hint);
        return this;
    }

    // The content is what the caller wrote, its identity is the operation: two reads of the same place differ.
    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }

    @Override
    public String toString() {
        return "RdmaWrite(" + contentToString() + ", " + target + ')';
    }
}
