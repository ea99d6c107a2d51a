package org.nettyrdma.codec.oncrpc;

import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;

/**
 * What one handler has told {@link RpcCallMetrics} in a batch of reads, where most calls are alike: so the sums that meters show
 * are touched once for many calls. Executor of the handler only.
 */
final class CallTally {

    private final RpcCallMetrics metrics;
    private final Side side;
    /** {@code null} before the first call. */
    private RpcCallMetrics.Series series;
    private int calls;
    private int untimed;
    private long nanos;
    private long queuedNanos;
    private long callBytes;
    private long replyBytes;
    /** Of the last calls: which bucket of the histogram they are in, and how many of them. */
    private int bucket;
    private int callsInBucket;

    CallTally(RpcCallMetrics metrics, Side side) {
        this.metrics = metrics;
        this.side = side;
    }

    boolean isOf(int program, int version, int procedure, Outcome outcome) {
        return series != null && series.isOf(program, version, procedure, outcome);
    }

    /** What comes next is of such calls; nothing may be here. */
    void begin(int program, int version, int procedure, Outcome outcome) {
        series = metrics.find(side, program, version, procedure, outcome);
    }

    void add(long callNanos, long callQueuedNanos, int bytes, int bytesOfReply) {
        addToBucket(callNanos, 1);
        queuedNanos += callQueuedNanos;
        count(bytes, bytesOfReply);
    }

    /** A call which {@link #time} will be told of. */
    void addUntimed(int bytes, int bytesOfReply) {
        untimed++;
        count(bytes, bytesOfReply);
    }

    private void count(int bytes, int bytesOfReply) {
        calls++;
        callBytes += bytes;
        replyBytes += bytesOfReply;
    }

    boolean hasUntimed() {
        return untimed > 0;
    }

    /** How long each call took that had no time. */
    void time(long callNanos) {
        addToBucket(callNanos, untimed);
        untimed = 0;
    }

    private void addToBucket(long callNanos, int howMany) {
        nanos += howMany * callNanos;
        int index = CallSums.bucketOf(callNanos);
        if (index != bucket) {
            settleBucket();
            bucket = index;
        }
        callsInBucket += howMany;
    }

    boolean isEmpty() {
        return calls == 0;
    }

    /** What was told is shown. All have their time. */
    void settle() {
        settleBucket();
        series.sums.add(calls, nanos, queuedNanos, callBytes, replyBytes);
        if (side == Side.SERVER) {
            metrics.served(calls);
        }
        calls = 0;
        nanos = 0;
        queuedNanos = 0;
        callBytes = 0;
        replyBytes = 0;
    }

    private void settleBucket() {
        if (callsInBucket > 0) {
            series.sums.addToBucket(bucket, callsInBucket);
            callsInBucket = 0;
        }
    }
}
