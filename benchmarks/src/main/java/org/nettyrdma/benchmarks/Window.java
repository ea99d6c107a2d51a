package org.nettyrdma.benchmarks;

import org.HdrHistogram.Histogram;

/**
 * What one measuring window saw.
 *
 * @param load         what was run
 * @param latencyNanos one value per call, in nanoseconds
 * @param elapsedNanos from the first call to the last reply
 * @param counters     what both ends have counted meanwhile, and the processor time of their processes
 */
record Window(Load load, Histogram latencyNanos, long elapsedNanos, Counters counters) {

    long calls() {
        return latencyNanos.getTotalCount();
    }

    double callsPerSecond() {
        return calls() * 1e9 / elapsedNanos;
    }

    double gigabytesPerSecond() {
        return bytes() / elapsedNanos;
    }

    double p50Micros() {
        return latencyNanos.getValueAtPercentile(50) / 1e3;
    }

    double p99Micros() {
        return latencyNanos.getValueAtPercentile(99) / 1e3;
    }

    double cpuSecondsPerGigabyte() {
        return (double) counters.processor().nanos() / bytes();
    }

    double perCall(long counter) {
        return (double) counter / calls();
    }

    private double bytes() {
        return (double) calls() * load.payloadBytes();
    }
}
