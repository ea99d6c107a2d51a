package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.CountingMode;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;

class RpcCallMetricsTest {

    /** Of calls served with the same tags: duration, its histogram, bytes of calls and of replies. */
    private static final int METERS = 1 + CallSums.BOUNDS + 1 + 2;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcCallMetrics metrics = new RpcCallMetrics(registry, Tags.of("service", "files"));

    @Test
    void shouldKeepTimesByProcedureAndOutcome() {
        metrics.ended(Side.CLIENT, -2, 3, 6, Outcome.SUCCESS, 1500);
        metrics.ended(Side.CLIENT, -2, 3, 6, Outcome.SUCCESS, 2500);
        metrics.ended(Side.CLIENT, -2, 3, 7, Outcome.ABANDONED, 10);
        FunctionTimer successes = registry.get("rpc.client.call.duration").tags("service", "files", "program", "4294967294",
                "version", "3", "procedure", "6", "outcome", "success").functionTimer();
        assertEquals(2, successes.count());
        assertEquals(4000, successes.totalTime(TimeUnit.NANOSECONDS));
        assertEquals(1, registry.get("rpc.client.call.duration").tag("outcome", "abandoned").functionTimer().count());
    }

    @Test
    void shouldKeepWaitsAndBytesByProcedureAndOutcome() {
        metrics.ended(Side.CLIENT, 100003, 3, 6, Outcome.SUCCESS, 1500, 1000, 40, 80);
        metrics.ended(Side.CLIENT, 100003, 3, 6, Outcome.SUCCESS, 2500, 100, 44, 84);
        metrics.ended(Side.SERVER, 100003, 3, 7, Outcome.SUCCESS, 10, 0, 4, 8);
        FunctionTimer waits = registry.get("rpc.client.call.wait").tags("service", "files", "program", "100003", "version", "3",
                "procedure", "6", "outcome", "success").functionTimer();
        assertEquals(2, waits.count());
        assertEquals(1100, waits.totalTime(TimeUnit.NANOSECONDS));
        assertEquals(84, registry.get("rpc.client.call.request").tag("procedure", "6").functionCounter().count());
        assertEquals(164, registry.get("rpc.client.call.response").tag("procedure", "6").functionCounter().count());
        assertEquals(4, registry.get("rpc.server.call.request").tag("procedure", "7").functionCounter().count());
        assertEquals(8, registry.get("rpc.server.call.response").tag("procedure", "7").functionCounter().count());
    }

    @Test
    void shouldAddUpWhatObjectsWithTheSameTagsAreTold() {
        RpcCallMetrics other = new RpcCallMetrics(registry, Tags.of("service", "files"));
        for (RpcCallMetrics one : new RpcCallMetrics[] {metrics, other}) {
            one.ended(Side.CLIENT, 100003, 3, 6, Outcome.SUCCESS, 1500, 1000, 40, 80);
            one.begun(Side.SERVER);
        }
        FunctionTimer waits = registry.get("rpc.client.call.wait").functionTimer();
        assertEquals(2, waits.count());
        assertEquals(2000, waits.totalTime(TimeUnit.NANOSECONDS));
        assertEquals(80, registry.get("rpc.client.call.request").functionCounter().count());
        assertEquals(160, registry.get("rpc.client.call.response").functionCounter().count());
        assertEquals(2, registry.get("rpc.server.calls.active").gauge().value());
    }

    @Test
    void shouldCountWaitsInARegistryThatCountsBySteps() {
        MockClock clock = new MockClock();
        SimpleConfig bySteps = new SimpleConfig() {
            @Override
            public String get(String key) {
                return null;
            }

            @Override
            public CountingMode mode() {
                return CountingMode.STEP;
            }
        };
        SimpleMeterRegistry steps = new SimpleMeterRegistry(bySteps, clock);
        RpcCallMetrics counted = new RpcCallMetrics(steps, Tags.empty());
        counted.ended(Side.CLIENT, 100003, 3, 6, Outcome.SUCCESS, 1500, 1000, 40, 80);
        counted.ended(Side.CLIENT, 100003, 3, 6, Outcome.SUCCESS, 1500, 1000, 40, 80);
        FunctionTimer waits = steps.get("rpc.client.call.wait").functionTimer();
        assertEquals(0, waits.count(), "the step has not ended");
        clock.add(bySteps.step());
        assertEquals(2, waits.count());
        assertEquals(2000, waits.totalTime(TimeUnit.NANOSECONDS));
    }

    @Test
    void shouldShowHowManyCallsAreBeingServed() {
        metrics.begun(Side.CLIENT);
        assertEquals(0, registry.getMeters().size(), "a client serves none");
        metrics.begun(Side.SERVER);
        metrics.begun(Side.SERVER);
        metrics.ended(Side.SERVER, 100003, 3, 6, Outcome.SUCCESS, 1);
        metrics.ended(Side.CLIENT, 100003, 3, 6, Outcome.SUCCESS, 1);
        assertEquals(1, registry.get("rpc.server.calls.active").tag("service", "files").gauge().value());
    }

    @Test
    void shouldGivePrometheusAHistogramThatTellsMicrosecondsApart() {
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        RpcCallMetrics shown = new RpcCallMetrics(prometheus, Tags.empty());
        shown.ended(Side.SERVER, 100003, 3, 6, Outcome.SUCCESS, 2_000);
        shown.ended(Side.SERVER, 100003, 3, 6, Outcome.SUCCESS, 9_000);
        shown.ended(Side.SERVER, 100003, 3, 6, Outcome.SUCCESS, TimeUnit.MINUTES.toNanos(2));
        Map<String, String> buckets = Pattern.compile("(?m)^rpc_server_call_duration_histogram_calls_total\\{(.*)} ([0-9.]+)$")
                .matcher(prometheus.scrape()).results()
                .collect(Collectors.toMap(bucket -> bucket.group(1).replaceFirst(".*le=\"([^\"]*)\".*", "$1"),
                        bucket -> bucket.group(2)));
        assertEquals(CallSums.BOUNDS + 1, buckets.size());
        assertEquals("0.0", buckets.get("0.0000015"));
        assertEquals("1.0", buckets.get("0.000002"));
        assertEquals("1.0", buckets.get("0.000008"));
        assertEquals("2.0", buckets.get("0.000012"));
        assertEquals("2.0", buckets.get("67.108864"));
        assertEquals("3.0", buckets.get("+Inf"));
    }

    @Test
    void shouldCountEachDurationBelowTheSmallestBoundThatItDoesNotExceed() {
        for (int bound = 0; bound < CallSums.BOUNDS; bound++) {
            long nanos = CallSums.boundNanos(bound);
            assertEquals(bound, CallSums.bucketOf(nanos));
            assertEquals(bound + 1, CallSums.bucketOf(nanos + 1));
            assertTrue(bound == 0 || nanos <= CallSums.boundNanos(bound - 1) * 3 / 2);
        }
        assertEquals(TimeUnit.SECONDS.toNanos(1) / 1_000_000 << 26, CallSums.boundNanos(CallSums.BOUNDS - 1));
        assertEquals(0, CallSums.bucketOf(0));
        assertEquals(CallSums.BOUNDS, CallSums.bucketOf(Long.MAX_VALUE));
    }

    @Test
    void shouldNotLetAPeerChooseTheNamesOfTimers() {
        for (int procedure = 0; procedure < 5000; procedure++) {
            metrics.ended(Side.SERVER, procedure, procedure, procedure, Outcome.ERROR, 1);
        }
        assertEquals(METERS, registry.getMeters().size());
        assertEquals(5000, registry.get("rpc.server.call.duration").tag("procedure", "other").functionTimer().count());
        metrics.ended(Side.SERVER, 7, 7, 7, Outcome.SUCCESS, 1);
        metrics.ended(Side.SERVER, 7, 7, 7, Outcome.ERROR, 1);
        assertEquals(1,
                registry.get("rpc.server.call.duration").tags("procedure", "7", "outcome", "error").functionTimer().count());
    }

    @Test
    void shouldBoundTheNumberOfTimers() {
        for (int procedure = 0; procedure < 2 * RpcCallMetrics.MAX_TIMERS; procedure++) {
            metrics.ended(Side.SERVER, 100003, 3, procedure, Outcome.SUCCESS, 1);
        }
        assertEquals(METERS * (RpcCallMetrics.MAX_TIMERS + 1), registry.getMeters().size());
        assertEquals(RpcCallMetrics.MAX_TIMERS,
                registry.get("rpc.server.call.duration").tag("procedure", "other").functionTimer().count());
    }
}
