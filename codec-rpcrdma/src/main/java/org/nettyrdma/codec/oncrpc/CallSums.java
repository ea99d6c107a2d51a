package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Collections;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.handler.credit.support.ThreadCounts;

/**
 * What the meters of calls show: sums, and a histogram of durations. A registry takes one meter of a name and tags, and does not
 * keep alive what it reads. So whoever has the same registry and tags adds to the same sums, which last as long as the registry.
 * Any thread.
 */
final class CallSums {

    /** Upper bounds of the histogram, inclusive: 1, 1.5, 2, 3, 4, 6 and so on to 2^26 microseconds. What is longer comes last. */
    static final int BOUNDS = 53;

    private static final Map<MeterRegistry, Map<Key, CallSums>> ALL = Collections.synchronizedMap(new WeakHashMap<>());
    private static final int HALF_MICRO_NANOS = 500;

    private static final int CALLS = 0;
    private static final int NANOS = 1;
    private static final int QUEUED_NANOS = 2;
    private static final int CALL_BYTES = 3;
    private static final int REPLY_BYTES = 4;
    private static final int ACTIVE = 5;
    private static final int HISTOGRAM = 6;

    private record Key(Side side, Tags tags) {
    }

    private final ThreadCounts counts = new ThreadCounts(HISTOGRAM + BOUNDS + 1);

    private CallSums() {
    }

    static CallSums of(MeterRegistry registry, Side side, Tags tags) {
        return ALL.computeIfAbsent(registry, any -> new ConcurrentHashMap<>())
                .computeIfAbsent(new Key(side, tags), any -> new CallSums());
    }

    /** One more is in progress, or with -1 one less. */
    void addActive(int calls) {
        counts.add(ACTIVE, calls);
    }

    void add(long nanos, long queuedNanos, long callBytes, long replyBytes) {
        add(1, nanos, queuedNanos, callBytes, replyBytes);
        addToBucket(bucketOf(nanos), 1);
    }

    /** Sums of several calls, which {@link #addToBucket} is told of, too. */
    void add(int calls, long nanos, long queuedNanos, long callBytes, long replyBytes) {
        ThreadCounts.Cell cell = counts.cell();
        cell.add(CALLS, calls);
        cell.add(NANOS, nanos);
        cell.add(QUEUED_NANOS, queuedNanos);
        cell.add(CALL_BYTES, callBytes);
        cell.add(REPLY_BYTES, replyBytes);
    }

    void addToBucket(int bucket, int calls) {
        counts.add(HISTOGRAM + bucket, calls);
    }

    long active() {
        return counts.sum(ACTIVE);
    }

    long calls() {
        return counts.sum(CALLS);
    }

    long nanos() {
        return counts.sum(NANOS);
    }

    long queuedNanos() {
        return counts.sum(QUEUED_NANOS);
    }

    long callBytes() {
        return counts.sum(CALL_BYTES);
    }

    long replyBytes() {
        return counts.sum(REPLY_BYTES);
    }

    /** Calls that took no longer than a bound, {@link #BOUNDS} for all. */
    long callsWithin(int bound) {
        return counts.sum(HISTOGRAM, HISTOGRAM + bound + 1);
    }

    static long boundNanos(int bound) {
        return bound == 0 ? 2 * HALF_MICRO_NANOS : (long) HALF_MICRO_NANOS * (3 + (bound - 1) % 2) << (bound - 1) / 2;
    }

    /** The smallest bound that is not exceeded: its number is the binary logarithm with half steps. */
    static int bucketOf(long nanos) {
        long halves = (nanos - 1) / HALF_MICRO_NANOS;
        if (halves < 2) {
            return 0;
        }
        int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(halves);
        return Math.min(2 * exponent - 1 + (int) (halves >>> exponent - 1 & 1), BOUNDS);
    }
}
