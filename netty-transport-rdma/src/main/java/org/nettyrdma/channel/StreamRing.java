package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.stream.TargetEntry;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.QueuePair;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The memory that the peer of a stream writes its data to: two blocks, used in turn. Each is exposed by a steering tag of its
 * own. A block that was filled makes place for one of twice its size as long as that is allowed; so the ring of a connection that
 * is hardly used stays small. Event loop only.
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
        int tag;

        RingBlock(ByteBuf buffer, int size, MemoryRegion region, int offset) {
            this.buffer = buffer;
            this.size = size;
            this.region = region;
            this.offset = offset;
        }
    }

    private final QueuePairChannel channel;
    private final PostingTools tools;
    private final QueuePair queuePair;
    private final int channelId;
    private final int maxBlockBytes;
    private final ArrayDeque<RingBlock> blocks = new ArrayDeque<>(2); // the first holds the oldest data
    private final List<RingBlock> withdrawing = new ArrayList<>(0); // null where done
    private int withdrawals; // that the device has not completed
    private int countedBytes;

    /**
     * @param ringBytes the most that both blocks together may have
     */
    StreamRing(QueuePairChannel channel, PostingTools tools, QueuePair queuePair, int channelId, int ringBytes)
            throws IOException {
        this.channel = channel;
        this.tools = tools;
        this.queuePair = queuePair;
        this.channelId = channelId;
        maxBlockBytes = Math.max(1, ringBytes / 2);
        int blockBytes = Math.min(FIRST_BLOCK_BYTES, maxBlockBytes);
        countedBytes = StreamMemory.BYTES + 2 * blockBytes;
        memory().open(countedBytes);
        try {
            blocks.add(newBlock(blockBytes));
            blocks.add(newBlock(blockBytes));
        } catch (Throwable t) {
            close();
            throw t;
        }
    }

    private ConnectionMemory memory() {
        return tools.registeredAllocator().connectionMemory();
    }

    private RingBlock newBlock(int bytes) throws IOException {
        ByteBuf buffer = tools.registeredAllocator().directBuffer(bytes, bytes);
        try {
            RegisteredPieces pieces = tools.pieces();
            if (!pieces.find(buffer, 0, bytes) || pieces.count() != 1) {
                throw new RdmaException("no registered memory left for a ring of " + bytes + " bytes: "
                        + tools.registeredAllocator().shortage());
            }
            // A peer may tell of data that it has not written: that must not be what another connection has left there.
            buffer.setZero(0, bytes);
            RingBlock block = new RingBlock(buffer, bytes, pieces.region(0), pieces.offset(0));
            block.tag = queuePair.expose(block.region, block.offset, bytes, QueuePair.ACCESS_REMOTE_WRITE);
            channel.statistics().increment(Counter.EXPOSURES);
            return block;
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
    }

    /** What the peer is told of the first block. */
    TargetEntry first() {
        return entryOf(blocks.getFirst());
    }

    /** What the peer is told of the block that was added last, or of the one before. */
    TargetEntry fromLast(int distance) {
        return entryOf(distance == 0 ? blocks.getLast() : blocks.getFirst());
    }

    private TargetEntry entryOf(RingBlock block) {
        return new TargetEntry(queuePair.remoteOffset(block.tag), block.tag, block.size);
    }

    /** The memory of the oldest block. */
    ByteBuf oldest() {
        return blocks.getFirst().buffer;
    }

    /** Everything in the oldest block was taken, and the peer has filled it: it becomes the last one, or a larger one does. */
    void recycle() throws IOException {
        RingBlock block = blocks.remove();
        RingBlock next = block;
        int wanted = Math.min(maxBlockBytes, block.size * 2);
        if (wanted > block.size && withdrawing.size() < MAX_WITHDRAWALS && mayGrow(wanted - block.size)) {
            try {
                next = newBlock(wanted);
            } catch (IOException | OutOfMemoryError e) { // no more memory, or no more tags
                LOGGER.debug("{} The ring does not grow: {}", channel, e.toString());
            }
        }
        blocks.add(next);
        if (next != block) {
            memory().resize(countedBytes, countedBytes + wanted - block.size);
            countedBytes += wanted - block.size;
            withdraw(block);
        }
    }

    /** Everything in the oldest block was taken, and the peer will fill none again. */
    void rotate() {
        blocks.add(blocks.remove());
    }

    /** As far as each channel has an equal share. */
    private boolean mayGrow(int bytes) {
        return countedBytes + bytes <= memory().shareOf(1);
    }

    private void withdraw(RingBlock block) throws IOException {
        withdrawing.add(block);
        int slot = withdrawing.size() - 1;
        if (queuePair.invalidate(WorkRequestId.encode(channelId, WorkRequestId.INVALIDATE, slot), block.tag)) {
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
        block.buffer.release();
    }

    /** The queue pair is closed: gives all memory back that the peer cannot reach any more. */
    void close() {
        memory().close(countedBytes);
        withdrawing.removeIf(block -> block == null);
        blocks.addAll(withdrawing);
        withdrawing.clear();
        for (RingBlock block = blocks.poll(); block != null; block = blocks.poll()) {
            if (queuePair.mayUseExposed(block.tag)) {
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
