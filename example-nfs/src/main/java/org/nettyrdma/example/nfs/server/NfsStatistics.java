package org.nettyrdma.example.nfs.server;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;
import org.nettyrdma.example.nfs.protocol.NfsStatus;

/**
 * Counts the calls of an {@link NfsService}, without repeated ones that were answered from the cache of replies. Any thread.
 *
 * <p>Bound to a registry it has four meters for each procedure, which is their tag {@code procedure}:
 * <ul>
 * <li>{@code nfs.server.calls}: a timer of the calls, from the arguments to the results;</li>
 * <li>{@code nfs.server.errors}: those of them whose status was not {@code NFS3_OK};</li>
 * <li>{@code nfs.server.arguments}: bytes of their arguments, data of WRITE included;</li>
 * <li>{@code nfs.server.results}: bytes of their results, data of READ included.</li>
 * </ul>
 */
public final class NfsStatistics implements MeterBinder {

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

    @Override
    public void bindTo(MeterRegistry registry) {
        counters.forEach((procedure, counted) -> {
            Tags tags = Tags.of("procedure", procedure.name());
            FunctionTimer.builder("nfs.server.calls", counted, all -> all.calls.sum(), all -> all.nanos.sum(),
                    TimeUnit.NANOSECONDS).tags(tags).register(registry);
            bind(counted.errors, "nfs.server.errors", "errors", tags, registry);
            bind(counted.argumentBytes, "nfs.server.arguments", "bytes", tags, registry);
            bind(counted.resultBytes, "nfs.server.results", "bytes", tags, registry);
        });
    }

    private static void bind(LongAdder counter, String name, String unit, Tags tags, MeterRegistry registry) {
        FunctionCounter.builder(name, counter, LongAdder::sum).baseUnit(unit).tags(tags).register(registry);
    }
}
