package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Contestants that take turns window by window, each in a process or two of its own, so that a change of the machine's speed hits
 * all.
 *
 * @param <K> what tells them apart
 */
final class Turns<K> implements AutoCloseable {

    /** A load has settled when two windows in a row are at most so much better than the best before. */
    private static final double STEADY = 1.05;
    private static final int WINDOWS_TO_BE_STEADY = 2;
    private static final int MOST_WINDOWS_TO_SETTLE = 10;

    private final Map<K, Contestant> contestants = new LinkedHashMap<>();
    private final int windows;
    private final double seconds;

    /**
     * @param windows of each contestant
     * @param seconds length of a window
     */
    Turns(int windows, double seconds) {
        this.windows = windows;
        this.seconds = seconds;
    }

    /** Starts a contestant, which takes its turns behind those that are here. */
    Contestant add(K key, Setup setup, Placement placement, int connections) throws IOException {
        Contestant contestant = new Contestant(setup, placement, connections);
        contestants.put(key, contestant);
        return contestant;
    }

    /** Those that are here, in the order of their turns. */
    List<K> keys() {
        return List.copyOf(contestants.keySet());
    }

    Contestant get(K key) {
        return contestants.get(key);
    }

    /**
     * Runs a load on each of them until the JIT compiler can be expected to be done; it competes with the load for the
     * processors.
     */
    void warmUp(Load load, double warmUpSeconds) throws IOException {
        for (Contestant contestant : contestants.values()) {
            contestant.measure(load, warmUpSeconds);
        }
    }

    /** Runs a load on each of them, once it has settled; returns the windows in the order of the turns. */
    Map<K, List<Window>> take(Load load) throws IOException {
        Map<K, List<Window>> seen = new LinkedHashMap<>();
        for (Map.Entry<K, Contestant> contestant : contestants.entrySet()) {
            settle(contestant.getValue(), load);
            seen.put(contestant.getKey(), new ArrayList<>());
        }
        for (int i = 0; i < windows; i++) {
            for (Map.Entry<K, Contestant> contestant : contestants.entrySet()) {
                seen.get(contestant.getKey()).add(contestant.getValue().measure(load, seconds));
            }
        }
        return seen;
    }

    private void settle(Contestant contestant, Load load) throws IOException {
        double best = contestant.measure(load, seconds).callsPerSecond();
        int steady = 0;
        for (int i = 1; i < MOST_WINDOWS_TO_SETTLE && steady < WINDOWS_TO_BE_STEADY; i++) {
            double next = contestant.measure(load, seconds).callsPerSecond();
            steady = next <= best * STEADY ? steady + 1 : 0;
            best = Math.max(best, next);
        }
    }

    @Override
    public void close() {
        contestants.values().forEach(Contestant::close);
    }
}
