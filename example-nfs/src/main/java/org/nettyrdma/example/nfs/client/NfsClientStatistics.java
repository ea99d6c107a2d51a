package org.nettyrdma.example.nfs.client;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/**
 * Counts the calls of NFS clients by procedure, and how long each took from the call to its decoded results. Thread safe.
 *
 * <p>Bound to a registry it has two meters for each procedure, which is their tag {@code procedure} in lower case:
 * <ul>
 * <li>{@value #CALLS}: calls completed, failed ones too;</li>
 * <li>{@value #LATENCY}: time in seconds that {@code quantile} (0.5 or 0.99) of them did not exceed since the start.</li>
 * </ul>
 */
public final class NfsClientStatistics implements MeterBinder {

    /** Name of the counter of calls. */
    public static final String CALLS = "nfs.client.calls";

    /** Name of the gauges of latency. */
    public static final String LATENCY = "nfs.client.latency";

    private static final double[] QUANTILES = {0.5, 0.99};
    private static final long HIGHEST_NANOS = TimeUnit.MINUTES.toNanos(2);
    private static final int SIGNIFICANT_DIGITS = 2;

    private final Map<NfsProcedure, Histogram> nanosByProcedure = new EnumMap<>(NfsProcedure.class);

    /** Creates statistics without a call. */
    public NfsClientStatistics() {
        for (NfsProcedure procedure : NfsProcedure.values()) {
            nanosByProcedure.put(procedure, new ConcurrentHistogram(HIGHEST_NANOS, SIGNIFICANT_DIGITS));
        }
    }

    /**
     * Counts a call.
     *
     * @param procedure what was called
     * @param nanos how long it took, in nanoseconds; more than two minutes count as two minutes
     */
    public void record(NfsProcedure procedure, long nanos) {
        nanosByProcedure.get(procedure).recordValue(Math.min(nanos, HIGHEST_NANOS));
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        nanosByProcedure.forEach((procedure, nanos) -> {
            Tags tags = Tags.of("procedure", procedure.name().toLowerCase(Locale.ROOT));
            FunctionCounter.builder(CALLS, nanos, Histogram::getTotalCount)
                    .tags(tags).baseUnit("calls").description("NFS calls completed, failed ones too").register(registry);
            for (double quantile : QUANTILES) {
                TimeGauge.builder(LATENCY, nanos, TimeUnit.NANOSECONDS,
                        histogram -> histogram.getValueAtPercentile(quantile * 100))
                        .tags(tags.and("quantile", String.valueOf(quantile)))
                        .description("Time that this share of the calls did not exceed").register(registry);
            }
        });
    }
}
