package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.nettyrdma.codec.oncrpc.meters.SummedMeters;

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
        SummedMeters meters = new SummedMeters(registry, tags);
        meters.counter("rpc.server.duplicates.executed", "calls", "Calls given to their program", cache,
                counting -> counting.statistics().executed());
        meters.counter("rpc.server.duplicates.hits", "calls", "Calls answered with a reply that was kept", cache,
                counting -> counting.statistics().hits());
        meters.counter("rpc.server.duplicates.joins", "calls", "Calls that came while the same was executed", cache,
                counting -> counting.statistics().joins());
        meters.counter("rpc.server.duplicates.evictions", "replies", "Replies forgotten for want of room", cache,
                counting -> counting.statistics().evictions());
        meters.counter("rpc.server.duplicates.refused", "calls", "Calls refused for want of room", cache,
                counting -> counting.statistics().refused());
        meters.gauge("rpc.server.duplicates.running", "calls", "Calls in execution", cache,
                counting -> counting.statistics().running());
        meters.gauge("rpc.server.duplicates.replies", "replies", "Replies kept", cache,
                counting -> counting.statistics().replies());
        meters.gauge("rpc.server.duplicates.size", "bytes", "What the replies take", cache,
                counting -> counting.statistics().bytes());
    }
}
