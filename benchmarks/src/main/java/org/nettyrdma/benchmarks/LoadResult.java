package org.nettyrdma.benchmarks;

import org.HdrHistogram.Histogram;

/**
 * What a client has seen of a load.
 *
 * @param latencies    of every call, in nanoseconds
 * @param elapsedNanos from before the first call to the last reply, what is made ahead left out
 */
record LoadResult(Histogram latencies, long elapsedNanos) {
}
