package org.nettyrdma.codec.oncrpc.meters;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * What one meter reads. A registry takes one meter of a name and tags, and ignores a second one, for instance that of a server
 * which took the place of another; of a gauge it warns then. So this adds up all who bind the same. It lasts as long as the
 * registry, and keeps nobody alive.
 *
 * @param <T> who counts
 */
final class MeterSources<T> {

    private static final Map<MeterRegistry, Map<Key, MeterSources<?>>> ALL = Collections.synchronizedMap(new WeakHashMap<>());

    private record Key(String name, Tags tags) {
    }

    /** Who counts, and what it was last seen to have counted: a number, or two of a timer. */
    private static final class Source<T> extends WeakReference<T> {

        private final double[] seen = new double[2];

        private Source(T counting) {
            super(counting);
        }
    }

    private final List<Source<T>> sources = new ArrayList<>(1);
    private final double[] ended = new double[2];
    /** Not this, which is locked while a registry reads. */
    private final Object registering = new Object();
    private WeakReference<Gauge> meter = new WeakReference<>(null);

    private MeterSources() {
    }

    /**
     * Those of a meter, with one more. All meters of a name have sources of one type.
     *
     * @param <T>      who counts
     * @param source   the one more, which may be among them
     * @param registry of the meter
     * @param name     of the meter
     * @param tags     of the meter
     * @return all of them; the registry does not keep it alive, and need not
     */
    @SuppressWarnings("unchecked")
    static <T> MeterSources<T> with(T source, MeterRegistry registry, String name, Tags tags) {
        var sources = (MeterSources<T>) ALL.computeIfAbsent(registry, any -> new ConcurrentHashMap<>())
                .computeIfAbsent(new Key(name, tags), any -> new MeterSources<T>());
        sources.add(source);
        return sources;
    }

    private synchronized void add(T source) {
        if (sources.stream().noneMatch(known -> known.refersTo(source))) {
            sources.add(new Source<>(source));
        }
    }

    /**
     * Registers the meter that reads this, unless the registry has it.
     *
     * @param registry     of the meter
     * @param registration registers it
     */
    void register(MeterRegistry registry, Supplier<Gauge> registration) {
        synchronized (registering) {
            if (!registry.getMeters().contains(meter.get())) {
                meter = new WeakReference<>(registration.get());
            }
        }
    }

    /**
     * The sum of a value that describes the present.
     *
     * @param value of a source
     * @return the sum over those that are there
     */
    synchronized double now(ToDoubleFunction<T> value) {
        double sum = 0;
        for (Source<T> source : sources) {
            T counting = source.get();
            sum += counting == null ? 0 : value.applyAsDouble(counting);
        }
        return sum;
    }

    /**
     * The sum of a counter. It never runs backwards: what was seen of a source stays when that is gone.
     *
     * @param counter of a source
     * @return the sum over all that were there
     */
    double total(ToDoubleFunction<T> counter) {
        return total(0, counter);
    }

    /**
     * The sum of one of the two counters of a timer.
     *
     * @param number  0 or 1
     * @param counter of a source
     * @return as that of {@link #total(ToDoubleFunction)}
     */
    synchronized double total(int number, ToDoubleFunction<T> counter) {
        double sum = 0;
        for (Iterator<Source<T>> all = sources.iterator(); all.hasNext();) {
            Source<T> source = all.next();
            T counting = source.get();
            if (counting == null) {
                ended[0] += source.seen[0];
                ended[1] += source.seen[1];
                all.remove();
            } else {
                source.seen[number] = counter.applyAsDouble(counting);
                sum += source.seen[number];
            }
        }
        return ended[number] + sum;
    }
}
