package org.nettyrdma.channel;

/**
 * The 64-bit id of a work request. From the most significant bit down:
 * <pre>{@code
 * 63            32 31     24 23                0
 * |  channel id   |  kind   |       slot       |
 * }</pre>
 * The channel id is the number under which its event loop knows the channel; the kind says which queue of the channel the
 * work request belongs to, and the slot is its place there.
 */
final class WorkRequestId {

    /** A receive; the slot is its place in the {@link ReceiveQueue}, or in {@link StreamMemory}. */
    static final int RECEIVE = 1;

    /** A Send, RDMA Write or RDMA Read; the slot is its place in the {@link SendQueue}, or in {@link StreamSends}. */
    static final int SEND = 2;

    /** The invalidation of a steering tag; the slot is its number in the {@link ExposureTable}, or in the {@link StreamRing}. */
    static final int INVALIDATE = 3;

    /** Largest slot; queues have at most one more entries than this. */
    static final int MAX_SLOT = (1 << 24) - 1;

    private WorkRequestId() {
    }

    static long encode(int channelId, int kind, int slot) {
        assert (kind & ~0xFF) == 0 : kind;
        assert (slot & ~MAX_SLOT) == 0 : slot;
        return (long) channelId << 32 | (long) kind << 24 | slot;
    }

    static int channelId(long workRequestId) {
        return (int) (workRequestId >>> 32);
    }

    static int kind(long workRequestId) {
        return (int) (workRequestId >>> 24) & 0xFF;
    }

    static int slot(long workRequestId) {
        return (int) workRequestId & MAX_SLOT;
    }
}
