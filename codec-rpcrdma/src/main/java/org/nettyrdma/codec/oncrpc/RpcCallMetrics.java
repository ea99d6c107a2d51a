package org.nettyrdma.codec.oncrpc;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Keeps in a Micrometer registry how long calls take; needs micrometer-core on the class path. Timers:
 * {@code rpc.client.call.duration} for calls made and {@code rpc.server.call.duration} for calls served, with the tags
 * {@code program}, {@code version} and {@code procedure} (numbers) and {@code outcome} (of {@link RpcCallListener.Outcome}, in
 * lower case). They are histograms from which a system such as Prometheus reckons percentiles, over many processes too.
 *
 * <p>A peer chooses the numbers of the calls that a server gets, and must not fill the registry with them. So calls which a
 * server has not answered with results have {@code other} in place of the numbers, unless the same procedure has been answered
 * with results before. After {@value #MAX_TIMERS} timers of each object all that is new is {@code other}, too.
 *
 * <p>Any thread may use it. One object may serve many connections, clients and servers.
 */
public final class RpcCallMetrics implements RpcCallListener {

    /** How many timers there may be with the numbers of calls. */
    static final int MAX_TIMERS = 1000;

    private static final String OTHER = "other";

    private record Key(Side side, int program, int version, int procedure, Outcome outcome) {
    }

    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Key, Timer> timers = new ConcurrentHashMap<>();

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
    public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos) {
        Timer timer = timers.get(new Key(side, program, version, procedure, outcome));
        if (timer == null) {
            timer = newTimer(side, program, version, procedure, outcome);
        }
        timer.record(elapsedNanos, TimeUnit.NANOSECONDS);
    }

    private Timer newTimer(Side side, int program, int version, int procedure, Outcome outcome) {
        boolean known = side == Side.CLIENT || outcome == Outcome.SUCCESS
                || timers.containsKey(new Key(side, program, version, procedure, Outcome.SUCCESS));
        if (!known || timers.size() >= MAX_TIMERS) {
            return timer(side, OTHER, OTHER, OTHER, outcome); // the registry gives the same one each time
        }
        return timers.computeIfAbsent(new Key(side, program, version, procedure, outcome),
                key -> timer(side, Integer.toUnsignedString(program), Integer.toUnsignedString(version),
                        Integer.toUnsignedString(procedure), outcome));
    }

    private Timer timer(Side side, String program, String version, String procedure, Outcome outcome) {
        return Timer.builder(side == Side.CLIENT ? "rpc.client.call.duration" : "rpc.server.call.duration")
                .description(side == Side.CLIENT ? "Calls made, until their replies were there"
                        : "Calls served, until their replies were written")
                .tags(tags)
                .tags("program", program, "version", version, "procedure", procedure,
                        "outcome", outcome.name().toLowerCase(Locale.ROOT))
                .publishPercentileHistogram()
                .minimumExpectedValue(Duration.ofNanos(1000))
                .maximumExpectedValue(Duration.ofMinutes(5))
                .register(registry);
    }
}
