package org.nettyrdma.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What the library must reach in a case, as a ratio to the best of some peers.
 *
 * @param scenario  the case
 * @param figure    what is compared
 * @param peer      the variant of the library
 * @param baselines the peers; of those that took part the best counts
 * @param limit     the ratio
 */
record Bar(Case scenario, Figure figure, Peer peer, List<Peer> baselines, double limit) {

    private static final List<Peer> NIO = List.of(Peer.NIO, Peer.NIO_256K);
    private static final List<Peer> NETTY = List.of(Peer.NIO, Peer.NIO_256K, Peer.EPOLL, Peer.EPOLL_256K);
    /** Bulk data: as users get it, and as they get it who know what the software provider does. */
    private static final List<Peer> NETTY_DEFAULT = List.of(Peer.NIO, Peer.EPOLL);
    private static final List<Peer> NETTY_EQUAL = List.of(Peer.NIO_256K, Peer.EPOLL_256K);
    private static final List<Peer> UCX_TCP = List.of(Peer.UCX_TCP);

    /** A machine is noisy: a run fails only where a ratio is worse than the bar by this factor. */
    private static final double TOLERANCE = 2;

    /** All of them. */
    static final List<Bar> ALL = all();

    private static List<Bar> all() {
        List<Bar> bars = new ArrayList<>();
        bars.add(new Bar(Case.PING_PONG, Figure.P50_MICROS, Peer.RDMA, NIO, 0.25));
        bars.add(new Bar(Case.PING_PONG, Figure.P99_MICROS, Peer.RDMA, NIO, 0.5));
        bars.add(new Bar(Case.PING_PONG, Figure.P50_MICROS, Peer.RDMA_BUSY_POLL, UCX_TCP, 1.3));
        bars.add(new Bar(Case.CALLS_32, Figure.CALLS_PER_SECOND, Peer.RDMA, NETTY, 2.0));
        bars.add(new Bar(Case.CALLS_32_ONE_CPU, Figure.CALLS_PER_SECOND, Peer.RDMA, NETTY, 0.7));
        for (Case scenario : Case.values()) {
            if (scenario.measuresBytes()) {
                double timesNetty = scenario.load().payloadBytes() == 1 << 20 ? 1.3 : 1.5;
                for (List<Peer> netty : List.of(NETTY_DEFAULT, NETTY_EQUAL)) {
                    bars.add(new Bar(scenario, Figure.GIGABYTES_PER_SECOND, Peer.RDMA, netty, timesNetty));
                }
                for (Peer epoll : List.of(Peer.EPOLL, Peer.EPOLL_256K)) {
                    bars.add(new Bar(scenario, Figure.CPU_SECONDS_PER_GIGABYTE, Peer.RDMA, List.of(epoll), 0.8));
                }
                bars.add(new Bar(scenario, Figure.GIGABYTES_PER_SECOND, Peer.RDMA, UCX_TCP, 0.95));
                bars.add(new Bar(scenario, Figure.GIGABYTES_PER_SECOND, Peer.RDMA_CRC, List.of(Peer.RDMA), 0.8));
            }
        }
        return List.copyOf(bars);
    }

    /** What a result says about the bar; {@code null} where it says nothing. */
    Verdict verdict(CaseResult result) {
        if (result.scenario() != scenario) {
            return null;
        }
        return result.withBest(peer, baselines, figure)
                .map(pairing -> new Verdict(this, result.placement(), pairing.baseline(), pairing.medianRatio(figure)))
                .orElse(null);
    }

    boolean holds(double ratio) {
        return figure.moreIsBetter() ? ratio >= limit : ratio <= limit;
    }

    /** Whether a ratio is so far outside that noise does not explain it. */
    boolean isFarOutside(double ratio) {
        return figure.moreIsBetter() ? ratio < limit / TOLERANCE : ratio > limit * TOLERANCE;
    }

    String limitText() {
        return String.format(Locale.ROOT, "at %s %.2f", figure.moreIsBetter() ? "least" : "most", limit);
    }

    /**
     * A bar and what was measured.
     *
     * @param bar       the bar
     * @param placement where the ends ran
     * @param baseline  the best of the bar's peers
     * @param ratio     median of the ratios of neighbouring windows
     */
    record Verdict(Bar bar, Placement placement, Peer baseline, double ratio) {

        boolean holds() {
            return bar.holds(ratio);
        }

        boolean isFarOutside() {
            return bar.isFarOutside(ratio);
        }
    }
}
