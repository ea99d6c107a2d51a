package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.CountingMode;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Outcome;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;

class RpcCallMetricsTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RpcCallMetrics metrics = new RpcCallMetrics(registry, Tags.of("service", "files"));

    @Test
    void shouldKeepTimesByProcedureAndOutcome() {
        metrics.ended(Side.CLIENT, -2, 3, 6, Outcome.SUCCESS, 1500);
        metrics.ended(Side.CLIENT, -2, 3, 6, Outcome.SUCCESS, 2500);
        metrics.ended(Side.CLIENT, -2, 3, 7, Outcome.ABANDONED, 10);
        Timer successes = registry.get("rpc.client.call.duration").tags("service", "files", "program", "4294967294",
                "version", "3", "procedure", "6", "outcome", "success").timer();
        assertEquals(2, successes.count());
        assertEquals(4000, successes.totalTime(TimeUnit.NANOSECONDS));
        assertEquals(1, registry.get("rpc.client.call.duration").tag("outcome", "abandoned").timer().count());
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
        Matcher buckets = Pattern.compile("(?m)^rpc_server_call_duration_seconds_bucket\\{.*le=\"([0-9.E-]+)\"} 1$")
                .matcher(prometheus.scrape());
        assertTrue(buckets.results().map(bucket -> Double.valueOf(bucket.group(1))).anyMatch(bound -> bound < 5e-6),
                "one bucket has both");
    }

    @Test
    void shouldNotLetAPeerChooseTheNamesOfTimers() {
        for (int procedure = 0; procedure < 5000; procedure++) {
            metrics.ended(Side.SERVER, procedure, procedure, procedure, Outcome.ERROR, 1);
        }
        assertEquals(3, registry.getMeters().size(), "duration, bytes of calls and of replies");
        assertEquals(5000, registry.get("rpc.server.call.duration").tag("procedure", "other").timer().count());
        metrics.ended(Side.SERVER, 7, 7, 7, Outcome.SUCCESS, 1);
        metrics.ended(Side.SERVER, 7, 7, 7, Outcome.ERROR, 1);
        assertEquals(1, registry.get("rpc.server.call.duration").tags("procedure", "7", "outcome", "error").timer().count());
    }

    @Test
    void shouldBoundTheNumberOfTimers() {
        for (int procedure = 0; procedure < 2 * RpcCallMetrics.MAX_TIMERS; procedure++) {
            metrics.ended(Side.SERVER, 100003, 3, procedure, Outcome.SUCCESS, 1);
        }
        assertEquals(3 * (RpcCallMetrics.MAX_TIMERS + 1), registry.getMeters().size());
        assertEquals(RpcCallMetrics.MAX_TIMERS,
                registry.get("rpc.server.call.duration").tag("procedure", "other").timer().count());
    }
}
