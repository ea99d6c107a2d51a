package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What it costs to expose memory for each call and to withdraw it again, for each way to agree on who withdraws it. The ways take
 * turns window by window.
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

    /**
     * Measures all loads with all policies.
     *
     * @param windows of each, in the order of the turns
     * @param seconds length of a window; short ones take turns more often than the machine changes its speed
     */
    static List<Row> measure(int windows, double seconds, double warmUpSeconds) throws IOException {
        List<Row> rows = new ArrayList<>();
        try (Turns<Policy> turns = new Turns<>(windows, seconds)) {
            for (Policy policy : Policy.values()) {
                turns.add(policy, policy.setup(), Placement.ONE_PROCESS, 1);
            }
            for (Map.Entry<String, Load> load : LOADS.entrySet()) {
                turns.warmUp(load.getValue(), warmUpSeconds);
                turns.take(load.getValue()).forEach((policy, seen) -> rows.add(new Row(load.getKey(), policy, seen)));
            }
        }
        return rows;
    }
}
