package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import java.math.BigDecimal;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.nettyrdma.codec.oncrpc.meters.SummedMeters;

/**
 * Keeps in a Micrometer registry how long calls take; needs micrometer-core on the class path. Timers:
 * {@code rpc.client.call.duration} for calls made and {@code rpc.server.call.duration} for calls served, with the tags
 * {@code program}, {@code version} and {@code procedure} (numbers) and {@code outcome} (of {@link RpcCallListener.Outcome}, in
 * lower case). With the same tags:
 * <ul>
 * <li>{@code rpc.client.call.duration.histogram}, {@code rpc.server.call.duration.histogram}: how many calls took no longer than
 * the seconds of the tag {@code le}, counters. From these a system such as Prometheus reckons percentiles, over many processes
 * too. The bounds are 1, 1.5, 2, 3, 4, 6 and so on to 2<sup>26</sup> microseconds, and {@code +Inf}
 * <li>{@code rpc.client.call.wait}: the part of the duration until the transport had taken the call, a timer without a histogram.
 * What is left is the time of the network and the server
 * <li>{@code rpc.client.call.request}, {@code .response}, {@code rpc.server.call.request}, {@code .response}: bytes of calls and
 * replies, counters
 * </ul>
 * Besides, {@code rpc.server.calls.active} has the calls that are being served, a gauge. Calls that a connection has read at once
 * are shown as ended when the last of them was passed to its program. Those of one procedure which a server answers one after
 * the other then, without another in between, count as answered when the last of them is: their replies are flushed together.
 *
 * <p>All are functions of sums that each connection and thread keeps for itself. A {@code Timer} of Micrometer looks at the clock
 * twice for each call and counts with atomic instructions, which takes longer than all else that is done for a figure.
 *
 * <p>A peer chooses the numbers of the calls that a server gets, and must not fill the registry with them. So calls which a
 * server has not answered with results have {@code other} in place of the numbers, unless the same procedure has been answered
 * with results before. After {@value #MAX_TIMERS} timers of each object all that is new is {@code other}, too.
 *
 * <p>Any thread may use it. One object may serve many connections, clients and servers. Objects with the same registry and tags
 * add to the same meters.
 */
public final class RpcCallMetrics implements RpcCallListener {

    /** How many timers there may be with the numbers of calls; each has a histogram of half a hundred meters. */
    static final int MAX_TIMERS = 250;

    private static final String OTHER = "other";

    private record Key(Side side, int program, int version, int procedure, Outcome outcome) {
    }

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Key, Series> series = new ConcurrentHashMap<>();
    /** Of those, what has no numbers. */
    private final Map<Key, Series> others = new ConcurrentHashMap<>();
    /** Calls that are being served; {@code null} before the first, so that a client does not show what it has not. */
    private volatile CallSums serving;

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
            CallSums active = serving;
            if (active == null) {
                active = CallSums.of(registry, side, tags);
                new SummedMeters(registry, tags).gauge("rpc.server.calls.active", "calls", "Calls that are being served", active,
                        CallSums::active);
                serving = active;
            }
            active.addActive(1);
        }
    }

    @Override
    public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos) {
        ended(side, program, version, procedure, outcome, elapsedNanos, 0, 0, 0);
    }

    @Override
    public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos, long queuedNanos,
                      long callBytes, long replyBytes) {
        find(side, program, version, procedure, outcome).sums.add(elapsedNanos, queuedNanos, callBytes, replyBytes);
        if (side == Side.SERVER) {
            served(1);
        }
    }

    /** For calls of one side that one thread tells of. */
    CallTally newTally(Side side) {
        return new CallTally(this, side);
    }

    /** A server's calls are no longer in progress. */
    void served(int calls) {
        if (serving != null) {
            serving.addActive(-calls);
        }
    }

    Series find(Side side, int program, int version, int procedure, Outcome outcome) {
        Series one = series.get(new Key(side, program, version, procedure, outcome));
        return one == null ? newSeries(side, program, version, procedure, outcome) : one;
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
    final class Series {

        // Of the key, where a look for the next call finds them at once.
        private final int program;
        private final int version;
        private final int procedure;
        private final Outcome outcome;
        final CallSums sums;

        private Series(Key key, Tags all) {
            program = key.program;
            version = key.version;
            procedure = key.procedure;
            outcome = key.outcome;
            Side side = key.side;
            String prefix = side == Side.CLIENT ? "rpc.client.call." : "rpc.server.call.";
            sums = CallSums.of(registry, side, all);
            String name = prefix + "duration";
            String description = side == Side.CLIENT ? "Calls made, until their replies were there"
                    : "Calls served, until their replies were written";
            timer(name, description, all, CallSums::nanos);
            for (int bound = 0; bound <= CallSums.BOUNDS; bound++) {
                int index = bound;
                FunctionCounter.builder(name + ".histogram", sums, one -> one.callsWithin(index)).baseUnit("calls")
                        .description(description + ", within the seconds of le").tags(all.and("le", seconds(bound)))
                        .register(registry);
            }
            if (side == Side.CLIENT) {
                timer(prefix + "wait", "Calls made, until the transport had taken them", all, CallSums::queuedNanos);
            }
            bytes(prefix + "request", "Calls with their headers", all, CallSums::callBytes);
            bytes(prefix + "response", "Replies with their headers", all, CallSums::replyBytes);
        }

        private static String seconds(int bound) {
            return bound == CallSums.BOUNDS ? "+Inf"
                    : BigDecimal.valueOf(CallSums.boundNanos(bound), 9).stripTrailingZeros().toPlainString();
        }

        boolean isOf(int otherProgram, int otherVersion, int otherProcedure, Outcome otherOutcome) {
            return procedure == otherProcedure && outcome == otherOutcome && program == otherProgram && version == otherVersion;
        }

        private void timer(String name, String description, Tags all, ToLongFunction<CallSums> nanos) {
            FunctionTimer.builder(name, sums, CallSums::calls, nanos::applyAsLong, TimeUnit.NANOSECONDS)
                    .description(description).tags(all).register(registry);
        }

        private void bytes(String name, String description, Tags all, ToLongFunction<CallSums> sum) {
            FunctionCounter.builder(name, sums, sum::applyAsLong).baseUnit("bytes").description(description).tags(all)
                    .register(registry);
        }
    }
}
