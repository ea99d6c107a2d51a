package org.nettyrdma.codec.oncrpc.client;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;
import org.nettyrdma.codec.oncrpc.client.ReconnectCounters.Counter;
import org.nettyrdma.codec.oncrpc.meters.SummedMeters;

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
        SummedMeters meters = new SummedMeters(registry, tags);
        meters.gauge("rpc.client.connections", "connections", "Connections to the server", client, of(Counter.CONNECTIONS));
        meters.gauge("rpc.client.calls.active", "calls", "Calls that have not ended", client, of(Counter.CALLS));
        meters.gauge("rpc.client.calls.waiting", "calls", "Calls that wait for a connection", client, of(Counter.WAITING_CALLS));
        meters.gauge("rpc.client.calls.waiting.size", "bytes", "Arguments of calls that wait for a connection", client,
                of(Counter.WAITING_BYTES));
        meters.timer("rpc.client.connects", "Connections made", client, of(Counter.CONNECTS), of(Counter.CONNECT_NANOS));
        meters.counter("rpc.client.connections.lost", "connections", "Connections lost", client, of(Counter.LOST_CONNECTIONS));
        meters.counter("rpc.client.connects.failed", "connects", "Attempts to connect that have failed", client,
                of(Counter.FAILED_CONNECTS));
        meters.counter("rpc.client.retransmissions", "retransmissions", "Calls given to another connection", client,
                of(Counter.RETRANSMISSIONS));
        meters.counter("rpc.client.calls.refused", "calls", "Calls refused because too many waited", client,
                of(Counter.REFUSED_CALLS));
        meters.timer("rpc.client.calls.wait", "Waiting for a connection", client, counting -> counting.counters().waits().count(),
                counting -> counting.counters().waits().nanos());
    }

    private static ToDoubleFunction<ReconnectingRpcClient> of(Counter counter) {
        return counting -> counting.counters().get(counter);
    }
}
