package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.stream.TargetEntry;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that the peer of a stream writes its data to: two blocks, used in turn. Each is exposed by a steering tag of its
 * own. A block that was filled makes place for one of twice its size as long as that is allowed; so the ring of a connection that
 * is hardly used stays small. A block that is full, and whose tag was withdrawn, is read where it is: the peer cannot change it
 * any more. Another takes its place, and as soon as nobody refers to it it is used again, for this connection only. Blocks to
 * which the peer writes no more, though it has not filled them, make place for small ones. Event loop only.
 */
final class StreamRing {

    private static final Logger LOGGER = LoggerFactory.getLogger(StreamRing.class);

    /** Size of each of the two blocks at first. */
    static final int FIRST_BLOCK_BYTES = 4096;

    /** Withdrawals that may be under way; each takes an entry of the device's send queue. */
    static final int MAX_WITHDRAWALS = 2;

    /** Memory exposed to the peer. */
    private static final class RingBlock {
        final ByteBuf buffer;
        final int size;
        final MemoryRegion region;
        final int offset;
        int tag;             // 0 when it was withdrawn
        long remoteOffset;   // by which the peer names its first byte
        RingBlock successor; // takes its place when everything in it was taken; there since the tag was withdrawn

        RingBlock(ByteBuf buffer, int size, MemoryRegion region, int offset) {
            this.buffer = buffer;
            this.size = size;
            this.region = region;
            this.offset = offset;
        }

        /** What the peer is told of it. */
        TargetEntry entry() {
            return new TargetEntry(remoteOffset, tag, size);
        }
    }

    private final QueuePairChannel channel;
    private final PostingTools tools;
    private final QueuePair queuePair;
    private final PeerAddress limitedPeer;
    private final int maxBlockBytes;
    private final ArrayDeque<RingBlock> blocks = new ArrayDeque<>(2); // the first holds the oldest data
    private final List<RingBlock> withdrawing = new ArrayList<>(MAX_WITHDRAWALS); // null where done
    private int withdrawals; // that the device has not completed
    private boolean withdrawsAtOnce;
    private RingBlock lent;  // the last one that was read where it is, perhaps still in use
    private int toShrink;    // so many of the oldest blocks make place for small ones
    private int countedBytes;

    /**
     * @param ringBytes the most that both blocks together may have, at least twice {@value #FIRST_BLOCK_BYTES}
     */
    StreamRing(QueuePairChannel channel, QueuePair queuePair, int ringBytes) throws IOException {
        this.channel = channel;
        this.queuePair = queuePair;
        tools = channel.io.postingTools();
        limitedPeer = RdmaServerChannelConfig.limitedPeer(channel);
        maxBlockBytes = wholeMessages(Math.min(ringBytes / 2, RegisteredByteBufAllocator.MAX_POOLED_BYTES));
        countedBytes = StreamMemory.BYTES + 2 * FIRST_BLOCK_BYTES;
        tools.connectionMemory().open(limitedPeer, countedBytes);
        try {
            blocks.add(newBlock(FIRST_BLOCK_BYTES));
            blocks.add(newBlock(FIRST_BLOCK_BYTES));
        } catch (Throwable t) {
            try {
                queuePair.close(); // before that a device does not let go of what was exposed
            } finally {
                close();
            }
            throw t;
        }
    }

    private RingBlock newBlock(int bytes) throws IOException {
        RegisteredByteBuf registered = tools.registeredAllocator().newRegistered(bytes, "a ring");
        Block memory = registered.block();
        ByteBuf buffer = RegisteredByteBufAllocator.track(registered);
        try {
            // A peer may tell of data that it has not written: that must not be what another connection has left there.
            buffer.setZero(0, bytes);
            RingBlock block = new RingBlock(buffer, bytes, memory.region(), memory.offset);
            expose(block);
            return block;
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
    }

    private void expose(RingBlock block) throws IOException {
        block.tag = queuePair.expose(block.region, block.offset, block.size, QueuePair.ACCESS_REMOTE_WRITE);
        // The tag ends with the connection, which may have ended before the channel hears that it stands.
        block.remoteOffset = queuePair.remoteOffset(block.tag);
        channel.statistics().increment(Counter.EXPOSURES);
    }

    /** What the peer is told of the first block. */
    TargetEntry first() {
        return blocks.getFirst().entry();
    }

    /** What the peer is told of the block that was added last, or of the one before. */
    TargetEntry fromLast(int distance) {
        return (distance == 0 ? blocks.getLast() : blocks.getFirst()).entry();
    }

    /** The memory of the oldest block. */
    ByteBuf oldest() {
        return blocks.getFirst().buffer;
    }

    /**
     * Takes the peer's access to the oldest block away, which it has filled, so that it can be read where it is.
     *
     * @return {@code false} if that must not be: then it has to be copied
     */
    boolean withdrawOldest() throws IOException {
        RingBlock block = blocks.getFirst();
        if (block.successor == null && withdrawsAtOnce) {
            block.successor = newSuccessor(nextSize(block));
            if (block.successor != null) {
                block.buffer.retain();
                withdraw(block);
            }
        }
        return block.successor != null && block.tag == 0;
    }

    /** Twice the size of a block that was filled, as far as each channel has an equal share; half where it has more. */
    private int nextSize(RingBlock block) {
        if (toShrink > 0) {
            return FIRST_BLOCK_BYTES;
        }
        int larger = wholeMessages(Math.min(maxBlockBytes, block.size * 2));
        if (mayGrow(larger - block.size)) {
            return larger;
        }
        return mayGrow(0) ? block.size : Math.max(FIRST_BLOCK_BYTES, block.size / 2);
    }

    /** So that a large block is not filled up by a tiny message. */
    private static int wholeMessages(int bytes) {
        return bytes <= StreamOutput.MAX_MESSAGE_BYTES ? bytes : bytes - bytes % StreamOutput.MAX_MESSAGE_BYTES;
    }

    private RingBlock newSuccessor(int bytes) {
        RingBlock block = lent;
        if (block == null || block.size != bytes || block.buffer.refCnt() != 1) {
            return mayGrow(bytes) ? newBlockOrNull(bytes) : null;
        }
        try {
            expose(block);
        } catch (IOException e) { // no more tags
            LOGGER.debug("{} A block of the ring cannot be used again: {}", channel, e.toString());
            return null;
        }
        lent = null;
        return block;
    }

    private RingBlock newBlockOrNull(int bytes) {
        try {
            RingBlock block = newBlock(bytes);
            count(bytes);
            return block;
        } catch (IOException | OutOfMemoryError e) { // no more memory, or no more tags
            LOGGER.debug("{} The ring gets no other block: {}", channel, e.toString());
            return null;
        }
    }

    private void count(int bytes) {
        tools.connectionMemory().resize(limitedPeer, bytes);
        countedBytes += bytes;
    }

    /** The peer writes no more to so many of the oldest blocks. */
    void shrink(int count) {
        toShrink = count;
    }

    /** Whether it has grown. */
    boolean isLarge() {
        return countedBytes > StreamMemory.BYTES + 2 * FIRST_BLOCK_BYTES;
    }

    /**
     * Everything in the oldest block was taken, and the peer writes there no more: it becomes the last one, or another one does.
     */
    void recycle() throws IOException {
        RingBlock block = blocks.remove();
        if (block.successor != null) {
            blocks.add(block.successor);
            block.successor = null;
            dropLent();
            lent = block;
        } else {
            replace(block);
        }
        if (toShrink > 0) {
            toShrink--;
            dropLent();
        }
    }

    private void replace(RingBlock block) throws IOException {
        if (!mayGrow(0)) {
            dropLent();
        }
        int size = nextSize(block);
        boolean changes = size != block.size && channel.isOpen() && withdrawing.size() < MAX_WITHDRAWALS;
        RingBlock next = changes ? newBlockOrNull(size) : null;
        blocks.add(next != null ? next : block);
        if (next != null) {
            count(-block.size);
            withdraw(block);
        }
    }

    /** What was read where it is serves nobody else from now on, and is free as soon as nobody refers to it. */
    void dropLent() {
        if (lent != null) {
            count(-lent.size);
            lent.buffer.release();
            lent = null;
        }
    }

    /** Everything in the oldest block was taken, and the peer will fill none again. */
    void rotate() {
        blocks.add(blocks.remove());
    }

    /** As far as each channel has an equal share. */
    private boolean mayGrow(int bytes) {
        return countedBytes + bytes <= tools.connectionMemory().shareOf(1);
    }

    private void withdraw(RingBlock block) throws IOException {
        withdrawing.add(block);
        int slot = withdrawing.size() - 1;
        withdrawsAtOnce = queuePair.invalidate(
                WorkRequestId.encode(channel.workRequestChannelId(), WorkRequestId.INVALIDATE, slot), block.tag);
        if (withdrawsAtOnce) {
            remove(slot);
        } else {
            withdrawals++;
        }
    }

    /** Withdrawals that the device has not completed. */
    int withdrawals() {
        return withdrawals;
    }

    /** The peer cannot reach a block any more; where that has failed, the end of the connection takes care of it. */
    void withdrawn(int slot, boolean success) {
        withdrawals--;
        if (success) {
            remove(slot);
        }
    }

    private void remove(int slot) {
        RingBlock block = withdrawing.set(slot, null);
        while (!withdrawing.isEmpty() && withdrawing.get(withdrawing.size() - 1) == null) {
            withdrawing.remove(withdrawing.size() - 1);
        }
        channel.statistics().increment(Counter.LOCAL_INVALIDATIONS);
        block.tag = 0;
        block.buffer.release();
    }

    /** The queue pair is closed: gives all memory back that the peer cannot reach any more. */
    void close() {
        tools.connectionMemory().close(limitedPeer, countedBytes);
        while (!withdrawing.isEmpty()) {
            giveBack(withdrawing.remove(withdrawing.size() - 1));
        }
        giveBack(lent);
        lent = null;
        for (RingBlock block = blocks.poll(); block != null; block = blocks.poll()) {
            giveBack(block);
            giveBack(block.successor);
        }
    }

    private void giveBack(RingBlock block) {
        if (block != null) {
            if (block.tag != 0 && queuePair.mayUseExposed(block.tag)) {
                LostMemory.keep(block.buffer);
                channel.statistics().increment(Counter.BUFFERS_LEAKED_ON_PURPOSE);
                PeerLog.warn(LOGGER, channel, "the device has not taken away the peer's access to the ring; its memory is "
                        + "given up");
            } else {
                block.buffer.release();
            }
        }
    }
}
