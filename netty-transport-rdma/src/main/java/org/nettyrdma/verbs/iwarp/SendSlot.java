package org.nettyrdma.verbs.iwarp;

import java.util.Arrays;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.SendWorkRequest;

/**
 * A work request of the send side from its posting to its completion. Reusable; most have one or two pieces of memory.
 */
final class SendSlot {

    /** The end of a message that is not encoded, or of a Read that is not answered, yet. */
    static final long NOT_KNOWN = Long.MAX_VALUE;

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
    private long endPosition;

    void set(SendWorkRequest request) {
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
        endPosition = NOT_KNOWN;
    }

    /**
     * Forgets the memory, so that it can be collected.
     */
    void clear() {
        Arrays.fill(regions, 0, pieceCount, null);
        pieceCount = 0;
    }

    int pieceCount() {
        return pieceCount;
    }

    MemoryRegion region(int piece) {
        return regions[piece];
    }

    int offset(int piece) {
        return offsets[piece];
    }

    int length(int piece) {
        return lengths[piece];
    }

    long workRequestId() {
        return workRequestId;
    }

    SendWorkRequest.Opcode opcode() {
        return opcode;
    }

    boolean isRead() {
        return opcode == SendWorkRequest.Opcode.READ;
    }

    /**
     * The message that carries this work request.
     */
    RdmapOpcode wireOpcode() {
        return switch (opcode) {
            case SEND -> solicited ? RdmapOpcode.SEND_WITH_SOLICITED_EVENT : RdmapOpcode.SEND;
            case SEND_WITH_INVALIDATE -> solicited ? RdmapOpcode.SEND_WITH_SOLICITED_EVENT_AND_INVALIDATE
                    : RdmapOpcode.SEND_WITH_INVALIDATE;
            case WRITE -> RdmapOpcode.WRITE;
            case READ -> RdmapOpcode.READ_REQUEST;
        };
    }

    int steeringTag() {
        return steeringTag;
    }

    long remoteOffset() {
        return remoteOffset;
    }

    int totalBytes() {
        return totalBytes;
    }

    /**
     * The request is done when the connection has handed this many bytes to TCP.
     */
    long endPosition() {
        return endPosition;
    }

    void setEndPosition(long newEndPosition) {
        endPosition = newEndPosition;
    }
}
