package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.support.SendSlot;
import org.nettyrdma.verbs.support.SteeringTag;

/**
 * An RDMA Read Request of the peer that has passed every check of its header and waits for its trailer, for its answer, or
 * for TCP to take the answer. Reusable.
 */
final class InboundRead {

    private SteeringTag source;
    private long sourceOffset;
    private int size;
    private int sinkTag;
    private long sinkOffset;
    private long endPosition;

    /**
     * @param newSource where to read, or {@code null} if there is nothing to read
     */
    void set(SteeringTag newSource, long newSourceOffset, int newSize, int newSinkTag, long newSinkOffset) {
        source = newSource;
        sourceOffset = newSourceOffset;
        size = newSize;
        sinkTag = newSinkTag;
        sinkOffset = newSinkOffset;
        endPosition = SendSlot.NOT_KNOWN;
    }

    /** Becomes equal to a Read that waits for its answer. */
    void set(InboundRead other) {
        set(other.source, other.sourceOffset, other.size, other.sinkTag, other.sinkOffset);
    }

    void clear() {
        source = null;
    }

    SteeringTag source() {
        return source;
    }

    int size() {
        return size;
    }

    int sinkTag() {
        return sinkTag;
    }

    long sinkOffset() {
        return sinkOffset;
    }

    /**
     * Points {@code cursor} at the bytes to send.
     */
    void start(MemoryCursor cursor) {
        if (source == null) {
            cursor.clear();
        } else {
            cursor.start(source.region(), source.regionOffset(sourceOffset), size);
        }
    }

    long endPosition() {
        return endPosition;
    }

    void setEndPosition(long newEndPosition) {
        endPosition = newEndPosition;
    }
}
