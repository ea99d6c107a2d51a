package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code nfs ping}. */
@Command(name = "ping",
        description = "Calls the NULL procedure, one call after the other, and shows how long the replies took.",
        footerHeading = "%nExamples:%n", footer = {"  nfs ping rdma://server/", "  nfs ping -c 10000 tcp://[::1]/"})
final class PingCommand extends RemoteCommand {

    private static final int MAX_PRINTED_REPLIES = 10;
    private static final int SIGNIFICANT_DIGITS = 3;

    @Option(names = "-c", paramLabel = "N", defaultValue = "5", converter = NumberConverter.Repetitions.class,
            description = "Number of calls; default: ${DEFAULT-VALUE}.")
    private int calls;

    @Parameters(paramLabel = "URL", description = "The server; its path is ignored.")
    private String url;

    @Override
    void execute() throws IOException {
        NfsEndpoint endpoint = parseEndpoint(url).withPath("/");
        Histogram nanos = new Histogram(SIGNIFICANT_DIGITS);
        NfsSession.ping(endpoint, clientOptions(), calls, replyNanos -> {
            nanos.recordValue(replyNanos);
            if (calls <= MAX_PRINTED_REPLIES) {
                out().println("reply " + nanos.getTotalCount() + " from " + endpoint + ": " + micros(replyNanos) + " us");
                out().flush();
            }
        });
        out().println(calls + " calls: min " + micros(nanos.getMinValue()) + ", avg " + micros(nanos.getMean())
                + ", p50 " + micros(nanos.getValueAtPercentile(50)) + ", p99 " + micros(nanos.getValueAtPercentile(99)) + " us");
    }

    private static String micros(double nanos) {
        return String.format(Locale.ROOT, "%.1f", nanos / TimeUnit.MICROSECONDS.toNanos(1));
    }
}
