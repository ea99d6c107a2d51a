package org.nettyrdma.benchmarks;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Windows made by hand. */
final class Windows {

    private Windows() {
    }

    /** A window of one second. */
    static Window of(Case scenario, int calls, long latencyNanos, Counters counters) {
        Histogram latencies = Histograms.newHistogram();
        latencies.recordValueWithCount(latencyNanos, calls);
        return new Window(scenario.load(), latencies, TimeUnit.SECONDS.toNanos(1), counters);
    }

    static Window of(Case scenario, int calls) {
        return of(scenario, calls, 1000, Counters.NONE);
    }
}
