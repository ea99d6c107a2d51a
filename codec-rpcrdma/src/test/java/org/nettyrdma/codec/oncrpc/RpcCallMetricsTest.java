package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.CountingMode;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayList;
import java.util.List;
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
    void shouldMeasureWhatHandlersTellInBatches() {
        long[] nowNanos = {Long.MAX_VALUE - 2500}; // the clock overflows
        EmbeddedChannel server = new EmbeddedChannel(watched(nowNanos),
                new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            nowNanos[0] += 1000;
            if (call.procedure() < 3) {
                call.reply(Unpooled.EMPTY_BUFFER);
            }
        })));
        for (int procedure : new int[] {1, 1, 1, 3, 2}) {
            server.pipeline().fireChannelRead(Unpooled.buffer().writeInt(7).writeInt(0).writeInt(2).writeInt(200000).writeInt(1)
                    .writeInt(procedure).writeZero(16));
        }
        assertEquals(2, registry.get("rpc.server.calls.active").gauge().value(), "the last kind of the batch is not yet counted");
        server.pipeline().fireChannelReadComplete();
        assertEquals(1, registry.get("rpc.server.calls.active").gauge().value());
        nowNanos[0] += 60_000;
        server.finishAndReleaseAll();
        assertEquals(0, registry.get("rpc.server.calls.active").gauge().value());
        assertEquals(List.of("1 success 3 9000 120 72", "2 success 1 2000 40 24", "other lost 1 62000 40 0"),
                registry.find("rpc.server.call.duration").functionTimers()
                        .stream().map(timer -> summary("rpc.server.call", timer)).sorted().toList());
        assertEquals(3, registry.get("rpc.server.call.duration.histogram").tags("procedure", "1", "le", "0.000003")
                .functionCounter().count(), "their replies were flushed together");
        assertEquals(0, registry.get("rpc.server.call.duration.histogram").tags("procedure", "1", "le", "0.000002")
                .functionCounter().count());
    }

    @Test
    void shouldTellACallWithAnotherOutcomeApart() {
        long[] nowNanos = {0};
        EmbeddedChannel server = new EmbeddedChannel(watched(nowNanos),
                new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            nowNanos[0] += 1000;
            if (call.header().xid() == 3) {
                call.replyProcedureUnavailable();
            } else {
                call.reply(Unpooled.EMPTY_BUFFER);
            }
        })));
        for (int xid = 1; xid < 5; xid++) {
            server.pipeline().fireChannelRead(Unpooled.buffer().writeInt(xid).writeInt(0).writeInt(2).writeInt(200000).writeInt(1)
                    .writeInt(1).writeZero(16));
        }
        server.pipeline().fireChannelReadComplete();
        server.finishAndReleaseAll();
        assertEquals(List.of("1 error 1 3000 40 24", "1 success 3 7000 120 72"),
                registry.find("rpc.server.call.duration").functionTimers()
                        .stream().map(timer -> summary("rpc.server.call", timer)).sorted().toList());
    }

    @Test
    void shouldLookAtTheClockTwiceWhereManyCallsAreTakenInOneTurn() {
        long[] nowNanos = {0};
        List<ChannelPromise> writes = new ArrayList<>();
        RpcClient client = new RpcClient(1000, 7, () -> nowNanos[0]);
        EmbeddedChannel channel = new EmbeddedChannel(watched(nowNanos), new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                writes.add(promise);
            }
        }, client);
        for (int i = 0; i < 5; i++) {
            client.call(new RpcRequest(1, 1, 1, Unpooled.EMPTY_BUFFER));
        }
        for (int i = 0; i < 5; i++) {
            nowNanos[0] += 1000;
            if (i == 4) {
                channel.runPendingTasks(); // another turn
            }
            writes.get(i).setSuccess();
        }
        for (int xid = 7; xid < 12; xid++) {
            channel.pipeline().fireChannelRead(Unpooled.buffer().writeInt(xid).writeInt(1).writeZero(16));
        }
        channel.pipeline().fireChannelReadComplete();
        channel.finishAndReleaseAll();
        assertEquals(1000 + 2000 + 2000 + 2000 + 5000,
                registry.get("rpc.client.call.wait").functionTimer().totalTime(TimeUnit.NANOSECONDS));
    }

    @Test
    void shouldShowWhatABatchToldThatEndsWithTheConnection() {
        EmbeddedChannel both = new EmbeddedChannel();
        RpcCallTimer.watch(both, metrics, () -> 0);
        RpcClient client = new RpcClient(1000, 7, () -> 0);
        both.pipeline().addLast(new RpcServerHandler(TestProgram.echo()), client);
        client.call(new RpcRequest(1, 1, 1, Unpooled.EMPTY_BUFFER));
        client.call(new RpcRequest(1, 1, 1, Unpooled.EMPTY_BUFFER));
        both.pipeline().fireChannelRead(Unpooled.buffer().writeInt(7).writeInt(0).writeInt(2).writeInt(200000).writeInt(1)
                .writeInt(1).writeZero(16));
        both.pipeline().fireChannelRead(Unpooled.buffer().writeInt(7).writeInt(1).writeInt(0).writeZero(8).writeInt(3));
        both.pipeline().remove(RpcServerHandler.class);
        both.pipeline().remove(client);
        both.finishAndReleaseAll();
        assertEquals(List.of("1 error 1 0 40 24", "1 lost 1 0 40 0"), registry.find("rpc.client.call.duration").functionTimers()
                .stream().map(timer -> summary("rpc.client.call", timer)).sorted().toList());
        assertEquals(1, registry.get("rpc.server.call.duration").tag("outcome", "success").functionTimer().count());
        assertEquals(0, registry.get("rpc.server.calls.active").gauge().value());
    }

    private ChannelHandler watched(long[] nowNanos) {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                RpcCallTimer.watch(ctx.channel(), metrics, () -> nowNanos[0]);
            }
        };
    }

    /** Procedure, outcome, calls, nanoseconds, bytes of calls and of replies. */
    private String summary(String prefix, FunctionTimer timer) {
        List<Tag> tags = timer.getId().getTags();
        return timer.getId().getTag("procedure") + " " + timer.getId().getTag("outcome") + " " + (int) timer.count() + " "
                + (int) timer.totalTime(TimeUnit.NANOSECONDS)
                + " " + (int) registry.get(prefix + ".request").tags(tags).functionCounter().count()
                + " " + (int) registry.get(prefix + ".response").tags(tags).functionCounter().count();
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
