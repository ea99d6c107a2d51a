package org.nettyrdma.example.nfs.server;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/** Counts the calls of an {@link NfsService}, by procedure. Any thread. */
public final class NfsStatistics {

    private static final class Counters {
        private final LongAdder calls = new LongAdder();
        private final LongAdder errors = new LongAdder();
        private final LongAdder argumentBytes = new LongAdder();
        private final LongAdder resultBytes = new LongAdder();
        private final LongAdder nanos = new LongAdder();
    }

    private final Map<NfsProcedure, Counters> counters = new EnumMap<>(NfsProcedure.class);

    NfsStatistics() {
        for (NfsProcedure procedure : NfsProcedure.values()) {
            counters.put(procedure, new Counters());
        }
    }

    void called(NfsProcedure procedure, NfsStatus status, int argumentBytes, int resultBytes, long nanos) {
        Counters counted = counters.get(procedure);
        counted.calls.increment();
        if (status != NfsStatus.OK) {
            counted.errors.increment();
        }
        counted.argumentBytes.add(argumentBytes);
        counted.resultBytes.add(resultBytes);
        counted.nanos.add(nanos);
    }

    /**
     * What was counted for one procedure so far.
     *
     * @param procedure the procedure
     * @return its numbers; calls that run at this moment may be in some of them only
     */
    public ProcedureStatistics of(NfsProcedure procedure) {
        Counters counted = counters.get(procedure);
        return new ProcedureStatistics(procedure, counted.calls.sum(), counted.errors.sum(), counted.argumentBytes.sum(),
                counted.resultBytes.sum(), counted.nanos.sum());
    }

    /**
     * What was counted for every procedure so far.
     *
     * @return the numbers in the order of the procedures, also of those that were not called
     */
    public List<ProcedureStatistics> all() {
        List<ProcedureStatistics> all = new ArrayList<>();
        counters.keySet().forEach(procedure -> all.add(of(procedure)));
        return all;
    }
}
