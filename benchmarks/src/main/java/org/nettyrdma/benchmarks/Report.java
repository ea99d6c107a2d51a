package org.nettyrdma.benchmarks;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Prints the comparison as a Markdown table.
 */
final class Report {

    private final PrintStream out;
    private final List<TransportKind> kinds;

    /** The first kind is what the others are compared with. */
    Report(PrintStream out, List<TransportKind> kinds) {
        this.out = out;
        this.kinds = kinds;
    }

    void header(int pairs, double seconds, boolean twoProcesses) {
        print("%s, Java %s, %d processors, %s; medians of %d windows of %.1f s%n%n",
                System.getProperty("os.name") + ' ' + System.getProperty("os.version"), System.getProperty("java.version"),
                Runtime.getRuntime().availableProcessors(),
                twoProcesses ? "client and server in two processes" : "client and server in one process", pairs, seconds);
        StringBuilder titles = new StringBuilder("| |");
        StringBuilder rule = new StringBuilder("|---|");
        for (TransportKind kind : kinds) {
            titles.append(' ').append(kind.title()).append(" |");
            rule.append("---|");
            if (kind != kinds.get(0)) {
                titles.append(" ratio |");
                rule.append("---|");
            }
        }
        print("%s%n%s%n", titles, rule);
    }

    void rows(Workload workload, Map<TransportKind, List<Window>> windows) {
        if (workload.measuresLatency()) {
            row(workload.title() + ", p50, µs", windows, "%.1f", Window::p50Micros);
            row(workload.title() + ", p99, µs", windows, "%.1f", Window::p99Micros);
        } else if (workload.measuresBytes()) {
            row(workload.title() + ", GB/s", windows, "%.2f", Window::gigabytesPerSecond);
            row(workload.title() + ", CPU s/GB", windows, "%.2f", Window::cpuSecondsPerGigabyte);
        } else {
            row(workload.title() + ", calls/s", windows, "%.0f", Window::callsPerSecond);
        }
    }

    private void row(String title, Map<TransportKind, List<Window>> windows, String format, ToDoubleFunction<Window> figure) {
        StringBuilder row = new StringBuilder("| ").append(title).append(" |");
        List<Window> baseline = windows.get(kinds.get(0));
        for (TransportKind kind : kinds) {
            List<Window> own = windows.get(kind);
            row.append(String.format(Locale.ROOT, ' ' + format + " |", RpcComparison.median(own, figure)));
            if (own != baseline) {
                row.append(String.format(Locale.ROOT, " %.2f |", RpcComparison.medianRatio(own, baseline, figure)));
            }
        }
        print("%s%n", row);
    }

    private void print(String format, Object... arguments) {
        out.printf(Locale.ROOT, format, arguments);
        out.flush();
    }
}
