package org.nettyrdma.verbs.iwarp;

import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;

/**
 * A piece of memory that the peer of one connection may touch, while {@link #isValid()}. Its tagged offsets count from 0.
 */
final class SteeringTag {

    private final int value;
    private final MemoryRegion region;
    private final int offset;
    private final int length;
    private final int access;

    private boolean valid = true;
    private int readsInProgress;

    private boolean withdrawalAwaited;
    private long withdrawalId;

    SteeringTag(int value, MemoryRegion region, int offset, int length, int access) {
        this.value = value;
        this.region = region;
        this.offset = offset;
        this.length = length;
        this.access = access;
    }

    int value() {
        return value;
    }

    MemoryRegion region() {
        return region;
    }

    boolean isValid() {
        return valid;
    }

    void invalidate() {
        valid = false;
    }

    boolean allowsRead() {
        return (access & QueuePair.ACCESS_REMOTE_READ) != 0;
    }

    boolean allowsWrite() {
        return (access & QueuePair.ACCESS_REMOTE_WRITE) != 0;
    }

    /**
     * Whether {@code taggedOffset + size} does not fit into 64 bits.
     */
    static boolean wraps(long taggedOffset, long size) {
        return size != 0 && Long.compareUnsigned(taggedOffset, -size) >= 0;
    }

    /**
     * Whether the bytes from an unsigned tagged offset on lie inside.
     *
     * @param size 0 to 2^32 - 1, and such that {@link #wraps} is false
     */
    boolean contains(long taggedOffset, long size) {
        return Long.compareUnsigned(taggedOffset + size, length) <= 0;
    }

    /**
     * Where a tagged offset lies in {@link #region()}; it must be {@linkplain #contains inside}.
     */
    int regionOffset(long taggedOffset) {
        return offset + (int) taggedOffset;
    }

    /**
     * How many bytes lie between a tagged offset, which is inside or at the end, and the end.
     */
    int bytesFrom(long taggedOffset) {
        return length - (int) taggedOffset;
    }

    boolean isBeingRead() {
        return readsInProgress > 0;
    }

    void readStarted() {
        readsInProgress++;
    }

    void readEnded() {
        readsInProgress--;
    }

    /**
     * The withdrawal is complete only when {@link #isBeingRead()} is false, and somebody wants to hear of it.
     */
    void awaitWithdrawal(long workRequestId) {
        withdrawalAwaited = true;
        withdrawalId = workRequestId;
    }

    boolean isWithdrawalAwaited() {
        return withdrawalAwaited;
    }

    long withdrawalId() {
        return withdrawalId;
    }

    @Override
    public String toString() {
        return String.format("steering tag 0x%08x of %d bytes, access %d", value, length, access);
    }
}
