package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class BarTest {

    private final Bar atLeast = new Bar(Case.READ_1M, Figure.GIGABYTES_PER_SECOND, Peer.RDMA, List.of(Peer.NIO, Peer.EPOLL), 1.3,
            false);
    private final Bar atMost = new Bar(Case.PING_PONG, Figure.P50_MICROS, Peer.RDMA, List.of(Peer.NIO), 0.25, false);

    @Test
    void shouldHoldFromItsLimitOn() {
        assertTrue(atLeast.holds(1.3));
        assertFalse(atLeast.holds(1.29));
        assertTrue(atMost.holds(0.25));
        assertFalse(atMost.holds(0.26));
    }

    @Test
    void shouldBeFarOutsideBeyondHalfOfIt() {
        assertFalse(atLeast.isFarOutside(0.65));
        assertTrue(atLeast.isFarOutside(0.64));
        assertFalse(atMost.isFarOutside(0.5));
        assertTrue(atMost.isFarOutside(0.51));
    }

    @Test
    void shouldCompareWithTheBestOfItsPeers() {
        Bar.Verdict verdict = atLeast.verdict(result(Case.READ_1M, pairing(Case.READ_1M, Peer.NIO, 100, 50),
                pairing(Case.READ_1M, Peer.EPOLL, 100, 80), pairing(Case.READ_1M, Peer.UCX_TCP, 100, 500)));
        assertEquals(Peer.EPOLL, verdict.baseline());
        assertEquals(1.25, verdict.ratio(), 1e-9);
        assertFalse(verdict.holds());
        assertFalse(verdict.isFarOutside());
    }

    @Test
    void shouldTakeTheMedianOfTheRatiosOfNeighbours() {
        Pairing pairing = new Pairing(Peer.RDMA, Peer.NIO,
                List.of(Windows.of(Case.READ_1M, 100), Windows.of(Case.READ_1M, 10), Windows.of(Case.READ_1M, 30)),
                List.of(Windows.of(Case.READ_1M, 50), Windows.of(Case.READ_1M, 10), Windows.of(Case.READ_1M, 10)));
        assertEquals(2, pairing.medianRatio(Figure.CALLS_PER_SECOND), 1e-9);
    }

    @Test
    void shouldPreferTheLowerLatency() {
        CaseResult result = result(Case.PING_PONG,
                new Pairing(Peer.RDMA, Peer.NIO, List.of(latency(10_000)), List.of(latency(100_000))),
                new Pairing(Peer.RDMA, Peer.NIO_256K, List.of(latency(10_000)), List.of(latency(50_000))));
        assertEquals(Peer.NIO_256K,
                result.withBest(Peer.RDMA, List.of(Peer.NIO, Peer.NIO_256K), Figure.P50_MICROS).orElseThrow().baseline());
    }

    @Test
    void shouldSayNothingOfOtherCasesAndPeers() {
        assertNull(atMost.verdict(result(Case.READ_1M, pairing(Case.READ_1M, Peer.NIO, 1, 1))));
        assertNull(atLeast.verdict(result(Case.READ_1M, pairing(Case.READ_1M, Peer.ONCRPC4J, 1, 1))));
    }

    @Test
    void shouldNotJudgeOneSettingByTheBarOfTheOther() {
        Pairing pairing = pairing(Case.READ_1M, Peer.NIO, 1, 1);
        CaseResult scheduled = CaseResult.of(Case.READ_1M, Placement.TWO_PROCESSES, List.of(pairing));
        CaseResult oneCpu = CaseResult.of(Case.READ_1M, Placement.ONE_CPU, List.of(pairing));
        Bar barOfOneCpu = new Bar(Case.READ_1M, Figure.GIGABYTES_PER_SECOND, Peer.RDMA, List.of(Peer.NIO), 1.2, true);
        assertNotNull(atLeast.verdict(scheduled));
        assertNull(atLeast.verdict(oneCpu));
        assertNotNull(barOfOneCpu.verdict(oneCpu));
        assertNull(barOfOneCpu.verdict(scheduled));
    }

    @Test
    void shouldJudgeRateAndProcessorTimeOfEachCaseOnOneCpu() {
        for (Case scenario : Case.values()) {
            Set<Figure> figures = Bar.ALL.stream().filter(bar -> bar.oneCpu() && bar.scenario() == scenario).map(Bar::figure)
                    .collect(Collectors.toSet());
            assertEquals(scenario.measuresBytes() ? Set.of(Figure.GIGABYTES_PER_SECOND, Figure.CPU_SECONDS_PER_GIGABYTE)
                    : Set.of(Figure.CALLS_PER_SECOND, Figure.CPU_MICROS_PER_CALL), figures, scenario.toString());
        }
    }

    @Test
    void shouldBoundWhatIsCounted() {
        CountedBar registrations = new CountedBar(Case.READ_64K, Figure.REGISTRATIONS_PER_CALL, 1);
        assertTrue(registrations.holds(1));
        assertTrue(registrations.holds(1.001), "a call at the edge of the window");
        assertFalse(registrations.holds(1.1));
        assertTrue(CountedBar.ALL.contains(new CountedBar(Case.PING_PONG, Figure.REGISTRATIONS_PER_CALL, 0)));
    }

    private static Window latency(long nanos) {
        return Windows.of(Case.PING_PONG, 1, nanos, Counters.NONE);
    }

    private static Pairing pairing(Case scenario, Peer baseline, int calls, int baselineCalls) {
        return new Pairing(Peer.RDMA, baseline, List.of(Windows.of(scenario, calls)),
                List.of(Windows.of(scenario, baselineCalls)));
    }

    private static CaseResult result(Case scenario, Pairing... pairings) {
        return CaseResult.of(scenario, Placement.ONE_PROCESS, List.of(pairings));
    }
}
