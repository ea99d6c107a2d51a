package org.nettyrdma.benchmarks;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs the same RPC calls over each transport in turn and prints the figures side by side. The transports take turns window by window, so
 * that a change of the machine's speed hits all of them; a ratio is the median of the ratios of neighbouring windows.
 */
@Command(name = "compare", mixinStandardHelpOptions = true, sortOptions = false,
        description = "Compares RPC over RDMA (software iWARP) with RPC over TCP (Netty NIO, record marking).")
public final class RpcComparison implements Callable<Integer> {

    private static final TransportKind BASELINE = TransportKind.TCP;

    @Option(names = "--pairs", defaultValue = "5", description = "Windows per transport and workload; default ${DEFAULT-VALUE}.")
    private int pairs;

    @Option(names = "--seconds", defaultValue = "2", description = "Length of a window in seconds; default ${DEFAULT-VALUE}.")
    private double seconds;

    @Option(names = "--warm-up", defaultValue = "3",
            description = "Seconds of each workload on each transport before the first window; default ${DEFAULT-VALUE}.")
    private double warmUpSeconds;

    @Option(names = "--two-processes", description = "Runs each server in a process of its own.")
    private boolean twoProcesses;

    @Option(names = "--workloads", split = ",", description = "What to measure: ${COMPLETION-CANDIDATES}; default all.")
    private List<Workload> workloads = List.of(Workload.values());

    @Option(names = "--transports", split = ",",
            description = "What to compare with TCP: ${COMPLETION-CANDIDATES}; default all.")
    private List<TransportKind> transports = List.of(TransportKind.RDMA, TransportKind.RDMA_CRC);

    /** Created by the command line parser. */
    public RpcComparison() {
    }

    /**
     * The program.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new RpcComparison()).setCaseInsensitiveEnumValuesAllowed(true).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        List<TransportKind> kinds = new ArrayList<>();
        kinds.add(BASELINE);
        transports.stream().filter(kind -> kind != BASELINE).forEach(kinds::add);
        Report report = new Report(System.out, kinds);
        report.header(pairs, seconds, twoProcesses);
        List<Subject> subjects = new ArrayList<>();
        try {
            for (TransportKind kind : kinds) {
                subjects.add(new Subject(kind, twoProcesses));
            }
            for (Workload workload : workloads) {
                report.rows(workload, measure(workload, subjects));
            }
        } finally {
            for (Subject subject : subjects) {
                subject.close();
            }
        }
        return CommandLine.ExitCode.OK;
    }

    private Map<TransportKind, List<Window>> measure(Workload workload, List<Subject> subjects) throws Exception {
        for (Subject subject : subjects) {
            subject.measure(workload, nanos(warmUpSeconds));
        }
        Map<TransportKind, List<Window>> windows = new EnumMap<>(TransportKind.class);
        for (int pair = 0; pair < pairs; pair++) {
            for (Subject subject : subjects) {
                windows.computeIfAbsent(subject.kind(), kind -> new ArrayList<>())
                        .add(subject.measure(workload, nanos(seconds)));
            }
        }
        return windows;
    }

    private static long nanos(double seconds) {
        return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    }

    static double median(List<Window> windows, ToDoubleFunction<Window> figure) {
        return median(windows.stream().mapToDouble(figure).sorted().toArray());
    }

    static double medianRatio(List<Window> windows, List<Window> baseline, ToDoubleFunction<Window> figure) {
        double[] ratios = new double[windows.size()];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = figure.applyAsDouble(windows.get(i)) / figure.applyAsDouble(baseline.get(i));
        }
        java.util.Arrays.sort(ratios);
        return median(ratios);
    }

    private static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
