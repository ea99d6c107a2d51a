package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.verbs.Capabilities;
import org.nettyrdma.verbs.VerbsContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The receives that belong to an event loop: one {@link ReceivePool} for each size of buffers, which lives as long as channels
 * use it. All of them together have at most {@value #MAX_BYTES} bytes; but those that are long because there is memory have what
 * is theirs beside that, so that they take nothing from the others. Event loop only.
 */
final class ReceivePools {

    /** Of larger receives there would be too few to be shared; a channel has its own then. */
    static final int MAX_BUFFER_BYTES = 256 * 1024;

    private static final Logger LOGGER = LoggerFactory.getLogger(ReceivePools.class);

    private static final int MAX_BYTES = 64 << 20;
    /** Of the registered memory of all loops, those of one may take one part in so many. */
    private static final int REGISTERED_PART = 8;
    private static final int FEWEST_RECEIVES = 4;
    private static final int RETRY_MILLIS = 20;

    private final EventExecutor loop;
    private final LoneTimer retry;
    private final PostingTools tools;
    private final Budget usualBudget;
    /** Of receives that are longer than the channels have asked for, since there is memory for it. */
    private final Budget longBudget;
    private final List<ReceivePool> pools = new ArrayList<>(); // very few
    private int lastNumber;
    /** Pools up to this number belong to contexts that have failed. */
    private int lastLostNumber;

    /** What some of the pools may have together. */
    static final class Budget {

        private final long maxBytes;
        private long bytes;

        Budget(long maxBytes) {
            this.maxBytes = maxBytes;
        }
    }

    /**
     * @param stayAwake has {@link #refill} called before the loop waits again
     */
    ReceivePools(EventExecutor loop, PostingTools tools, Runnable stayAwake) {
        this.loop = loop;
        retry = new LoneTimer(loop, RETRY_MILLIS, stayAwake);
        this.tools = tools;
        long partBytes = tools.connectionMemory().maxBytes() / REGISTERED_PART;
        usualBudget = new Budget(Math.min(MAX_BYTES, partBytes));
        longBudget = new Budget(partBytes);
    }

    /**
     * The pool for a channel, which has to leave it; {@code null} if the channel has to have receives of its own. Afterwards its
     * configuration tells their size.
     */
    ReceivePool join(VerbsContext context, RdmaChannelConfig config) throws IOException {
        Capabilities capabilities = tools.provider().capabilities();
        if (!config.isSharedReceives() || capabilities.maxSharedReceives() == 0
                || config.getReceiveBufferSize() > MAX_BUFFER_BYTES) {
            return null;
        }
        tools.connectionMemory().join(); // first, or loops that ask at once would each find what there is for one more
        try {
            return poolFor(context, config, capabilities);
        } catch (Throwable t) {
            tools.connectionMemory().leave();
            throw t;
        }
    }

    private ReceivePool poolFor(VerbsContext context, RdmaChannelConfig config, Capabilities capabilities) throws IOException {
        Budget budget = usualBudget;
        if (hasRoomForLong(config)) {
            budget = longBudget;
            config.setReceiveBufferSize(tools.provider().longestPreferredSendBytes());
        }
        int bufferBytes = config.getReceiveBufferSize();
        ReceivePool pool = find(bufferBytes, budget);
        if (pool == null) {
            long most = budget.maxBytes / bufferBytes;
            int depth = (int) Math.min(capabilities.maxSharedReceives(), Math.max(FEWEST_RECEIVES, most));
            pool = new ReceivePool(this, tools, context.createSharedReceiveQueue(depth), ++lastNumber, bufferBytes, budget,
                    depth);
            pools.add(pool);
        }
        pool.join();
        return pool;
    }

    private boolean hasRoomForLong(RdmaChannelConfig config) {
        int bytes = config.isLongReceives() ? tools.provider().longestPreferredSendBytes() : 0;
        return bytes > config.getReceiveBufferSize() && bytes <= MAX_BUFFER_BYTES
                && tools.connectionMemory().mostHeldByEach(bytes) >= config.getReceiveQueueDepth();
    }

    private ReceivePool find(int bufferBytes, Budget budget) {
        for (ReceivePool pool : pools) {
            if (pool.bufferBytes() == bufferBytes && pool.budget() == budget && !isLost(pool)) {
                return pool;
            }
        }
        return null;
    }

    private boolean isLost(ReceivePool pool) {
        return pool.number() <= lastLostNumber;
    }

    /** The context has failed: nobody can join the pools that there are, which are there until their channels have left. */
    void contextLost() {
        lastLostNumber = lastNumber;
    }

    /** A pool has no channels any more. */
    void remove(ReceivePool pool) {
        pools.remove(pool);
        sizeChanged(pool, -pool.size());
    }

    /** A pool has so many more receives, or so many fewer. */
    void sizeChanged(ReceivePool pool, int difference) {
        pool.budget().bytes += (long) difference * pool.bufferBytes();
    }

    /** How many receives a pool may have beside what the others have. */
    int mostReceives(ReceivePool pool) {
        long left = pool.budget().maxBytes - pool.budget().bytes + (long) pool.size() * pool.bufferBytes();
        return (int) Math.max(FEWEST_RECEIVES, left / pool.bufferBytes());
    }

    /** A receive is completed. Returns the buffer, which the caller now owns; {@code null} if it was given back with its pool. */
    ByteBuf returned(long workRequestId) {
        int number = (int) (workRequestId >>> Integer.SIZE);
        for (int i = 0; i < pools.size(); i++) {
            if (pools.get(i).number() == number) {
                return pools.get(i).returned((int) workRequestId);
            }
        }
        return null;
    }

    /** Posts what is missing, as far as there is memory; {@code false} if the loop has to try again before it sleeps. */
    boolean refill() {
        boolean mayWait = true;
        for (int i = 0; i < pools.size(); i++) {
            try {
                if (!isLost(pools.get(i))) {
                    pools.get(i).refill();
                }
            } catch (IOException | OutOfMemoryError e) {
                mayWait = retryLater(e);
            }
        }
        return mayWait;
    }

    /** Connections may wait that nothing else would wake. */
    private boolean retryLater(Throwable cause) {
        if (loop.isShuttingDown()) {
            return true;
        }
        if (!retry.isSet()) {
            LOGGER.debug("Receives are missing", cause);
        }
        return retry.set();
    }
}
