package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.util.Arrays;
import org.nettyrdma.verbs.SharedReceiveQueue;

/**
 * The receives of one size that the channels of an event loop share. There are as many as the channels have promised to their
 * peers, and two for each at least, as far as {@link ReceivePools} has memory for them; of these are posted as many as the queue
 * needs. What is posted cannot be taken back: when channels promise less, used receives are not replaced until few enough are
 * left. The pool holds one reference on each buffer that is posted. Event loop only.
 */
final class ReceivePool {

    /** Kept however little is promised, so that slow peers leave buffers for others. */
    private static final int FEWEST_BYTES = 256 * 1024;
    /**
     * Kept for each channel however little it promises: the queue lets messages that have begun and not ended hold half of all,
     * so as long as there is memory no channel has to wait for those of others.
     */
    private static final int FEWEST_OF_CHANNEL = 2;
    /** A channel gets one in so many of the receives that are left. */
    private static final int SHARE_PART = 4;
    private static final int INITIAL_SLOTS = 64;
    /** For the messages that begin in one turn of the loop, where it is enough that there are receives for these. */
    private static final int RESERVE_BYTES = 1 << 20;
    private static final int FEWEST_RESERVED = 32;
    /**
     * At the lowest level, leak detection is shown one message in so many. Netty's sockets take many messages into one buffer,
     * and the stack traces of those that are followed would else take a fiftieth of the time of small calls.
     */
    static final int MESSAGES_PER_TRACKED = 8;

    private final ReceivePools pools;
    private final PostingTools tools;
    private final SharedReceiveQueue queue;
    private final int number;
    private final int bufferBytes;
    private final ReceivePools.Budget budget;
    private final int depth;
    private final int reserve;
    private RegisteredByteBuf[] buffers = new RegisteredByteBuf[INITIAL_SLOTS];
    private int[] freeSlots = new int[INITIAL_SLOTS];
    private int freeCount;
    private int usedSlots;
    private int posted;
    private int untracked;
    private int channels;
    private long promised;
    /** So many receives are to be posted. */
    private int size;
    /** Whether there was no room for all that is promised when the size was last set. */
    private boolean isShort;

    ReceivePool(ReceivePools pools, PostingTools tools, SharedReceiveQueue queue, int number, int bufferBytes,
                ReceivePools.Budget budget, int depth) {
        this.pools = pools;
        this.tools = tools;
        this.queue = queue;
        this.number = number;
        this.bufferBytes = bufferBytes;
        this.budget = budget;
        this.depth = depth;
        reserve = Math.max(FEWEST_RESERVED, RESERVE_BYTES / bufferBytes);
    }

    int bufferBytes() {
        return bufferBytes;
    }

    /** What its receives count towards, with those of other pools. */
    ReceivePools.Budget budget() {
        return budget;
    }

    int number() {
        return number;
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    // --- Channels

    /** One more channel, which {@link ConnectionMemory} has counted, uses this pool; {@link #leave} has to follow. */
    void join() {
        channels++;
    }

    /** A channel is over, and its queue pair closed. With the last one the pool is. */
    void leave() {
        channels--;
        tools.connectionMemory().leave();
        if (channels == 0) {
            pools.remove(this);
            close();
        }
    }

    private void close() {
        boolean used = true;
        try {
            queue.close(); // from here on the device does not use the buffers
            used = queue.mayUsePosted();
        } finally {
            for (ByteBuf buffer : buffers) {
                if (buffer != null && !used) {
                    buffer.release();
                }
            }
            Arrays.fill(buffers, null);
            tools.connectionMemory().giveBack((long) size * bufferBytes);
            size = 0;
        }
    }

    /** Peers may send so many more messages, or so many fewer. */
    void promise(long difference) {
        promised += difference;
        adjust();
    }

    /** Brings the size in line with what is promised and what there is memory for. */
    void adjust() {
        int fewest = Math.max(FEWEST_OF_CHANNEL * channels, FEWEST_BYTES / bufferBytes);
        int needed = (int) Math.min(depth, Math.max(promised, fewest));
        int wanted = Math.min(pools.mostReceives(this), needed);
        if (wanted != size) {
            int had = size;
            size = wanted < had ? wanted : had + tools.connectionMemory().take(wanted - had, bufferBytes);
            if (size < had) {
                tools.connectionMemory().giveBack((long) (had - size) * bufferBytes);
            }
            pools.sizeChanged(this, size - had);
        }
        isShort = size < needed;
    }

    int size() {
        return size;
    }

    /**
     * How many more receives one channel may promise.
     *
     * @param own     what it has promised so far, which is as good as left
     * @param besides what it will promise for other purposes
     */
    long shareOfWhatIsLeft(long own, int besides) {
        return (most() - promised + own - besides) / SHARE_PART;
    }

    /** The largest size that there may be now. */
    private long most() {
        return Math.min(Math.min(depth, pools.mostReceives(this)), size + tools.connectionMemory().roomFor(bufferBytes));
    }

    /** How many messages a channel may have that it does not pass on. */
    int mostHeld() {
        return tools.connectionMemory().mostHeld(bufferBytes);
    }

    int fairMessages() {
        return tools.connectionMemory().shareOf(bufferBytes);
    }

    // --- Buffers

    /** Posts receives for a channel that has none yet. */
    void start() throws IOException {
        if (size == 0) {
            throw new RdmaException("no registered memory left for receive buffers of " + bufferBytes
                    + " bytes: those of all channels have half of org.nettyrdma.maxRegisteredBytes");
        }
        try {
            refill();
        } catch (IOException e) {
            if (posted == 0) {
                throw e;
            }
        }
    }

    /** Posts what is missing. */
    void refill() throws IOException {
        if (isShort && pools.mostReceives(this) > size && tools.connectionMemory().roomFor(bufferBytes) > 0) {
            adjust(); // others have made room, perhaps those of another loop, which cannot tell
        }
        if (posted < size) {
            int needed = queue.neededReceives(size, reserve);
            while (posted < needed) {
                post();
            }
        }
    }

    private void post() throws IOException {
        RegisteredByteBuf buffer = tools.registeredAllocator().newRegistered(bufferBytes, "a receive buffer");
        int slot = freeCount > 0 ? freeSlots[freeCount - 1] : usedSlots;
        try {
            if (slot == buffers.length) {
                freeSlots = Arrays.copyOf(freeSlots, 2 * slot);
                buffers = Arrays.copyOf(buffers, 2 * slot); // last, as this one is asked whether there is room
            }
            Block block = buffer.block();
            queue.postReceive((long) number << Integer.SIZE | slot, block.region(), block.offset, bufferBytes);
        } catch (Throwable t) {
            buffer.release();
            throw t;
        }
        if (freeCount > 0) {
            freeCount--;
        } else {
            usedSlots++;
        }
        buffers[slot] = buffer;
        posted++;
    }

    /** The device has returned a buffer, which the caller now owns. */
    ByteBuf returned(int slot) {
        RegisteredByteBuf buffer = buffers[slot];
        buffers[slot] = null;
        freeSlots[freeCount++] = slot;
        posted--;
        if (isTracked(untracked, ResourceLeakDetector.getLevel())) {
            untracked = 0;
            return RegisteredByteBufAllocator.track(buffer);
        }
        untracked++;
        return buffer;
    }

    /** Whether leak detection is shown a message behind so many that it was not shown. */
    static boolean isTracked(int untracked, ResourceLeakDetector.Level level) {
        return level != ResourceLeakDetector.Level.SIMPLE || untracked == MESSAGES_PER_TRACKED - 1;
    }
}
