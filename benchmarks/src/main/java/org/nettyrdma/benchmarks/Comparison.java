package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs the peers in turn. The library has a window before each window of another peer, so that a change of the machine's speed
 * hits both; a ratio is the median of the ratios of such neighbours.
 */
final class Comparison implements AutoCloseable {

    /** The JIT compiler has to share the CPU, too. */
    private static final double ONE_CPU_WARM_UP = 4;

    private final Placement placement;
    private final int pairs;
    private final double seconds;
    private final double warmUpSeconds;
    private final Map<Peer, Contestant> contestants = new EnumMap<>(Peer.class);

    /**
     * Starts the peers.
     *
     * @param peers       which; those that cannot run here are left out, and said to be
     * @param pairs         windows of each pair of peers
     * @param seconds       length of a window
     * @param warmUpSeconds of each case on each peer before its first window, repeated while it is not
     *                      {@linkplain Contestant#warmUp warm}
     */
    Comparison(Set<Peer> peers, Placement placement, int pairs, double seconds, double warmUpSeconds) throws IOException {
        this.placement = placement;
        this.pairs = pairs;
        this.seconds = seconds;
        this.warmUpSeconds = placement == Placement.ONE_CPU ? warmUpSeconds * ONE_CPU_WARM_UP : warmUpSeconds;
        try {
            for (Peer peer : peers) {
                try {
                    contestants.put(peer, new Contestant(Setup.of(peer), placement, 1));
                } catch (PeerUnavailableException e) {
                    System.err.println(peer + " is left out: " + e.getMessage() + peer.installationHint());
                }
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    Map<Peer, String> descriptions() {
        Map<Peer, String> descriptions = new EnumMap<>(Peer.class);
        contestants.forEach((peer, contestant) -> descriptions.put(peer, contestant.description()));
        return descriptions;
    }

    CaseResult run(Case scenario) throws IOException {
        List<Pairing> pairings = newPairings(scenario);
        if (pairings.isEmpty()) {
            return new CaseResult(scenario, placement, alone(scenario), pairings);
        }
        Set<Peer> warm = EnumSet.noneOf(Peer.class);
        for (Pairing pairing : pairings) {
            for (Peer peer : List.of(pairing.peer(), pairing.baseline())) {
                if (warm.add(peer)) {
                    contestants.get(peer).warmUp(scenario.load(), warmUpSeconds);
                }
            }
        }
        for (int pair = 0; pair < pairs; pair++) {
            for (Pairing pairing : pairings) {
                pairing.windows().add(contestants.get(pairing.peer()).measure(scenario.load(), seconds));
                pairing.baselineWindows().add(contestants.get(pairing.baseline()).measure(scenario.load(), seconds));
            }
        }
        return CaseResult.of(scenario, placement, pairings);
    }

    /** Those that have the case, and nobody to take turns with. */
    private Map<Peer, List<Window>> alone(Case scenario) throws IOException {
        Map<Peer, List<Window>> windows = new EnumMap<>(Peer.class);
        for (Map.Entry<Peer, Contestant> contestant : contestants.entrySet()) {
            if (contestant.getKey().takes(scenario, placement)) {
                windows.put(contestant.getKey(), alone(contestant.getValue(), scenario.load()));
            }
        }
        return windows;
    }

    private List<Window> alone(Contestant contestant, Load load) throws IOException {
        contestant.warmUp(load, warmUpSeconds);
        List<Window> windows = new ArrayList<>();
        for (int i = 0; i < pairs; i++) {
            windows.add(contestant.measure(load, seconds));
        }
        return windows;
    }

    private List<Pairing> newPairings(Case scenario) {
        List<Pairing> pairings = new ArrayList<>();
        for (Peer peer : contestants.keySet()) {
            if (peer.grpc()) {
                if (peer != Peer.STREAM_GRPC && contestants.containsKey(Peer.STREAM_GRPC) && peer.takes(scenario, placement)) {
                    pairings.add(newPairing(Peer.STREAM_GRPC, peer));
                }
            } else if (peer.bareEcho()) {
                addEchoPairings(pairings, peer, scenario);
            } else if (peer != Peer.RDMA && peer.rdma() && peer.takes(scenario, placement)) {
                pairings.add(newPairing(peer, Peer.RDMA));
            } else if (peer != Peer.RDMA && peer.takes(scenario, placement)) {
                pairings.add(newPairing(Peer.RDMA, peer));
            }
        }
        for (Peer baseline : List.of(Peer.DOMAIN, Peer.UCX_SHM)) {
            if (contestants.keySet().containsAll(List.of(Peer.SHM, baseline)) && baseline.takes(scenario, placement)
                    && Peer.SHM.takes(scenario, placement)) {
                pairings.add(newPairing(Peer.SHM, baseline)); // they, too, need one machine
            }
        }
        if (Peer.RDMA_BUSY_POLL.takes(scenario, placement)
                && contestants.keySet().containsAll(List.of(Peer.RDMA_BUSY_POLL, Peer.UCX_TCP))) {
            pairings.add(newPairing(Peer.RDMA_BUSY_POLL, Peer.UCX_TCP)); // neither of them ever sleeps
        }
        return pairings;
    }

    /** The same frames by the byte stream; and the same transport with the RPC layer. Neighbours, as their ratio counts. */
    private void addEchoPairings(List<Pairing> pairings, Peer echo, Case scenario) {
        if (echo == Peer.STREAM_ECHO || !echo.takes(scenario, placement)) {
            return;
        }
        if (contestants.containsKey(Peer.STREAM_ECHO)) {
            pairings.add(newPairing(Peer.STREAM_ECHO, echo));
        }
        if (echo == Peer.NIO_ECHO && contestants.containsKey(Peer.NIO) && !scenario.isStreamOnly()) {
            pairings.add(newPairing(Peer.NIO, echo));
        }
    }

    private static Pairing newPairing(Peer peer, Peer baseline) {
        return new Pairing(peer, baseline, new ArrayList<>(), new ArrayList<>());
    }

    @Override
    public void close() {
        contestants.values().forEach(Contestant::close);
    }
}
