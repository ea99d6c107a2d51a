package org.nettyrdma.benchmarks;

import java.util.List;

/**
 * Two peers that have taken turns.
 *
 * @param peer            the first
 * @param baseline        the second
 * @param windows         of the first
 * @param baselineWindows of the second, each right behind the one of the first with the same index
 */
record Pairing(Peer peer, Peer baseline, List<Window> windows, List<Window> baselineWindows) {

    double[] ratios(Figure figure) {
        return Statistics.ratios(figure.of(windows), figure.of(baselineWindows));
    }

    double medianRatio(Figure figure) {
        return Statistics.median(ratios(figure));
    }
}
