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

    void add(int program, int version, int procedure, Outcome outcome, long callNanos, long callQueuedNanos, int bytes,
             int bytesOfReply) {
        if (series == null || !series.isOf(program, version, procedure, outcome)) {
            settle();
            series = metrics.find(side, program, version, procedure, outcome);
        }
        int index = CallSums.bucketOf(callNanos);
        if (index != bucket) {
            settleBucket();
            bucket = index;
        }
        callsInBucket++;
        calls++;
        nanos += callNanos;
        queuedNanos += callQueuedNanos;
        callBytes += bytes;
        replyBytes += bytesOfReply;
    }

    /** What was told is shown. */
    void settle() {
        if (calls == 0) {
            return;
        }
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
