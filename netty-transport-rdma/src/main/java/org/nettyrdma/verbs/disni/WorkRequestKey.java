package org.nettyrdma.verbs.disni;

/**
 * The 64-bit id by which the device returns a work request. From the most significant bit down:
 * <pre>{@code
 * 63               32 31       30              0
 * | queue pair number |  queue  |      slot      |
 * }</pre>
 * The number is the one under which the context knows the queue pair, never used twice in a row; the queue is 0 for receives and
 * 1 for the send side; the slot is a place in the ring of that queue. The id is all that a completion is routed by: on an error,
 * hardly anything else is valid.
 */
final class WorkRequestKey {

    static final int MAX_SLOT = Integer.MAX_VALUE;

    private static final long SEND_SIDE = 1L << 31;

    private WorkRequestKey() {
    }

    static long receive(int queuePair, int slot) {
        return (long) queuePair << 32 | slot;
    }

    static long send(int queuePair, int slot) {
        return (long) queuePair << 32 | SEND_SIDE | slot;
    }

    static int queuePair(long key) {
        return (int) (key >>> 32);
    }

    static boolean isSend(long key) {
        return (key & SEND_SIDE) != 0;
    }

    static int slot(long key) {
        return (int) key & MAX_SLOT;
    }
}
