package org.nettyrdma.example.nfs.server;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/**
 * Shows {@link NfsStatistics} as meters, each tagged with its {@code procedure}: {@code nfs.server.calls} (a timer),
 * {@code nfs.server.errors}, {@code nfs.server.arguments} and {@code nfs.server.results} (both in bytes).
 */
public final class NfsMetrics implements MeterBinder {

    private final NfsStatistics statistics;

    /**
     * Shows the calls of one service.
     *
     * @param statistics its numbers
     */
    public NfsMetrics(NfsStatistics statistics) {
        this.statistics = statistics;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (NfsProcedure procedure : NfsProcedure.values()) {
            Tags tags = Tags.of("procedure", procedure.name());
            FunctionTimer.builder("nfs.server.calls", statistics, all -> all.of(procedure).calls(),
                    all -> all.of(procedure).nanos(), TimeUnit.NANOSECONDS).tags(tags).register(registry);
            counter(registry, "nfs.server.errors", "errors", tags, all -> all.of(procedure).errors());
            counter(registry, "nfs.server.arguments", "bytes", tags, all -> all.of(procedure).argumentBytes());
            counter(registry, "nfs.server.results", "bytes", tags, all -> all.of(procedure).resultBytes());
        }
    }

    private void counter(MeterRegistry registry, String name, String unit, Tags tags, ToDoubleFunction<NfsStatistics> value) {
        FunctionCounter.builder(name, statistics, value).baseUnit(unit).tags(tags).register(registry);
    }
}
