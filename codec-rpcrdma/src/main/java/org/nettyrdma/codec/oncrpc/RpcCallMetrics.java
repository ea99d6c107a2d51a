package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Keeps in a Micrometer registry how long calls take; needs micrometer-core on the class path. Timers:
 * {@code rpc.client.call.duration} for calls made and {@code rpc.server.call.duration} for calls served, with the tags
 * {@code program}, {@code version} and {@code procedure} (numbers) and {@code outcome} (of {@link RpcCallListener.Outcome}, in
 * lower case). They are histograms from which a system such as Prometheus reckons percentiles, over many processes too. With the
 * same tags:
 * <ul>
 * <li>{@code rpc.client.call.wait}: the part of the duration until the transport had taken the call, a timer without a histogram.
 * What is left is the time of the network and the server
 * <li>{@code rpc.client.call.request}, {@code .response}, {@code rpc.server.call.request}, {@code .response}: bytes of calls and
 * replies, counters
 * </ul>
 * Besides, {@code rpc.server.calls.active} has the calls that are being served, a gauge.
 *
 * <p>A peer chooses the numbers of the calls that a server gets, and must not fill the registry with them. So calls which a
 * server has not answered with results have {@code other} in place of the numbers, unless the same procedure has been answered
 * with results before. After {@value #MAX_TIMERS} timers of each object all that is new is {@code other}, too.
 *
 * <p>Any thread may use it. One object may serve many connections, clients and servers. Objects with the same registry and tags
 * add to the same meters.
 */
public final class RpcCallMetrics implements RpcCallListener {

    /** How many timers there may be with the numbers of calls. */
    static final int MAX_TIMERS = 1000;

    private static final String OTHER = "other";

    private record Key(Side side, int program, int version, int procedure, Outcome outcome) {
    }

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Key, Series> series = new ConcurrentHashMap<>();
    /** Of those, what has no numbers. */
    private final Map<Key, Series> others = new ConcurrentHashMap<>();
    // Most calls are like the one before, and need not be looked up. A thread that sees an old one finds out by its key.
    private Series lastMade;
    private Series lastServed;
    /** Calls that are being served; {@code null} before the first, so that a client does not show what it has not. */
    private volatile LongAdder serving;

    /**
     * Creates timers in a registry when the first calls end.
     *
     * @param registry where the timers are
     * @param tags     added to every timer; may be empty
     */
    public RpcCallMetrics(MeterRegistry registry, Iterable<Tag> tags) {
        this.registry = registry;
        this.tags = Tags.of(tags);
    }

    @Override
    public void begun(Side side) {
        if (side == Side.SERVER) {
            if (serving == null) {
                LongAdder shown = CallSums.of(registry, side, tags).calls;
                Gauge.builder("rpc.server.calls.active", shown, LongAdder::sum).tags(tags).baseUnit("calls")
                        .description("Calls that are being served").register(registry);
                serving = shown;
            }
            serving.increment();
        }
    }

    @Override
    public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos) {
        ended(side, program, version, procedure, outcome, elapsedNanos, 0, 0, 0);
    }

    @Override
    public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos, long queuedNanos,
                      long callBytes, long replyBytes) {
        Series one = side == Side.CLIENT ? lastMade : lastServed;
        if (one == null || !one.isOf(program, version, procedure, outcome)) {
            one = series.get(new Key(side, program, version, procedure, outcome));
            if (one == null) {
                one = newSeries(side, program, version, procedure, outcome);
            } else if (side == Side.CLIENT) {
                lastMade = one;
            } else {
                lastServed = one;
            }
        }
        one.durations.record(elapsedNanos, TimeUnit.NANOSECONDS);
        one.sums.callBytes.add(callBytes);
        one.sums.replyBytes.add(replyBytes);
        if (side == Side.CLIENT) {
            one.sums.calls.increment();
            one.sums.queuedNanos.add(queuedNanos);
        } else if (serving != null) {
            serving.decrement();
        }
    }

    private Series newSeries(Side side, int program, int version, int procedure, Outcome outcome) {
        boolean known = side == Side.CLIENT || outcome == Outcome.SUCCESS
                || series.containsKey(new Key(side, program, version, procedure, Outcome.SUCCESS));
        if (!known || series.size() >= MAX_TIMERS) {
            return others.computeIfAbsent(new Key(side, 0, 0, 0, outcome), key -> new Series(key, tags.and("program", OTHER,
                    "version", OTHER, "procedure", OTHER, "outcome", name(outcome))));
        }
        return series.computeIfAbsent(new Key(side, program, version, procedure, outcome), key -> new Series(key, tags.and(
                "program", Integer.toUnsignedString(program), "version", Integer.toUnsignedString(version), "procedure",
                Integer.toUnsignedString(procedure), "outcome", name(outcome))));
    }

    private static String name(Outcome outcome) {
        return outcome.name().toLowerCase(Locale.ROOT);
    }

    /** The meters of calls with the same tags. */
    private final class Series {

        private final Key key;
        private final Timer durations;
        private final CallSums sums;

        private Series(Key key, Tags all) {
            this.key = key;
            Side side = key.side;
            String prefix = side == Side.CLIENT ? "rpc.client.call." : "rpc.server.call.";
            durations = Timer.builder(prefix + "duration")
                    .description(side == Side.CLIENT ? "Calls made, until their replies were there"
                            : "Calls served, until their replies were written")
                    .tags(all).publishPercentileHistogram()
                    .minimumExpectedValue(Duration.ofNanos(1000))
                    .maximumExpectedValue(Duration.ofMinutes(5))
                    .register(registry);
            sums = CallSums.of(registry, side, all);
            if (side == Side.CLIENT) {
                // Not with the count of the timer above, which in some registries begins again with each step.
                FunctionTimer.builder(prefix + "wait", sums, one -> one.calls.sum(), one -> one.queuedNanos.sum(),
                                TimeUnit.NANOSECONDS)
                        .description("Calls made, until the transport had taken them").tags(all).register(registry);
            }
            bytes(prefix + "request", "Calls with their headers", all, sums.callBytes);
            bytes(prefix + "response", "Replies with their headers", all, sums.replyBytes);
        }

        private boolean isOf(int program, int version, int procedure, Outcome outcome) {
            return key.procedure == procedure && key.outcome == outcome && key.program == program && key.version == version;
        }

        private void bytes(String name, String description, Tags all, LongAdder sum) {
            FunctionCounter.builder(name, sum, LongAdder::sum).baseUnit("bytes").description(description).tags(all)
                    .register(registry);
        }
    }
}
