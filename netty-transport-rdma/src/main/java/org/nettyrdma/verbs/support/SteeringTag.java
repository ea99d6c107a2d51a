package org.nettyrdma.verbs.support;

import java.util.Objects;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.nettyrdma.verbs.WorkCompletionStatus;

/**
 * A piece of memory that the peer of one connection may touch, while {@link #isValid()}. Its tagged offsets count from 0.
 */
public final class SteeringTag {

    private final int value;
    private final MemoryRegion region;
    private final int offset;
    private final int length;
    private final int access;

    private boolean valid = true;
    private int readsInProgress;

    private boolean withdrawalAwaited;
    private long withdrawalId;

    /**
     * Checks what a user wants to expose.
     *
     * @param region registered memory
     * @param offset first byte within {@code region}
     * @param length size in bytes
     * @param access the peer's rights, as in {@link QueuePair#expose}
     * @throws IndexOutOfBoundsException if the piece does not lie in the region
     * @throws IllegalArgumentException  if it is empty, or the rights are not remote ones
     */
    public static void check(MemoryRegion region, int offset, int length, int access) {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        if (length == 0) {
            throw new IllegalArgumentException("length: 0 (expected: > 0)");
        }
        if ((access & ~(QueuePair.ACCESS_REMOTE_READ | QueuePair.ACCESS_REMOTE_WRITE)) != 0 || access == 0) {
            throw new IllegalArgumentException("access: " + access + " (expected: remote read, remote write or both)");
        }
    }

    /**
     * Exposes a piece of memory.
     *
     * @param value  the tag itself
     * @param region registered memory
     * @param offset first byte within {@code region}
     * @param length size in bytes, at least 1
     * @param access the peer's rights, as in {@link QueuePair#expose}
     */
    public SteeringTag(int value, MemoryRegion region, int offset, int length, int access) {
        this.value = value;
        this.region = region;
        this.offset = offset;
        this.length = length;
        this.access = access;
    }

    /**
     * The tag itself.
     *
     * @return all 32 bits
     */
    public int value() {
        return value;
    }

    /**
     * The memory of which this is a piece.
     *
     * @return the region
     */
    public MemoryRegion region() {
        return region;
    }

    /**
     * Whether the peer may still use it.
     *
     * @return {@code false} once it was withdrawn
     */
    public boolean isValid() {
        return valid;
    }

    /**
     * Withdraws it; {@link SteeringTagTable} does so.
     */
    public void invalidate() {
        valid = false;
    }

    /**
     * Whether the peer may read.
     *
     * @return {@code true} if so
     */
    public boolean allowsRead() {
        return (access & QueuePair.ACCESS_REMOTE_READ) != 0;
    }

    /**
     * Whether the peer may write.
     *
     * @return {@code true} if so
     */
    public boolean allowsWrite() {
        return (access & QueuePair.ACCESS_REMOTE_WRITE) != 0;
    }

    /**
     * Whether {@code taggedOffset + size} does not fit into 64 bits.
     *
     * @param taggedOffset unsigned
     * @param size         0 to 2^32 - 1
     * @return {@code true} if it does not
     */
    public static boolean wraps(long taggedOffset, long size) {
        return size != 0 && Long.compareUnsigned(taggedOffset, -size) >= 0;
    }

    /**
     * Whether the bytes from an unsigned tagged offset on lie inside.
     *
     * @param taggedOffset unsigned
     * @param size         0 to 2^32 - 1, and such that {@link #wraps} is false
     * @return {@code true} if they do
     */
    public boolean contains(long taggedOffset, long size) {
        return Long.compareUnsigned(taggedOffset + size, length) <= 0;
    }

    /**
     * Where a tagged offset lies in {@link #region()}.
     *
     * @param taggedOffset {@linkplain #contains inside}
     * @return the offset within the region
     */
    public int regionOffset(long taggedOffset) {
        return offset + (int) taggedOffset;
    }

    /**
     * How many bytes lie between a tagged offset and the end.
     *
     * @param taggedOffset inside or at the end
     * @return the number of bytes
     */
    public int bytesFrom(long taggedOffset) {
        return length - (int) taggedOffset;
    }

    /**
     * Whether a Read of the peer is in progress.
     *
     * @return {@code true} if so
     */
    public boolean isBeingRead() {
        return readsInProgress > 0;
    }

    /** A Read of the peer begins. */
    public void readStarted() {
        readsInProgress++;
    }

    /**
     * A Read of the peer has ended. If somebody waits for the end of the last one, he is told.
     *
     * @param deliveries where he hears of it
     * @param status     how his withdrawal ends, if this was the last Read
     */
    public void readEnded(DeliveryRing deliveries, WorkCompletionStatus status) {
        if (withdrawalAwaited && readsInProgress == 1) {
            deliveries.complete(withdrawalId, status, 0, 0);
        }
        readsInProgress--; // not before that is there to be delivered, for which there may be no memory
    }

    /**
     * The withdrawal is complete only when {@link #isBeingRead()} is false, and somebody wants to hear of it.
     *
     * @param workRequestId by which he will hear of it
     */
    public void awaitWithdrawal(long workRequestId) {
        withdrawalAwaited = true;
        withdrawalId = workRequestId;
    }

    @Override
    public String toString() {
        return String.format("steering tag 0x%08x of %d bytes, access %d", value, length, access);
    }
}
