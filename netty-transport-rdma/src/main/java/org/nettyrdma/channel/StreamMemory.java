package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.nettyrdma.stream.TargetList;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;

/**
 * The registered memory of a stream besides its ring, one block:
 * <pre>{@code
 * | target list | a message or an entry for each work request | receives |
 * }</pre>
 * Only the target list is exposed to the peer. Event loop only.
 */
final class StreamMemory {

    /** Credits that the peer gets. */
    static final int CREDITS = 24;

    /** Messages that need no credit must find a receive, too. */
    static final int EXTRA_RECEIVES = 8;

    static final int RECEIVES = CREDITS + EXTRA_RECEIVES;

    /** Work requests of the send side, without invalidations. */
    static final int SENDS = 64;

    /** How long a message may be with the data behind it. All parts together just fit into a block of the pool. */
    static final int RECEIVE_BYTES = 220;

    private static final int SEND_BYTES = 16;
    private static final int SENDS_AT = TargetList.BYTES;
    private static final int RECEIVES_AT = SENDS_AT + SENDS * SEND_BYTES;
    static final int BYTES = RECEIVES_AT + RECEIVES * RECEIVE_BYTES;

    private final QueuePair queuePair;
    private final ByteBuf buffer;
    private final MemoryRegion region;
    private final int offset;
    private final ByteBuffer bytes;
    private final int listTag;

    StreamMemory(PostingTools tools, QueuePair queuePair) throws IOException {
        this.queuePair = queuePair;
        RegisteredByteBuf registered = tools.registeredAllocator().newRegistered(BYTES, "a stream");
        region = registered.block().region();
        offset = registered.block().offset;
        buffer = RegisteredByteBufAllocator.track(registered);
        try {
            buffer.setZero(0, TargetList.BYTES); // what another connection has left there
            bytes = buffer.nioBuffer(0, BYTES).order(ByteOrder.LITTLE_ENDIAN);
            listTag = queuePair.expose(region, offset, TargetList.BYTES, QueuePair.ACCESS_REMOTE_WRITE);
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
    }

    int listTag() {
        return listTag;
    }

    long listAddress() {
        return queuePair.remoteOffset(listTag);
    }

    /** All of it, little-endian; the target list begins at 0. */
    ByteBuffer bytes() {
        return bytes;
    }

    ByteBuf buffer() {
        return buffer;
    }

    MemoryRegion region() {
        return region;
    }

    /** Where a byte of this memory is in its region. */
    int inRegion(int at) {
        return offset + at;
    }

    static int sendAt(int slot) {
        return SENDS_AT + slot * SEND_BYTES;
    }

    static int receiveAt(int slot) {
        return RECEIVES_AT + slot * RECEIVE_BYTES;
    }

    /** Posts a receive. */
    void postReceive(int channelId, int slot) throws IOException {
        queuePair.postReceive(WorkRequestId.encode(channelId, WorkRequestId.RECEIVE, slot), region,
                inRegion(receiveAt(slot)), RECEIVE_BYTES);
    }

    /** The queue pair is closed; {@code true} if the memory can be used again, else it is given up. */
    boolean release(boolean deviceHasLeft) {
        if (deviceHasLeft && !queuePair.mayUseExposed(listTag)) {
            buffer.release();
            return true;
        }
        LostMemory.keep(buffer);
        return false;
    }
}
