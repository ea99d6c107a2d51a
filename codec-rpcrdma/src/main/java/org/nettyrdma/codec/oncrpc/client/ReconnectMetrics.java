package org.nettyrdma.codec.oncrpc.client;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.nettyrdma.codec.oncrpc.client.ReconnectCounters.Counter;
import org.nettyrdma.codec.oncrpc.transport.MeterSources;

/**
 * Binds the numbers of a {@link ReconnectingRpcClient} to a Micrometer registry; needs micrometer-core on the class path. Names:
 * <ul>
 * <li>{@code rpc.client.connections}: connections that stand, a gauge; 0 while the client has none
 * <li>{@code rpc.client.calls.active}: calls that have not ended, a gauge
 * <li>{@code rpc.client.calls.waiting}, {@code rpc.client.calls.waiting.size}: calls that wait for a connection, and the bytes
 * of their arguments, gauges
 * <li>{@code rpc.client.connects}: connections made, and how long that took, a timer
 * <li>{@code rpc.client.connections.lost}, {@code .connects.failed}: connections lost, and attempts that have failed, counters
 * <li>{@code rpc.client.retransmissions}: how often calls were given to another connection, a counter
 * <li>{@code rpc.client.calls.wait}: how many calls have waited for a connection, and how long, a timer
 * <li>{@code rpc.client.calls.refused}: calls that failed at once because too many waited, a counter
 * </ul>
 * A registry keeps no client alive. When one is gone, the counters have what it had counted when the registry was last read.
 */
public final class ReconnectMetrics implements MeterBinder {

    private static final String PREFIX = "rpc.client.";

    private final ReconnectingRpcClient client;
    private final Tags tags;

    /**
     * Binds with tags.
     *
     * @param client what to measure
     * @param tags   added to every meter, for example to tell clients apart; may be empty. Clients with the same are added up
     */
    public ReconnectMetrics(ReconnectingRpcClient client, Iterable<Tag> tags) {
        this.client = client;
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "connections", Counter.CONNECTIONS, "connections", "Connections to the server");
        gauge(registry, "calls.active", Counter.CALLS, "calls", "Calls that have not ended");
        gauge(registry, "calls.waiting", Counter.WAITING_CALLS, "calls", "Calls that wait for a connection");
        gauge(registry, "calls.waiting.size", Counter.WAITING_BYTES, "bytes", "Arguments of calls that wait for a connection");
        timer(registry, "connects", "Connections made", counters -> counters.get(Counter.CONNECTS),
                counters -> counters.get(Counter.CONNECT_NANOS));
        counter(registry, "connections.lost", Counter.LOST_CONNECTIONS, "connections", "Connections lost");
        counter(registry, "connects.failed", Counter.FAILED_CONNECTS, "connects", "Attempts to connect that have failed");
        counter(registry, "retransmissions", Counter.RETRANSMISSIONS, "retransmissions", "Calls given to another connection");
        counter(registry, "calls.refused", Counter.REFUSED_CALLS, "calls", "Calls refused because too many waited");
        timer(registry, "calls.wait", "Waiting for a connection", counters -> counters.waits().count(),
                counters -> counters.waits().nanos());
    }

    private void timer(MeterRegistry registry, String name, String description, ToDoubleFunction<ReconnectCounters> count,
                       ToDoubleFunction<ReconnectCounters> nanos) {
        FunctionTimer.builder(PREFIX + name, sources(registry, name),
                        all -> (long) all.total(0, source -> count.applyAsDouble(source.counters())),
                        all -> all.total(1, source -> nanos.applyAsDouble(source.counters())), TimeUnit.NANOSECONDS).tags(tags)
                .description(description).register(registry);
    }

    private void gauge(MeterRegistry registry, String name, Counter counter, String unit, String description) {
        Gauge.builder(PREFIX + name, sources(registry, name), all -> all.now(source -> source.counters().get(counter)))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    private void counter(MeterRegistry registry, String name, Counter counter, String unit, String description) {
        FunctionCounter.builder(PREFIX + name, sources(registry, name),
                        all -> all.total(source -> source.counters().get(counter)))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    private MeterSources<ReconnectingRpcClient> sources(MeterRegistry registry, String name) {
        return MeterSources.with(client, registry, PREFIX + name, tags);
    }
}
