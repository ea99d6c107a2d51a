package org.nettyrdma.example.nfs.cli;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.example.nfs.CallRoutes;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.NfsClientStatistics;
import org.nettyrdma.example.nfs.protocol.NfsProcedure;

/** What the meters of a demonstration say, as tables for a terminal of 80 columns. */
final class DemoReport {

    static final double MEGABYTE = 1e6;

    private final MeterRegistry meters;
    private final Transport transport;

    DemoReport(MeterRegistry meters, Transport transport) {
        this.meters = meters;
        this.transport = transport;
    }

    void print(PrintWriter out) {
        out.println();
        if (transport == Transport.RDMA) {
            printCallsByRoute(out);
            out.println();
            printTotals(out);
        } else {
            printCalls(out);
        }
        out.println();
    }

    private void printCallsByRoute(PrintWriter out) {
        TextTable table = new TextTable("", ">", ">", ">", ">", ">", ">", ">", ">");
        table.add("", "", "", "Read", "Write", "Reply", "long", "p50", "p99");
        table.add("procedure", "calls", "inline", "chunk", "chunk", "chunk", "call", "ms", "ms");
        for (NfsProcedure procedure : NfsProcedure.values()) {
            if (calls(procedure) > 0) {
                table.add(procedure.name(), count(calls(procedure)),
                        count(routes(procedure, "call", "inline", "reply", "inline")),
                        count(routes(procedure, "call", "read_chunk")), count(routes(procedure, "reply", "write_chunk")),
                        count(routes(procedure, "reply", "reply_chunk")), count(routes(procedure, "call", "long")),
                        latency(procedure, "0.5"), latency(procedure, "0.99"));
            }
        }
        table.print(out);
    }

    private void printCalls(PrintWriter out) {
        TextTable table = new TextTable("", ">", ">", ">");
        table.add("", "", "p50", "p99");
        table.add("procedure", "calls", "ms", "ms");
        for (NfsProcedure procedure : NfsProcedure.values()) {
            if (calls(procedure) > 0) {
                table.add(procedure.name(), count(calls(procedure)), latency(procedure, "0.5"), latency(procedure, "0.99"));
            }
        }
        table.print(out);
    }

    private void printTotals(PrintWriter out) {
        TextTable table = new TextTable("", ">", "");
        table.add("credits granted to the client", count(gauge("rpcrdma.credits.requests.granted", "client")), "");
        table.add("Sends, both directions", count(counter("rdma.channel.sends", "client")
                + counter("rdma.channel.sends", "server")), "");
        table.add("RDMA Reads by the server", count(counter("rdma.channel.reads", "server")),
                megabytes(counter("rdma.channel.read.bytes", "server")));
        table.add("RDMA Writes by the server", count(counter("rdma.channel.writes", "server")),
                megabytes(counter("rdma.channel.written.bytes", "server")));
        table.add("pieces of memory exposed by the client", count(counter("rpcrdma.chunks.exposures", "client")), "");
        table.add("  invalidated by the server", count(counter("rpcrdma.chunks.remote.invalidations", "client")), "");
        table.add("bytes copied, client", count(copiedBytes("client")), "");
        table.add("bytes copied, server", count(copiedBytes("server")), "");
        table.print(out);
    }

    private double copiedBytes(String role) {
        return counter("rpcrdma.chunks.copied.bytes", role) + counter("rdma.channel.copied.bytes", role);
    }

    private double calls(NfsProcedure procedure) {
        return meters.get(NfsClientStatistics.CALLS).tag("procedure", lowerCase(procedure)).functionCounter().count();
    }

    private double routes(NfsProcedure procedure, String... tags) {
        return meters.get(CallRoutes.NAME).tag("procedure", lowerCase(procedure)).tags(tags).counters().stream()
                .mapToDouble(Counter::count).sum();
    }

    private String latency(NfsProcedure procedure, String quantile) {
        TimeGauge gauge = meters.get(NfsClientStatistics.LATENCY).tags("procedure", lowerCase(procedure), "quantile", quantile)
                .timeGauge();
        return String.format(Locale.ROOT, "%.3f", gauge.value(TimeUnit.MILLISECONDS));
    }

    private double counter(String name, String role) {
        return meters.get(name).tag(Transport.ROLE_TAG, role).functionCounters().stream().mapToDouble(FunctionCounter::count)
                .sum();
    }

    private double gauge(String name, String role) {
        return meters.get(name).tag(Transport.ROLE_TAG, role).gauges().stream().mapToDouble(Gauge::value).sum();
    }

    private static String lowerCase(NfsProcedure procedure) {
        return procedure.name().toLowerCase(Locale.ROOT);
    }

    static String count(double number) {
        return String.format(Locale.ROOT, "%,.0f", number);
    }

    static String megabytes(double bytes) {
        return String.format(Locale.ROOT, "%,.1f MB", bytes / MEGABYTE);
    }
}
