package org.nettyrdma.handler.credit.support;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Several counts that threads add to for each message. So each thread has a cell of its own, where it counts without an atomic
 * instruction. A thread whose cell another one has, since there are more of them than cells, counts in one that they share. Any
 * thread.
 */
public final class ThreadCounts {

    /** A power of two: event loops have consecutive ids, so that they have different cells. */
    private static final int CELLS =
            Math.max(16, Integer.highestOneBit(2 * Math.min(128, Runtime.getRuntime().availableProcessors())));
    private static final long NOBODY = -1;

    /** What one thread has counted, which alone writes it, or what all have who share. */
    public static final class Cell {

        private final long threadId;
        private final AtomicLongArray values;

        private Cell(long threadId, int counts) {
            this.threadId = threadId;
            values = new AtomicLongArray(counts);
        }

        /**
         * Adds to a count. Only the thread that got the cell may do so, before it returns to its caller.
         *
         * @param index  which count, from 0
         * @param amount what is added, possibly negative
         */
        public void add(int index, long amount) {
            if (threadId == NOBODY) {
                values.getAndAdd(index, amount);
            } else {
                values.setRelease(index, values.getPlain(index) + amount);
            }
        }
    }

    private final AtomicReferenceArray<Cell> cells = new AtomicReferenceArray<>(CELLS);
    private final int counts;
    private final Cell shared;

    /**
     * Creates counts that all stand at 0.
     *
     * @param counts how many
     */
    public ThreadCounts(int counts) {
        this.counts = counts;
        shared = new Cell(NOBODY, counts);
    }

    /**
     * Returns where the current thread counts, for one that adds to several counts at once.
     *
     * @return the cell; not to be kept
     */
    public Cell cell() {
        long threadId = Thread.currentThread().getId();
        int index = (int) threadId & CELLS - 1;
        Cell cell = cells.getAcquire(index);
        if (cell == null) {
            Cell first = new Cell(threadId, counts);
            Cell earlier = cells.compareAndExchange(index, null, first);
            cell = earlier == null ? first : earlier;
        }
        return cell.threadId == threadId ? cell : shared;
    }

    /**
     * Adds to one count.
     *
     * @param index  which count, from 0
     * @param amount what is added, possibly negative
     */
    public void add(int index, long amount) {
        cell().add(index, amount);
    }

    /**
     * What all threads have counted.
     *
     * @param index which count, from 0
     * @return the sum
     */
    public long sum(int index) {
        return sum(index, index + 1);
    }

    /**
     * What all threads have counted in several counts.
     *
     * @param from the first of them
     * @param to   the one behind the last of them
     * @return the sum of all
     */
    public long sum(int from, int to) {
        long sum = sum(shared, from, to);
        for (int i = 0; i < CELLS; i++) {
            Cell cell = cells.get(i);
            sum += cell == null ? 0 : sum(cell, from, to);
        }
        return sum;
    }

    private static long sum(Cell cell, int from, int to) {
        long sum = 0;
        for (int index = from; index < to; index++) {
            sum += cell.values.get(index);
        }
        return sum;
    }
}
