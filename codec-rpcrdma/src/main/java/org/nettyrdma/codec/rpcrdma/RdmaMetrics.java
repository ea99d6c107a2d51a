package org.nettyrdma.codec.rpcrdma;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.meters.SummedMeters;
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
        SummedMeters meters = new SummedMeters(registry, tags);
        for (Counter counter : Counter.values()) {
            meters.counter("rpcrdma.chunks." + words(counter), counter.baseUnit(), counter.description(),
                    rpcRdma.statistics(), chunks -> chunks.get(counter));
        }
        OpenConnections open = rpcRdma.connections();
        for (RdmaChannelStatistics.Counter counter : RdmaChannelStatistics.Counter.values()) {
            meters.counter("rdma.channel." + words(counter), counter.baseUnit(), counter.description(), open,
                    connections -> connections.channelCounter(counter));
        }
        meters.gauge("rdma.channels", "channels", "Connections", open, OpenConnections::size);
        rpcRdma.budgets().forEach(memory -> bindMemory(meters, memory));
        bindCredits(meters, open);
    }

    private void bindMemory(SummedMeters meters, MemoryBudget memory) {
        meters.gauge("rpcrdma.memory.used", "bytes", "Memory that calls in progress take", memory, MemoryBudget::usedBytes);
        meters.gauge("rpcrdma.memory.limit", "bytes", "Memory that calls in progress may take", memory,
                MemoryBudget::maxBytes);
        meters.gauge("rpcrdma.memory.waiting", "connections", "Connections whose calls wait for memory", memory,
                MemoryBudget::waiting);
        meters.timer("rpcrdma.memory.wait", "Waiting for memory", memory, MemoryBudget::waits, MemoryBudget::waitedNanos);
    }

    private void bindCredits(SummedMeters meters, OpenConnections open) {
        credits(meters, "requests.granted", "Calls that this side may have outstanding", open,
                now -> now.requests().granted());
        credits(meters, "requests.in.progress", "Calls that this side has outstanding", open,
                now -> now.requests().inProgress());
        credits(meters, "requests.waiting", "Calls that wait for a credit", open, now -> now.requests().waiting());
        credits(meters, "served.granted", "Calls that peers may have outstanding", open, now -> now.served().granted());
        credits(meters, "served.in.progress", "Calls that peers have outstanding", open, now -> now.served().inProgress());
        meters.timer("rpcrdma.credits.requests.wait", "Waiting for a credit", open,
                connections -> connections.creditCounter(credits -> credits.requests().waits()),
                connections -> connections.creditCounter(credits -> credits.requests().waitedNanos()));
        meters.counter("rpcrdma.credits.requests.refused", "calls", "Calls refused because too many waited", open,
                connections -> connections.creditCounter(credits -> credits.requests().refused()));
        meters.counter("rpcrdma.credits.requests.unmatched", "replies", "Replies that gave no credit back", open,
                connections -> connections.creditCounter(credits -> credits.requests().unmatchedResponses()));
        meters.counter("rpcrdma.credits.served.exceeded", "connections",
                "Connections closed because the peer exceeded its credits", open,
                connections -> connections.creditCounter(credits -> credits.served().exceeded()));
    }

    private void credits(SummedMeters meters, String name, String description, OpenConnections open,
                         ToLongFunction<CreditStatistics> value) {
        meters.gauge("rpcrdma.credits." + name, "calls", description, open, connections -> connections.credits(value));
    }

    private static String words(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '.');
    }
}
