package org.nettyrdma.codec.rpcrdma;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.transport.MeterSources;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.connection.OpenConnections;
import org.nettyrdma.handler.credit.CreditStatistics;

/**
 * Binds the counters of a {@link RpcRdma} to a Micrometer registry; needs micrometer-core on the class path. All meters are
 * sums over the connections, and over all {@link RpcRdma} that are bound to the registry with the same tags. A registry keeps no
 * {@link RpcRdma} alive. When one is gone, the counters have what it had counted when the registry was last read; so make one
 * for many connections, and keep it. Names, with the words of each enumeration in lower case and dots for underscores:
 * <ul>
 * <li>{@code rpcrdma.chunks.<counter>}: a counter for each {@link ChunkStatistics.Counter}, in its base unit
 * <li>{@code rdma.channel.<counter>}: a counter for each {@link org.nettyrdma.channel.RdmaChannelStatistics.Counter}
 * <li>{@code rdma.channels}: connections, a gauge
 * <li>{@code rpcrdma.memory.used}, {@code .limit}: the memory that calls in progress take, and the memory that all connections
 * share, in bytes, gauges; {@code rpcrdma.memory.waiting}: connections that wait for memory, a gauge
 * <li>{@code rpcrdma.credits.requests.granted}, {@code .in.progress}, {@code .waiting}: calls that this side may have
 * outstanding, has, and holds back, gauges
 * <li>{@code rpcrdma.credits.served.granted}, {@code .in.progress}: calls that peers may have outstanding, and have, gauges
 * <li>{@code rpcrdma.credits.requests.wait}: how many calls have waited for a credit, and how long, a timer
 * <li>{@code rpcrdma.memory.wait}: how many calls have waited for memory, and how long, a timer
 * <li>{@code rpcrdma.credits.requests.refused}: calls refused because too many waited, a counter
 * <li>{@code rpcrdma.credits.requests.unmatched}: replies that gave no credit back, a counter
 * <li>{@code rpcrdma.credits.served.exceeded}: connections closed because the peer sent more than granted, a counter
 * </ul>
 */
public final class RdmaMetrics implements MeterBinder {

    private final RpcRdma rpcRdma;
    private final Tags tags;

    /**
     * Binds without further tags.
     *
     * @param rpcRdma whose connections to measure
     */
    public RdmaMetrics(RpcRdma rpcRdma) {
        this(rpcRdma, Tags.empty());
    }

    /**
     * Binds with tags, for example to tell a client from a server in one registry.
     *
     * @param rpcRdma whose connections to measure
     * @param tags    added to every meter
     */
    public RdmaMetrics(RpcRdma rpcRdma, Iterable<Tag> tags) {
        this.rpcRdma = rpcRdma;
        this.tags = Tags.of(tags);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Counter counter : Counter.values()) {
            counter(registry, "rpcrdma.chunks." + words(counter), counter.baseUnit(), counter.description(),
                    rpcRdma.statistics(), chunks -> chunks.get(counter));
        }
        OpenConnections open = rpcRdma.connections();
        for (RdmaChannelStatistics.Counter counter : RdmaChannelStatistics.Counter.values()) {
            counter(registry, "rdma.channel." + words(counter), counter.baseUnit(), counter.description(), open,
                    connections -> connections.channelCounter(counter));
        }
        gauge(registry, "rdma.channels", "channels", "Connections", open, OpenConnections::size);
        rpcRdma.budgets().forEach(memory -> bindMemory(registry, memory));
        bindCredits(registry, open);
    }

    private void bindMemory(MeterRegistry registry, MemoryBudget memory) {
        gauge(registry, "rpcrdma.memory.used", "bytes", "Memory that calls in progress take", memory, MemoryBudget::usedBytes);
        gauge(registry, "rpcrdma.memory.limit", "bytes", "Memory that calls in progress may take", memory,
                MemoryBudget::maxBytes);
        gauge(registry, "rpcrdma.memory.waiting", "connections", "Connections whose calls wait for memory", memory,
                MemoryBudget::waiting);
        timer(registry, "rpcrdma.memory.wait", "Waiting for memory", memory, MemoryBudget::waits, MemoryBudget::waitedNanos);
    }

    private void bindCredits(MeterRegistry registry, OpenConnections open) {
        credits(registry, "requests.granted", "Calls that this side may have outstanding", open,
                now -> now.requests().granted());
        credits(registry, "requests.in.progress", "Calls that this side has outstanding", open,
                now -> now.requests().inProgress());
        credits(registry, "requests.waiting", "Calls that wait for a credit", open, now -> now.requests().waiting());
        credits(registry, "served.granted", "Calls that peers may have outstanding", open, now -> now.served().granted());
        credits(registry, "served.in.progress", "Calls that peers have outstanding", open, now -> now.served().inProgress());
        timer(registry, "rpcrdma.credits.requests.wait", "Waiting for a credit", open, OpenConnections::creditWaits,
                OpenConnections::creditWaitedNanos);
        counter(registry, "rpcrdma.credits.requests.refused", "calls", "Calls refused because too many waited", open,
                OpenConnections::refusedRequests);
        counter(registry, "rpcrdma.credits.requests.unmatched", "replies", "Replies that gave no credit back", open,
                OpenConnections::unmatchedResponses);
        counter(registry, "rpcrdma.credits.served.exceeded", "connections",
                "Connections closed because the peer exceeded its credits", open, OpenConnections::exceededCredits);
    }

    private void credits(MeterRegistry registry, String name, String description, OpenConnections open,
                         ToLongFunction<CreditStatistics> value) {
        gauge(registry, "rpcrdma.credits." + name, "calls", description, open, connections -> connections.credits(value));
    }

    private <T> void counter(MeterRegistry registry, String name, String unit, String description, T source,
                             ToDoubleFunction<T> value) {
        FunctionCounter.builder(name, MeterSources.with(source, registry, name, tags), all -> all.total(value))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    private <T> void gauge(MeterRegistry registry, String name, String unit, String description, T source,
                           ToDoubleFunction<T> value) {
        Gauge.builder(name, MeterSources.with(source, registry, name, tags), all -> all.now(value))
                .tags(tags).baseUnit(unit).description(description).register(registry);
    }

    private <T> void timer(MeterRegistry registry, String name, String description, T source, ToDoubleFunction<T> times,
                           ToDoubleFunction<T> nanos) {
        FunctionTimer.builder(name, MeterSources.with(source, registry, name, tags), all -> (long) all.total(0, times),
                        all -> all.total(1, nanos), TimeUnit.NANOSECONDS)
                .tags(tags).description(description).register(registry);
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '.');
    }
}
