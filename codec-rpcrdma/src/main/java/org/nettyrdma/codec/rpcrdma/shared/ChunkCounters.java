package org.nettyrdma.codec.rpcrdma.shared;

import org.nettyrdma.codec.rpcrdma.ChunkStatistics;
import org.nettyrdma.handler.credit.support.ThreadCounts;

/**
 * The counters of {@link ChunkStatistics}, as the handlers write them: four times for each inline call, by two event loops. Any
 * thread.
 */
public final class ChunkCounters implements ChunkStatistics {

    private final ThreadCounts counts = new ThreadCounts(Counter.values().length);

    /** Creates counters that all stand at 0. */
    public ChunkCounters() {
    }

    @Override
    public long get(Counter counter) {
        return counts.sum(counter.ordinal());
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
        counts.add(counter.ordinal(), amount);
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
