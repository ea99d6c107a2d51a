package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What it costs to expose memory for each call and to withdraw it again, for each way to agree on who withdraws it. The ways take turns
 * window by window.
 */
final class Registrations {

    /** Who withdraws memory. */
    enum Policy {
        /** Each call of version 2 names the handle that its reply withdraws. */
        PER_CALL("version 2, remote invalidation named by each call", true, true),
        /** Both sides of a connection of version 1 have said that replies may withdraw memory. */
        PER_CONNECTION("version 1, remote invalidation agreed for the connection", false, true),
        /** The client withdraws all of it. */
        NONE("version 1, none", false, false),
        /** The client withdraws all of it. */
        NONE_V2("version 2, none", true, false);

        private final String title;
        private final boolean version2;
        private final boolean remoteInvalidation;

        Policy(String title, boolean version2, boolean remoteInvalidation) {
            this.title = title;
            this.version2 = version2;
            this.remoteInvalidation = remoteInvalidation;
        }

        String title() {
            return title;
        }

        private Setup setup() {
            return Setup.of(Peer.RDMA).withVersion2(version2).withRemoteInvalidation(remoteInvalidation);
        }
    }

    private static final Map<String, Load> LOADS = new LinkedHashMap<>();

    static {
        LOADS.put(Case.CALLS_32.title(), Case.CALLS_32.load());
        LOADS.put(Case.READ_64K.title(), Case.READ_64K.load());
        LOADS.put(Case.WRITE_64K.title(), Case.WRITE_64K.load());
    }

    private Registrations() {
    }

    /**
     * One load with one policy.
     *
     * @param title   of the load
     * @param policy  who withdraws
     * @param windows what was seen
     */
    record Row(String title, Policy policy, List<Window> windows) {

        double median(Figure figure) {
            return Statistics.median(figure.of(windows));
        }
    }

    static List<Row> measure(int windows, double seconds, double warmUpSeconds) throws IOException {
        Map<Policy, Contestant> contestants = new LinkedHashMap<>();
        try {
            for (Policy policy : Policy.values()) {
                contestants.put(policy, new Contestant(policy.setup(), Placement.ONE_PROCESS, 1));
            }
            List<Row> rows = new ArrayList<>();
            for (Map.Entry<String, Load> load : LOADS.entrySet()) {
                rows.addAll(measure(load.getKey(), load.getValue(), contestants, windows, seconds, warmUpSeconds));
            }
            return rows;
        } finally {
            contestants.values().forEach(Contestant::close);
        }
    }

    private static List<Row> measure(String title, Load load, Map<Policy, Contestant> contestants, int windows, double seconds,
            double warmUpSeconds) throws IOException {
        Map<Policy, Row> rows = new LinkedHashMap<>();
        for (Map.Entry<Policy, Contestant> contestant : contestants.entrySet()) {
            contestant.getValue().warmUp(load, warmUpSeconds);
            rows.put(contestant.getKey(), new Row(title, contestant.getKey(), new ArrayList<>()));
        }
        for (int i = 0; i < windows; i++) {
            for (Map.Entry<Policy, Contestant> contestant : contestants.entrySet()) {
                rows.get(contestant.getKey()).windows().add(contestant.getValue().measure(load, seconds));
            }
        }
        return List.copyOf(rows.values());
    }
}
