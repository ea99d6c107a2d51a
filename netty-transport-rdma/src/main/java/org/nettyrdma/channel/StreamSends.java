package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;

/**
 * The work requests of the send side of a stream that the device has not completed. They complete in the order in which they
 * were posted, so that the slots form a ring. Each holds the references on what it sends. Event loop only.
 */
final class StreamSends {

    /** Messages without data that may be under way; an entry takes two work requests on iWARP. */
    private static final int MAX_CONTROLS = 4;

    /** Room that data leaves for them. */
    private static final int CONTROL_ROOM = 2 * MAX_CONTROLS;

    private final int channelId;
    private final Object[] payloads = new Object[StreamMemory.SENDS];
    private final int[] flushedBytes = new int[StreamMemory.SENDS];
    private final boolean[] controls = new boolean[StreamMemory.SENDS];
    private int head;
    private int outstanding;
    private int outstandingControls;
    private long completedData;

    StreamSends(int channelId) {
        this.channelId = channelId;
    }

    boolean hasRoomForData() {
        return outstanding + 2 + CONTROL_ROOM <= StreamMemory.SENDS;
    }

    /** Whether messages without data, each with so many work requests, may be posted. */
    boolean hasRoomForControl(int workRequests) {
        return outstandingControls + workRequests <= MAX_CONTROLS;
    }

    /** The slot of the next work request. */
    int nextSlot() {
        return (head + outstanding) % StreamMemory.SENDS;
    }

    /** The id of the next work request. */
    long nextId() {
        return WorkRequestId.encode(channelId, WorkRequestId.SEND, nextSlot());
    }

    /**
     * The next work request is posted.
     *
     * @param payload   a buffer, an array of buffers or {@code null}: the references pass to this
     * @param flushed   bytes of the outbound buffer that are done with the completion
     * @param isControl whether it belongs to a message without data
     */
    void posted(Object payload, int flushed, boolean isControl) {
        int slot = nextSlot();
        payloads[slot] = payload;
        flushedBytes[slot] = flushed;
        controls[slot] = isControl;
        outstanding++;
        outstandingControls += isControl ? 1 : 0;
    }

    /** The oldest work request has completed; returns the bytes of the outbound buffer that are done. */
    int complete(int slot) {
        if (outstanding == 0 || slot != head) {
            throw new IllegalStateException("completion for send slot " + slot + ", expected " + head + ", " + outstanding
                    + " outstanding");
        }
        return free();
    }

    private int free() {
        int slot = head;
        Object payload = payloads[slot];
        payloads[slot] = null;
        outstandingControls -= controls[slot] ? 1 : 0;
        head = (head + 1) % StreamMemory.SENDS;
        outstanding--;
        completedData += controls[slot] ? 0 : 1;
        release(payload);
        return flushedBytes[slot];
    }

    static void release(Object payload) {
        if (payload instanceof ByteBuf buffer) {
            buffer.release();
        } else if (payload instanceof ByteBuf[] buffers) {
            for (ByteBuf buffer : buffers) {
                buffer.release();
            }
        }
    }

    /** How many that belong to data have completed so far. */
    long completedData() {
        return completedData;
    }

    int outstanding() {
        return outstanding;
    }

    /** Drops the device's references: it has lost all access to the memory. */
    void releasePosted() {
        while (outstanding > 0) {
            free();
        }
    }
}
