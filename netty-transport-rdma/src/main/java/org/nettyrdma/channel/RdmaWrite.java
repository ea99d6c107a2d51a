package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.util.Objects;

/**
 * Outbound message: places bytes into the peer's memory with RDMA Write, any number of bytes as one work request.
 *
 * <p>The write passes the one reference of this message to the channel, which drops it when the write completes. Until then the
 * bytes must not be changed. The promise succeeds when the provider has completed the RDMA Write. The bytes may then still be on
 * their way. The peer sees a Send that was written afterwards only when the bytes have arrived (RFC 5040, section 5.5).
 */
public final class RdmaWrite extends RdmaOperation<RdmaWrite> {

    private final RemoteSegment target;

    /**
     * An RDMA Write.
     *
     * @param source its readable bytes are written; they may be none
     * @param target memory that the peer has exposed for writing
     * @throws IllegalArgumentException if there are more bytes than the target holds; the caller keeps the reference
     */
    public RdmaWrite(ByteBuf source, RemoteSegment target) {
        super(source);
        this.target = Objects.requireNonNull(target, "target");
        requireFit();
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
    void requireFit() {
        int bytes = content().readableBytes();
        if (bytes > target.length()) {
            throw new IllegalArgumentException("source of " + bytes + " bytes does not fit into " + target);
        }
    }

    @Override
    public RdmaWrite replace(ByteBuf source) {
        return new RdmaWrite(source, target);
    }

    @Override
    public String toString() {
        return "RdmaWrite(" + contentToString() + ", " + target + ')';
    }
}
