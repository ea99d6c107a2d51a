package org.nettyrdma.codec.oncrpc.meters;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;

/**
 * Makes meters that are sums over all who bind the same, and keep none of them alive. So a value must come from the source it is
 * given.
 *
 * @param registry where the meters go
 * @param tags     of each of them
 */
public record SummedMeters(MeterRegistry registry, Tags tags) {

    /**
     * Binds a counter.
     *
     * @param <T>         who counts
     * @param name        of the meter
     * @param unit        what it counts
     * @param description for people
     * @param source      who counts
     * @param value       how much it has counted
     */
    public <T> void counter(String name, String unit, String description, T source, ToDoubleFunction<T> value) {
        FunctionCounter.builder(name, MeterSources.with(source, registry, name, tags), all -> all.total(value))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    /**
     * Binds a gauge.
     *
     * @param <T>         who knows
     * @param name        of the meter
     * @param unit        what it counts
     * @param description for people
     * @param source      who knows
     * @param value       how much there is now
     */
    public <T> void gauge(String name, String unit, String description, T source, ToDoubleFunction<T> value) {
        MeterSources<T> sources = MeterSources.with(source, registry, name, tags);
        sources.register(registry, () -> Gauge.builder(name, sources, all -> all.now(value))
                .tags(tags).baseUnit(unit).description(description).register(registry));
    }

    /**
     * Binds a timer.
     *
     * @param <T>         who counts
     * @param name        of the meter
     * @param description for people
     * @param source      who counts
     * @param times       how often it has happened
     * @param nanos       how long that took in all
     */
    public <T> void timer(String name, String description, T source, ToDoubleFunction<T> times, ToDoubleFunction<T> nanos) {
        FunctionTimer.builder(name, MeterSources.with(source, registry, name, tags), all -> (long) all.total(0, times),
                        all -> all.total(1, nanos), TimeUnit.NANOSECONDS)
                .tags(tags).description(description).register(registry);
    }
}
