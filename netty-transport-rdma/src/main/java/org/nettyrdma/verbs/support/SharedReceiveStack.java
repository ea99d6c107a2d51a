package org.nettyrdma.verbs.support;

import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.SharedReceiveQueue;

/**
 * The shared receives of contexts in software. A message gets the buffer that was posted last: what was used a moment ago is
 * still in the processor's cache.
 *
 * <p>Peers that begin messages and do not end them may hold half of what there is to be. When they do, two things happen to other
 * messages of which only a part has arrived: one that is short enough is staged until it is whole, and takes a buffer only
 * then; a longer one waits for its share. While one waits, a message that remains incomplete for
 * {@value #INCOMPLETE_LIMIT_MILLIS} ms loses its connection. So there are always buffers for those who send whole messages, and
 * those who cannot do so get their turn. Event loop only.
 */
public final class SharedReceiveStack implements SharedReceiveQueue {

    /** Room for 64 MiB of the smallest messages that anybody has reason to share. */
    public static final int MAX_DEPTH = 1 << 18;

    /** As long as a peer that is neither hostile nor gone may need for a message over a very slow network. */
    public static final int INCOMPLETE_LIMIT_MILLIS = 10_000;

    private static final int INITIAL_CAPACITY = 64;
    /** Of what there is to be, or of what is posted where no more can be had, incomplete messages may hold one in so many. */
    private static final int INCOMPLETE_PART = 2;

    private final LoopCore core;
    private final int depth;
    private long[] workRequestIds = new long[INITIAL_CAPACITY];
    private MemoryRegion[] regions = new MemoryRegion[INITIAL_CAPACITY];
    private int[] offsets = new int[INITIAL_CAPACITY];
    private int[] lengths = new int[INITIAL_CAPACITY];
    private int available;
    /** Buffers with messages that have begun and not ended. */
    private int taken;
    private int total;
    private int reserve;
    private int users;
    private boolean closed;

    /** Connections that wait for any buffer, and those that wait for a share of those for incomplete messages; in turn. */
    private final Set<SharedReceiveTaker> waiting = new LinkedHashSet<>();
    private final Set<SharedReceiveTaker> waitingForShare = new LinkedHashSet<>();
    private boolean serveDeferred;
    private boolean serving;
    /** Connections that have a buffer with a part of a message beyond their turn, the first of them first. */
    private final Set<SharedReceiveTaker> incomplete = new LinkedHashSet<>();
    private TimerQueue.Timer timer;

    /**
     * An empty queue.
     *
     * @param core  of the context
     * @param depth buffers that can be posted, 1 to {@value #MAX_DEPTH}
     */
    public SharedReceiveStack(LoopCore core, int depth) {
        if (depth < 1 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException("depth: " + depth + " (expected: 1 to " + MAX_DEPTH + ')');
        }
        this.core = core;
        this.depth = depth;
    }

    @Override
    public void postReceive(long workRequestId, MemoryRegion region, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, region.memory().capacity());
        checkNotClosed();
        if (available + taken >= depth) {
            throw new IOException("the shared receive queue is full: depth " + depth);
        }
        if (available == workRequestIds.length) {
            grow();
        }
        workRequestIds[available] = workRequestId;
        regions[available] = region;
        offsets[available] = offset;
        lengths[available] = length;
        available++;
        serveLater();
    }

    @Override
    public int neededReceives(int newTotal, int newReserve) {
        if (newTotal > total) {
            serveLater(); // the share of incomplete messages is larger, and it may be that nothing is posted for that
        }
        total = newTotal;
        reserve = newReserve;
        return Math.min(total, taken + reserve);
    }

    private void grow() {
        int capacity = Math.max(available + 1, Math.min(depth, available * 2));
        regions = Arrays.copyOf(regions, capacity);
        offsets = Arrays.copyOf(offsets, capacity);
        lengths = Arrays.copyOf(lengths, capacity);
        workRequestIds = Arrays.copyOf(workRequestIds, capacity); // last, as this one is asked whether there is room
    }

    /** One more queue pair uses this queue. */
    public void opened() {
        checkNotClosed();
        users++;
    }

    /** A queue pair that used this queue is closed. */
    public void left() {
        users--;
    }

    private void checkNotClosed() {
        if (closed) {
            throw new IllegalStateException("the shared receive queue is closed");
        }
    }

    @Override
    public void close() {
        if (users > 0) {
            throw new IllegalStateException(users + " queue pairs use the shared receive queue");
        }
        closed = true;
        available = 0;
        Arrays.fill(regions, null);
    }

    // ---- For the connections

    /**
     * Takes the buffer that was posted last.
     *
     * @param by is given it, or told to try again when there is one
     * @return {@code false} if there is none
     */
    public boolean take(SharedReceiveTaker by) {
        if (available == 0) {
            waiting.add(by);
            return false;
        }
        int index = available - 1;
        try {
            by.taken(workRequestIds[index], regions[index], offsets[index], lengths[index]);
        } catch (Throwable t) {
            by.notTaken();
            throw t;
        }
        // No call from here on: a late error of a failed access, see MappedFiles of shm, comes at calls.
        available = index;
        taken++;
        by.messages++;
        regions[index] = null;
        return true;
    }

    /**
     * Whether the incomplete messages have all that they may have, or others wait for what is left of it.
     *
     * @return {@code true} if a message that is incomplete has to wait
     */
    public boolean isShareUsedUp() {
        return isShareFull() || !serving && !waitingForShare.isEmpty();
    }

    private boolean isShareFull() {
        int posted = available + taken;
        // With a good part of the reserve left, the others follow when they are needed; else there may be no memory for them.
        int all = available > reserve / 2 ? Math.max(posted, total) : posted;
        return incomplete.size() >= Math.max(1, all / INCOMPLETE_PART);
    }

    /**
     * A connection waits until incomplete messages may have one more buffer.
     *
     * @param by is told when they may
     */
    public void awaitShare(SharedReceiveTaker by) {
        waitingForShare.add(by);
        if (timer == null) {
            startTimer();
        }
    }

    /**
     * A connection has come to the end of its turn with a part of a message.
     *
     * @param by has a buffer
     */
    public void incomplete(SharedReceiveTaker by) {
        incomplete.add(by);
    }

    /**
     * A buffer of a connection is not used any more: its message has ended, or the connection has.
     *
     * @param by            had it
     * @param wasIncomplete whether it was told of by {@link #incomplete}
     */
    public void returned(SharedReceiveTaker by, boolean wasIncomplete) {
        taken--;
        if (wasIncomplete) {
            incomplete.remove(by);
            serveLater();
        }
    }

    /**
     * A connection has ended.
     *
     * @param ended waits for nothing any more
     */
    public void forget(SharedReceiveTaker ended) {
        waiting.remove(ended);
        waitingForShare.remove(ended);
    }

    // ---- Turns

    private void serveLater() {
        if (!serveDeferred && !(waiting.isEmpty() && waitingForShare.isEmpty())) {
            core.deferred().add(this::serve);
            serveDeferred = true; // not before there is something that takes it back
        }
    }

    /** Each of those that waited gets one turn at most: who waits again does so behind the others. */
    private void serve() {
        serveDeferred = false;
        try {
            serveShares();
            for (int i = waiting.size(); i > 0 && available > 0 && !waiting.isEmpty(); i--) {
                removeFirst(waiting).resume();
            }
        } catch (Throwable t) {
            serveLater(); // those behind the one that failed
            throw t;
        }
    }

    private void serveShares() {
        serving = true;
        try {
            for (int i = waitingForShare.size(); i > 0 && available > 0 && !isShareFull() && !waitingForShare.isEmpty(); i--) {
                removeFirst(waitingForShare).resume();
            }
        } finally {
            serving = false;
        }
    }

    private static SharedReceiveTaker removeFirst(Set<SharedReceiveTaker> set) {
        Iterator<SharedReceiveTaker> first = set.iterator();
        SharedReceiveTaker removed = first.next();
        first.remove();
        return removed;
    }

    private void startTimer() {
        SharedReceiveTaker[] then = incomplete.toArray(SharedReceiveTaker[]::new);
        long[] messages = new long[then.length];
        for (int i = 0; i < then.length; i++) {
            messages[i] = then[i].messages;
        }
        timer = core.timers().schedule(INCOMPLETE_LIMIT_MILLIS, () -> timeIsOver(then, messages));
    }

    /** Ends connections that are still at the same message as when the timer was started: one for each that needs a share. */
    private void timeIsOver(SharedReceiveTaker[] then, long[] messages) {
        timer = null;
        int needed = waitingForShare.size();
        try {
            for (int i = 0; i < then.length && needed > 0; i++) {
                if (incomplete.contains(then[i]) && then[i].messages == messages[i]) {
                    then[i].tooSlow();
                    needed--;
                }
            }
        } finally {
            if (!waitingForShare.isEmpty()) {
                startTimer();
            }
        }
    }
}
