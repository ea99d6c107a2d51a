package org.nettyrdma.benchmarks;

import java.util.ArrayList;
import java.util.List;

/**
 * What the library may use for each call at most. Counts scatter little, but a run fails for none of them: some need longer than
 * a short run until the JIT compiler is done.
 *
 * @param scenario the case
 * @param figure   what is counted
 * @param most     for each call
 */
record CountedBar(Case scenario, Figure figure, double most) {

    private static final double PING_PONG_ALLOCATED_BYTES = 200;
    private static final double CHUNKED_ALLOCATED_BYTES = 1024;
    /** A count of one for each call may have a neighbour's in it: the ends of a window are not sharp. */
    private static final double SHARPNESS = 0.005;

    /** All of them. */
    static final List<CountedBar> ALL = all();

    private static List<CountedBar> all() {
        List<CountedBar> bars = new ArrayList<>();
        for (Case scenario : Case.values()) {
            if (scenario.isStreamOnly()) {
                continue; // a stream copies once, see docs/architecture.md
            }
            boolean bulk = scenario.measuresBytes();
            if (bulk || scenario.measuresLatency()) {
                double allocated = bulk ? CHUNKED_ALLOCATED_BYTES : PING_PONG_ALLOCATED_BYTES;
                bars.add(new CountedBar(scenario, Figure.CLIENT_ALLOCATED_PER_CALL, allocated));
                bars.add(new CountedBar(scenario, Figure.SERVER_ALLOCATED_PER_CALL, allocated));
            }
            bars.add(new CountedBar(scenario, Figure.COPIED_PER_CALL, 0));
            bars.add(new CountedBar(scenario, Figure.REGISTRATIONS_PER_CALL, bulk ? 1 : 0));
        }
        return List.copyOf(bars);
    }

    boolean holds(double measured) {
        return measured <= most + SHARPNESS;
    }
}
