package org.nettyrdma.example.nfs.cli;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.example.nfs.client.NfsSession;
import picocli.CommandLine.Option;

/** Option of all commands with connections: what was counted on them. */
final class StatisticsOption {

    @Option(names = "--statistics",
            description = "At the end, print to standard error what was agreed on and what moved: a line for each number that "
                    + "is not 0.")
    private boolean print;

    private final List<MeterRegistry> registries = new ArrayList<>();
    /** What counts: meters do not keep that alive. */
    private final List<Object> counting = new ArrayList<>();

    /** For one session or server; counts nothing unless it is to be printed. */
    MeterRegistry newRegistry() {
        CompositeMeterRegistry registry = new CompositeMeterRegistry();
        addTo(registry);
        return registry;
    }

    /** Adds a registry if it is to be printed. */
    void addTo(CompositeMeterRegistry meters) {
        if (print) {
            MeterRegistry registry = new SimpleMeterRegistry();
            registries.add(registry);
            meters.add(registry);
            counting.add(meters);
        }
    }

    /** What a session has counted is printed although it is closed. */
    NfsSession keep(NfsSession session) {
        if (print) {
            counting.add(session);
        }
        return session;
    }

    void print(PrintWriter out) {
        registries.forEach(registry -> MeterReport.print(registry, out));
    }
}
