package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class WindowTest {

    @Test
    void shouldReadFiguresInTheirUnits() {
        Counters counters = new Counters(new ProcessorTime(2_000_000_000L, 100_000_000L), 300_000, 500_000, true, 1000,
                1000, 0, 0, 2000, 1000, 500);
        Window window = Windows.of(Case.READ_1M, 1000, 250_000, counters);

        assertEquals(1000, Figure.CALLS_PER_SECOND.of(window), 0.001);
        assertEquals(1.048576, Figure.GIGABYTES_PER_SECOND.of(window), 1e-9);
        assertEquals(2 / 1.048576, Figure.CPU_SECONDS_PER_GIGABYTE.of(window), 1e-9);
        assertEquals(2000, Figure.CPU_MICROS_PER_CALL.of(window), 1e-9);
        assertEquals(5, Figure.REFINEMENT.of(window), 1e-9);
        assertEquals(250, Figure.P50_MICROS.of(window), 0.25);
        assertEquals(300, Figure.CLIENT_ALLOCATED_PER_CALL.of(window));
        assertEquals(500, Figure.SERVER_ALLOCATED_PER_CALL.of(window));
        assertEquals(1, Figure.COPIED_PER_CALL.of(window));
        assertEquals(2, Figure.REGISTRATIONS_PER_CALL.of(window));
        assertEquals(1, Figure.REMOTE_INVALIDATIONS_PER_CALL.of(window));
        assertEquals(0.5, Figure.LOCAL_INVALIDATIONS_PER_CALL.of(window));
    }

    @Test
    void shouldTellPercentilesApart() {
        Histogram latencies = Histograms.newHistogram();
        for (int i = 1; i <= 100; i++) {
            latencies.recordValue(i * 1000);
        }
        Window window = new Window(Case.PING_PONG.load(), latencies, 1, Counters.NONE);
        assertEquals(50, Figure.P50_MICROS.of(window), 0.1);
        assertEquals(99, Figure.P99_MICROS.of(window), 0.1);
    }

    @Test
    void shouldSurviveTheWayBetweenProcesses() {
        Histogram latencies = Histograms.newHistogram();
        latencies.recordValueWithCount(12_345, 678);
        assertEquals(latencies, Histograms.decode(Histograms.encode(latencies)));
    }

    @Test
    void shouldCapWhatIsTooSlow() {
        Histogram latencies = Histograms.newHistogram();
        Histograms.record(latencies, Long.MAX_VALUE);
        assertEquals(1, latencies.getTotalCount());
    }
}
