package org.nettyrdma.benchmarks;

import org.HdrHistogram.Histogram;

/**
 * What one measuring window saw.
 *
 * @param calls         calls completed
 * @param bytes         payload bytes moved by them
 * @param elapsedNanos  from the first call to the last reply
 * @param cpuNanos      processor time of all processes of the transport
 * @param latencyNanos  one value per call, in nanoseconds
 */
record Window(long calls, long bytes, long elapsedNanos, long cpuNanos, Histogram latencyNanos) {

    double callsPerSecond() {
        return calls * 1e9 / elapsedNanos;
    }

    double gigabytesPerSecond() {
        return (double) bytes / elapsedNanos;
    }

    double p50Micros() {
        return latencyNanos.getValueAtPercentile(50) / 1e3;
    }

    double p99Micros() {
        return latencyNanos.getValueAtPercentile(99) / 1e3;
    }

    double cpuSecondsPerGigabyte() {
        return (double) cpuNanos / bytes;
    }
}
