package org.nettyrdma.codec.rpcrdma.shared;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics;

/**
 * The counters of {@link ChunkStatistics}, as the handlers write them. Any thread.
 *
 * <p>Each inline call is counted four times, by two event loops. So the first threads have cells of their own, in which they
 * count without an atomic instruction. A thread whose cell another one has counts in what all share.
 */
public final class ChunkCounters implements ChunkStatistics {

    private static final int COUNTERS = Counter.values().length;
    /** A power of two: event loops have consecutive ids, so that they have different cells. */
    private static final int CELLS = 16;

    /** What one thread has counted, which alone writes it. */
    private static final class Cell {

        private final long threadId;
        private final AtomicLongArray values = new AtomicLongArray(COUNTERS);

        private Cell(long threadId) {
            this.threadId = threadId;
        }
    }

    private final AtomicReferenceArray<Cell> cells = new AtomicReferenceArray<>(CELLS);
    private final LongAdder[] shared = new LongAdder[COUNTERS];

    /** Creates counters that all stand at 0. */
    public ChunkCounters() {
        for (int i = 0; i < COUNTERS; i++) {
            shared[i] = new LongAdder();
        }
    }

    @Override
    public long get(Counter counter) {
        int index = counter.ordinal();
        long sum = shared[index].sum();
        for (int i = 0; i < CELLS; i++) {
            Cell cell = cells.get(i);
            sum += cell == null ? 0 : cell.values.get(index);
        }
        return sum;
    }

    /**
     * Counts one more.
     *
     * @param counter what happened
     */
    public void increment(Counter counter) {
        add(counter, 1);
    }

    /**
     * Counts more.
     *
     * @param counter what happened
     * @param amount  how much of it
     */
    public void add(Counter counter, long amount) {
        int index = counter.ordinal();
        long threadId = Thread.currentThread().getId();
        Cell cell = cells.getAcquire((int) threadId & CELLS - 1);
        if (cell == null) {
            cell = firstOf(threadId);
        }
        if (cell.threadId == threadId) {
            cell.values.setRelease(index, cell.values.getPlain(index) + amount);
        } else {
            shared[index].add(amount);
        }
    }

    private Cell firstOf(long threadId) {
        Cell cell = new Cell(threadId);
        Cell earlier = cells.compareAndExchange((int) threadId & CELLS - 1, null, cell);
        return earlier == null ? cell : earlier;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Counter counter : Counter.values()) {
            long value = get(counter);
            if (value != 0) {
                text.append(text.isEmpty() ? "" : ", ").append(counter).append('=').append(value);
            }
        }
        return text.toString();
    }
}
