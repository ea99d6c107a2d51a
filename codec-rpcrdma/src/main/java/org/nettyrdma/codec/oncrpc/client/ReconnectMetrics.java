package org.nettyrdma.codec.oncrpc.client;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.nettyrdma.codec.oncrpc.client.ReconnectCounters.Counter;

/**
 * Binds the numbers of a {@link ReconnectingRpcClient} to a Micrometer registry; needs micrometer-core on the class path. Names:
 * <ul>
 * <li>{@code rpc.client.connections}: connections that stand, a gauge; 0 while the client has none
 * <li>{@code rpc.client.calls.active}: calls that have not ended, a gauge
 * <li>{@code rpc.client.calls.waiting}, {@code rpc.client.calls.waiting.size}: calls that wait for a connection, and the bytes
 * of their arguments, gauges
 * <li>{@code rpc.client.connects}, {@code .connections.lost}, {@code .connects.failed}: connections made and lost, and attempts
 * that have failed, counters
 * <li>{@code rpc.client.retransmissions}: how often calls were given to another connection, a counter
 * <li>{@code rpc.client.calls.refused}: calls that failed at once because too many waited, a counter
 * </ul>
 */
public final class ReconnectMetrics implements MeterBinder {

    private final ReconnectingRpcClient client;
    private final Tags tags;

    /**
     * Binds with tags.
     *
     * @param client what to measure
     * @param tags   added to every meter, for example to tell clients apart; may be empty
     */
    public ReconnectMetrics(ReconnectingRpcClient client, Iterable<Tag> tags) {
        this.client = client;
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        gauge(registry, "connections", Counter.CONNECTIONS, null, "Connections to the server");
        gauge(registry, "calls.active", Counter.CALLS, null, "Calls that have not ended");
        gauge(registry, "calls.waiting", Counter.WAITING_CALLS, null, "Calls that wait for a connection");
        gauge(registry, "calls.waiting.size", Counter.WAITING_BYTES, "bytes", "Arguments of calls that wait for a connection");
        counter(registry, "connects", Counter.CONNECTS, "Connections made");
        counter(registry, "connections.lost", Counter.LOST_CONNECTIONS, "Connections lost");
        counter(registry, "connects.failed", Counter.FAILED_CONNECTS, "Attempts to connect that have failed");
        counter(registry, "retransmissions", Counter.RETRANSMISSIONS, "Calls given to another connection");
        counter(registry, "calls.refused", Counter.REFUSED_CALLS, "Calls refused because too many waited");
    }

    private void gauge(MeterRegistry registry, String name, Counter counter, String unit, String description) {
        Gauge.builder("rpc.client." + name, client, source -> source.counters().get(counter)).tags(tags).baseUnit(unit)
                .description(description).register(registry);
    }

    private void counter(MeterRegistry registry, String name, Counter counter, String description) {
        FunctionCounter.builder("rpc.client." + name, client, source -> source.counters().get(counter)).tags(tags)
                .description(description).register(registry);
    }
}
