package org.nettyrdma.codec.rpcrdma.shared;

import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics;

/** The counters of {@link ChunkStatistics}, as the handlers write them. Any thread. */
public final class ChunkCounters implements ChunkStatistics {

    private final LongAdder[] values = new LongAdder[Counter.values().length];

    /** Creates counters that all stand at 0. */
    public ChunkCounters() {
        for (int i = 0; i < values.length; i++) {
            values[i] = new LongAdder();
        }
    }

    @Override
    public long get(Counter counter) {
        return values[counter.ordinal()].sum();
    }

    /**
     * Counts one more.
     *
     * @param counter what happened
     */
    public void increment(Counter counter) {
        values[counter.ordinal()].increment();
    }

    /**
     * Counts more.
     *
     * @param counter what happened
     * @param amount  how much of it
     */
    public void add(Counter counter, long amount) {
        values[counter.ordinal()].add(amount);
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
