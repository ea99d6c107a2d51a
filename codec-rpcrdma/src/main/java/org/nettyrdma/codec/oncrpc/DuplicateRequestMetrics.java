package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;
import org.nettyrdma.codec.oncrpc.transport.MeterSources;

/**
 * Binds the numbers of a {@link DuplicateRequestCache} to a Micrometer registry; needs micrometer-core on the class path. Names:
 * <ul>
 * <li>{@code rpc.server.duplicates.executed}, {@code .hits}, {@code .joins}, {@code .evictions}, {@code .refused}: counters, as
 * {@link DuplicateRequestStatistics} describes them
 * <li>{@code rpc.server.duplicates.running}, {@code .replies}: calls in execution, and replies kept, gauges
 * <li>{@code rpc.server.duplicates.size}: what the replies take in bytes, a gauge
 * </ul>
 */
public final class DuplicateRequestMetrics implements MeterBinder {

    private static final String PREFIX = "rpc.server.duplicates.";

    private final DuplicateRequestCache cache;
    private final Tags tags;

    /**
     * Binds with tags.
     *
     * @param cache what to measure
     * @param tags  added to every meter; may be empty
     */
    public DuplicateRequestMetrics(DuplicateRequestCache cache, Iterable<Tag> tags) {
        this.cache = cache;
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        counter(registry, "executed", "calls", DuplicateRequestStatistics::executed, "Calls given to their program");
        counter(registry, "hits", "calls", DuplicateRequestStatistics::hits, "Calls answered with a reply that was kept");
        counter(registry, "joins", "calls", DuplicateRequestStatistics::joins, "Calls that came while the same was executed");
        counter(registry, "evictions", "replies", DuplicateRequestStatistics::evictions, "Replies forgotten for want of room");
        counter(registry, "refused", "calls", DuplicateRequestStatistics::refused, "Calls refused for want of room");
        gauge(registry, "running", "calls", DuplicateRequestStatistics::running, "Calls in execution");
        gauge(registry, "replies", "replies", DuplicateRequestStatistics::replies, "Replies kept");
        gauge(registry, "size", "bytes", DuplicateRequestStatistics::bytes, "What the replies take");
    }

    private void counter(MeterRegistry registry, String name, String unit, ToDoubleFunction<DuplicateRequestStatistics> value,
                         String description) {
        FunctionCounter.builder(PREFIX + name, sources(registry, name),
                        all -> all.total(source -> value.applyAsDouble(source.statistics())))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    private void gauge(MeterRegistry registry, String name, String unit, ToDoubleFunction<DuplicateRequestStatistics> value,
                       String description) {
        Gauge.builder(PREFIX + name, sources(registry, name),
                        all -> all.now(source -> value.applyAsDouble(source.statistics())))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    private MeterSources<DuplicateRequestCache> sources(MeterRegistry registry, String name) {
        return MeterSources.with(cache, registry, PREFIX + name, tags);
    }
}
