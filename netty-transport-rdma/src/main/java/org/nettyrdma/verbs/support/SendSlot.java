package org.nettyrdma.verbs.support;

import java.util.Arrays;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.SendWorkRequest;

/**
 * A work request of the send side from its posting to its completion. Reusable; most have one or two pieces of memory. Used by
 * one event loop only.
 */
public final class SendSlot {

    /** The end of a message that is not sent, or of a Read that is not answered, yet. */
    public static final long NOT_KNOWN = Long.MAX_VALUE;

    private MemoryRegion[] regions = new MemoryRegion[2];
    private int[] offsets = new int[2];
    private int[] lengths = new int[2];
    private int pieceCount;

    private long workRequestId;
    private SendWorkRequest.Opcode opcode;
    private boolean solicited;
    private int steeringTag;
    private long remoteOffset;
    private int totalBytes;
    private long startPosition;
    private long endPosition;

    /** Creates one that has no work request. */
    public SendSlot() {
        // See set().
    }

    /**
     * Becomes a work request that was posted.
     *
     * @param request is copied
     */
    public void set(SendWorkRequest request) {
        int count = request.elementCount();
        if (count > regions.length) {
            regions = new MemoryRegion[count];
            offsets = new int[count];
            lengths = new int[count];
        }
        for (int i = 0; i < count; i++) {
            regions[i] = request.region(i);
            offsets[i] = request.offset(i);
            lengths[i] = request.length(i);
        }
        pieceCount = count;
        workRequestId = request.workRequestId();
        opcode = request.opcode();
        solicited = request.solicited();
        steeringTag = request.steeringTag();
        remoteOffset = request.remoteOffset();
        totalBytes = request.totalBytes();
        startPosition = NOT_KNOWN;
        endPosition = NOT_KNOWN;
    }

    /** Forgets the memory, so that it can be collected. */
    public void clear() {
        Arrays.fill(regions, 0, pieceCount, null);
        pieceCount = 0;
    }

    /**
     * How many pieces of memory it has.
     *
     * @return their number
     */
    public int pieceCount() {
        return pieceCount;
    }

    /**
     * The memory of a piece.
     *
     * @param piece from 0
     * @return the region
     */
    public MemoryRegion region(int piece) {
        return regions[piece];
    }

    /**
     * Where a piece begins.
     *
     * @param piece from 0
     * @return the offset within its region in bytes
     */
    public int offset(int piece) {
        return offsets[piece];
    }

    /**
     * How long a piece is.
     *
     * @param piece from 0
     * @return the length in bytes
     */
    public int length(int piece) {
        return lengths[piece];
    }

    /**
     * The id by which its completion is told.
     *
     * @return the id it was posted with
     */
    public long workRequestId() {
        return workRequestId;
    }

    /**
     * What is to be done.
     *
     * @return the operation
     */
    public SendWorkRequest.Opcode opcode() {
        return opcode;
    }

    /**
     * Whether it is an RDMA Read.
     *
     * @return {@code true} if so
     */
    public boolean isRead() {
        return opcode == SendWorkRequest.Opcode.READ;
    }

    /**
     * Whether the peer's program is to be woken.
     *
     * @return {@code true} for a solicited event
     */
    public boolean isSolicited() {
        return solicited;
    }

    /**
     * The peer's memory that is read, written or withdrawn.
     *
     * @return the steering tag, 0 without one
     */
    public int steeringTag() {
        return steeringTag;
    }

    /**
     * Where in the peer's memory it begins.
     *
     * @return the tagged offset
     */
    public long remoteOffset() {
        return remoteOffset;
    }

    /**
     * How long all pieces are together.
     *
     * @return the length in bytes
     */
    public int totalBytes() {
        return totalBytes;
    }

    /**
     * Where its message begins, in the count of {@link #endPosition()}.
     *
     * @return the position, {@link #NOT_KNOWN} if nobody has set it
     */
    public long startPosition() {
        return startPosition;
    }

    /**
     * Says where its message begins. A provider that does not look for it need not.
     *
     * @param newStartPosition the position
     */
    public void setStartPosition(long newStartPosition) {
        startPosition = newStartPosition;
    }

    /**
     * The request is done when the connection has got this far: bytes that TCP has taken, or entries that the peer has consumed.
     *
     * @return the position, {@link #NOT_KNOWN} until it is set
     */
    public long endPosition() {
        return endPosition;
    }

    /**
     * Says when the request is done.
     *
     * @param newEndPosition the position
     */
    public void setEndPosition(long newEndPosition) {
        endPosition = newEndPosition;
    }
}
