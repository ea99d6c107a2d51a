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
 * @param oneCpu    whether it is for both ends on one processor, otherwise for what the scheduler makes of them
 */
record Bar(Case scenario, Figure figure, Peer peer, List<Peer> baselines, double limit, boolean oneCpu) {

    private static final List<Peer> NIO = List.of(Peer.NIO, Peer.NIO_256K);
    private static final List<Peer> NETTY = List.of(Peer.NIO, Peer.NIO_256K, Peer.EPOLL, Peer.EPOLL_256K);
    /** Bulk data: as users get it, and as they get it who know what the software provider does. */
    private static final List<Peer> NETTY_DEFAULT = List.of(Peer.NIO, Peer.EPOLL);
    private static final List<Peer> NETTY_EQUAL = List.of(Peer.NIO_256K, Peer.EPOLL_256K);
    private static final List<Peer> NETTY_ECHO = List.of(Peer.NIO_ECHO, Peer.EPOLL_ECHO);
    private static final List<Peer> NETTY_GRPC = List.of(Peer.NIO_GRPC, Peer.EPOLL_GRPC);
    private static final List<Peer> UCX_TCP = List.of(Peer.UCX_TCP);
    private static final List<Peer> UCX_SHM = List.of(Peer.UCX_SHM);
    private static final List<Peer> DOMAIN = List.of(Peer.DOMAIN);

    private static final int MIDDLING_BYTES = 1 << 16;

    /** What a call may cost over the transport that carries it. */
    private static final double TIMES_BARE_ECHO = 1.5;

    /** Where waking a thread is slow. */
    private static final double TIMES_UNARY_GRPC = 1.5;

    /** A machine is noisy: a run fails only where a ratio is worse than the bar by this factor. */
    private static final double TOLERANCE = 2;

    /** All of them. */
    static final List<Bar> ALL = all();

    private static List<Bar> all() {
        List<Bar> bars = new ArrayList<>();
        addScheduled(bars);
        addOneCpu(bars);
        addSharedMemory(bars);
        return List.copyOf(bars);
    }

    private static void addScheduled(List<Bar> bars) {
        bars.add(scheduled(Case.PING_PONG, Figure.P50_MICROS, Peer.RDMA, NIO, 0.25));
        bars.add(scheduled(Case.PING_PONG, Figure.P99_MICROS, Peer.RDMA, NIO, 0.5));
        bars.add(scheduled(Case.PING_PONG, Figure.P50_MICROS, Peer.RDMA_BUSY_POLL, UCX_TCP, 1.3));
        bars.add(scheduled(Case.CALLS_32, Figure.CALLS_PER_SECOND, Peer.RDMA, NETTY, 2.0));
        bars.add(scheduled(Case.CALLS_32, Figure.CPU_MICROS_PER_CALL, Peer.RDMA, NETTY, 1.0));
        for (Case scenario : Case.values()) {
            if (!scenario.measuresBytes()) {
                bars.add(scheduled(scenario, Figure.CALLS_PER_SECOND, Peer.STREAM_ECHO, NETTY_ECHO, 1.0));
                bars.add(scheduled(scenario, Figure.CPU_MICROS_PER_CALL, Peer.STREAM_ECHO, NETTY_ECHO, 1.0));
                bars.add(scheduled(scenario, Figure.CALLS_PER_SECOND, Peer.STREAM_GRPC, NETTY_GRPC,
                        scenario.isStreamOnly() ? 1.0 : TIMES_UNARY_GRPC));
                bars.add(scheduled(scenario, Figure.CPU_MICROS_PER_CALL, Peer.STREAM_GRPC, NETTY_GRPC, 1.0));
            }
            if (scenario.measuresBytes()) {
                for (List<Peer> netty : List.of(NETTY_DEFAULT, NETTY_EQUAL)) {
                    bars.add(scheduled(scenario, Figure.GIGABYTES_PER_SECOND, Peer.RDMA, netty, timesNetty(scenario)));
                }
                double timesEpollsTime = scenario.load().payloadBytes() >= MIDDLING_BYTES ? 0.8 : 1.0;
                for (Peer epoll : List.of(Peer.EPOLL, Peer.EPOLL_256K)) {
                    bars.add(scheduled(scenario, Figure.CPU_SECONDS_PER_GIGABYTE, Peer.RDMA, List.of(epoll), timesEpollsTime));
                }
            }
            if (scenario.measuresBytes() && scenario.load().payloadBytes() >= MIDDLING_BYTES) {
                bars.add(scheduled(scenario, Figure.GIGABYTES_PER_SECOND, Peer.RDMA, UCX_TCP, 0.95));
                bars.add(scheduled(scenario, Figure.GIGABYTES_PER_SECOND, Peer.RDMA_CRC, List.of(Peer.RDMA), 0.8));
            }
        }
    }

    private static double timesNetty(Case scenario) {
        int bytes = scenario.load().payloadBytes();
        return bytes > MIDDLING_BYTES ? 1.3 : bytes == MIDDLING_BYTES ? 1.5 : 1.0;
    }

    private static void addOneCpu(List<Bar> bars) {
        for (Case scenario : Case.values()) {
            if (!scenario.measuresBytes()) {
                bars.add(new Bar(scenario, Figure.CALLS_PER_SECOND, Peer.STREAM_ECHO, NETTY_ECHO, 1.0, true));
                bars.add(new Bar(scenario, Figure.CPU_MICROS_PER_CALL, Peer.STREAM_ECHO, NETTY_ECHO, 1.0, true));
                bars.add(new Bar(scenario, Figure.CALLS_PER_SECOND, Peer.STREAM_GRPC, NETTY_GRPC, 1.0, true));
                bars.add(new Bar(scenario, Figure.CPU_MICROS_PER_CALL, Peer.STREAM_GRPC, NETTY_GRPC, 1.0, true));
            }
            if (scenario.measuresBytes()) {
                double timesNetty = scenario.load().payloadBytes() > MIDDLING_BYTES ? 1.2 : 1.0;
                for (List<Peer> netty : List.of(NETTY_DEFAULT, NETTY_EQUAL)) {
                    bars.add(onOneCpu(scenario, Figure.GIGABYTES_PER_SECOND, netty, timesNetty));
                    bars.add(onOneCpu(scenario, Figure.CPU_SECONDS_PER_GIGABYTE, netty, 1.0));
                }
            } else if (!scenario.isStreamOnly()) {
                bars.add(onOneCpu(scenario, Figure.CALLS_PER_SECOND, NETTY, 1.0));
                bars.add(onOneCpu(scenario, Figure.CPU_MICROS_PER_CALL, NETTY, 1.0));
            }
        }
        bars.add(new Bar(Case.CALLS_32, Figure.CALLS_PER_SECOND, Peer.RDMA_METRICS, List.of(Peer.RDMA), 0.95, true));
        bars.add(new Bar(Case.CALLS_32, Figure.CPU_MICROS_PER_CALL, Peer.NIO, List.of(Peer.NIO_ECHO), TIMES_BARE_ECHO, true));
    }

    /** Next to what people use on one machine, and to what a library in C makes of its memory. */
    private static void addSharedMemory(List<Bar> bars) {
        bars.add(scheduled(Case.PING_PONG, Figure.P50_MICROS, Peer.SHM, UCX_SHM, 2.0));
        bars.add(scheduled(Case.PING_PONG, Figure.P50_MICROS, Peer.SHM, DOMAIN, 0.25));
        bars.add(scheduled(Case.CALLS_32, Figure.CALLS_PER_SECOND, Peer.SHM, UCX_SHM, 1.0));
        bars.add(scheduled(Case.CALLS_32, Figure.CPU_MICROS_PER_CALL, Peer.SHM, DOMAIN, 0.6));
        for (Case scenario : List.of(Case.READ_1M, Case.WRITE_1M)) {
            bars.add(scheduled(scenario, Figure.GIGABYTES_PER_SECOND, Peer.SHM, UCX_SHM, 0.8));
            bars.add(scheduled(scenario, Figure.GIGABYTES_PER_SECOND, Peer.SHM, DOMAIN, 1.5));
        }
        for (Case scenario : List.of(Case.READ_64K, Case.WRITE_64K)) {
            bars.add(scheduled(scenario, Figure.GIGABYTES_PER_SECOND, Peer.SHM, DOMAIN, 2.0));
        }
        for (Case scenario : Case.values()) {
            if (!scenario.isStreamOnly()) {
                Figure rate = scenario.measuresBytes() ? Figure.GIGABYTES_PER_SECOND : Figure.CALLS_PER_SECOND;
                bars.add(new Bar(scenario, rate, Peer.SHM, DOMAIN, 1.0, true));
            }
        }
    }

    private static Bar scheduled(Case scenario, Figure figure, Peer peer, List<Peer> baselines, double limit) {
        return new Bar(scenario, figure, peer, baselines, limit, false);
    }

    private static Bar onOneCpu(Case scenario, Figure figure, List<Peer> baselines, double limit) {
        return new Bar(scenario, figure, Peer.RDMA, baselines, limit, true);
    }

    /** What a result says about the bar; {@code null} where it says nothing. */
    Verdict verdict(CaseResult result) {
        if (result.scenario() != scenario || oneCpu != (result.placement() == Placement.ONE_CPU)) {
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
