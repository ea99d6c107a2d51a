package org.nettyrdma.codec.oncrpc.transport;

import org.nettyrdma.codec.oncrpc.TransferLimits;

/**
 * What a peer has moved at some moments of the last time-out, and whether that is as much as {@link TransferLimits} demand: what
 * had begun a time-out ago has ended since, or enough bytes have moved. A single completion now and then is not enough. Whoever
 * has it lets it look at regular intervals.
 */
public final class ProgressSamples {

    /** How many times it has to look within one time-out. So it notices too little progress at most one such interval late. */
    public static final int PER_TIMEOUT = 4;

    /** How long a peer may make too little progress while who has no memory waits for it. */
    private static final long CONTENDED_MILLIS = 1000;

    private final ProgressWatch.Source source;
    private final long minBytes;
    /** What was begun, and what had moved, at each of the last moments; {@code samples % PER_TIMEOUT} is a time-out old. */
    private final long[] begun = new long[PER_TIMEOUT];
    private final long[] bytes = new long[PER_TIMEOUT];
    private int samples;

    /**
     * Creates samples that are empty.
     *
     * @param source what is looked at
     * @param limits what is demanded
     */
    public ProgressSamples(ProgressWatch.Source source, TransferLimits limits) {
        this.source = source;
        minBytes = minBytes(limits);
    }

    /**
     * What has to move within the time-out.
     *
     * @param limits what is demanded
     * @return bytes, at least 1
     */
    public static long minBytes(TransferLimits limits) {
        double bytes = (double) limits.minBytesPerSecond() * limits.timeoutMillis() / 1000; // no overflow
        return Math.max(1, (long) bytes);
    }

    /**
     * What is demanded while who has no memory waits for it: the same rate, over a second at most.
     *
     * @param limits what is demanded at other times
     * @return other limits
     */
    public static TransferLimits contended(TransferLimits limits) {
        return new TransferLimits(Math.min(CONTENDED_MILLIS, limits.timeoutMillis()), limits.minBytesPerSecond());
    }

    /**
     * Looks.
     *
     * @return {@code true} if something has been under way for a time-out, and the peer has made too little progress with it
     */
    public boolean look() {
        if (!isUnderWay()) {
            samples = 0;
            return false;
        }
        if (source.isHeldUp()) {
            samples = 0;
        }
        int oldest = samples % PER_TIMEOUT;
        if (samples >= PER_TIMEOUT && source.ended() < begun[oldest] && source.bytes() - bytes[oldest] < minBytes) {
            return true;
        }
        begun[oldest] = source.begun();
        bytes[oldest] = source.bytes();
        samples = samples + 1 < 2 * PER_TIMEOUT ? samples + 1 : PER_TIMEOUT;
        return false;
    }

    /** Forgets what it has seen. */
    void restart() {
        samples = 0;
    }

    /** Whether something is under way at this moment. */
    boolean isUnderWay() {
        return source.begun() > source.ended();
    }
}
