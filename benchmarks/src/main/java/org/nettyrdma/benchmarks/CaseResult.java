package org.nettyrdma.benchmarks;

import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What one case has shown.
 *
 * @param scenario  the case
 * @param placement where its ends ran
 * @param windows   all windows of each peer
 * @param pairings  of the peers that took turns
 */
record CaseResult(Case scenario, Placement placement, Map<Peer, List<Window>> windows, List<Pairing> pairings) {

    static CaseResult of(Case scenario, Placement placement, List<Pairing> pairings) {
        Map<Peer, List<Window>> windows = new EnumMap<>(Peer.class);
        for (Pairing pairing : pairings) {
            windows.computeIfAbsent(pairing.peer(), peer -> new ArrayList<>()).addAll(pairing.windows());
            windows.computeIfAbsent(pairing.baseline(), peer -> new ArrayList<>()).addAll(pairing.baselineWindows());
        }
        return new CaseResult(scenario, placement, windows, pairings);
    }

    double median(Peer peer, Figure figure) {
        return Statistics.median(figure.of(windows.get(peer)));
    }

    /** The turns of a peer with the best of some others. */
    Optional<Pairing> withBest(Peer peer, Collection<Peer> baselines, Figure figure) {
        return pairings.stream()
                .filter(pairing -> pairing.peer() == peer && baselines.contains(pairing.baseline()))
                .reduce((one, other) -> {
                    double difference = Statistics.median(figure.of(one.baselineWindows()))
                            - Statistics.median(figure.of(other.baselineWindows()));
                    return difference > 0 == figure.moreIsBetter() ? one : other;
                });
    }
}
