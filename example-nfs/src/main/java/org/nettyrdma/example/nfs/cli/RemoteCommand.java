package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsSession;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What commands that talk to a server have in common. */
abstract class RemoteCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private RemoteOptions remoteOptions;

    @Mixin
    private StatisticsOption statistics;

    @Override
    public final Integer call() throws IOException {
        try {
            return execute();
        } finally {
            statistics.print(spec.commandLine().getErr());
        }
    }

    /** What the command does; returns its exit code. */
    abstract int execute() throws IOException;

    final NfsSession open(NfsEndpoint endpoint) throws IOException {
        return NfsSession.open(endpoint, clientOptions());
    }

    /** The options for one session. */
    final NfsClientOptions clientOptions() {
        return remoteOptions.toClientOptions().setMeterRegistry(statistics.newRegistry());
    }

    final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** All of them, so that nothing is done before all are known to be addresses. */
    final List<NfsEndpoint> parseEndpoints(List<String> urls) {
        return urls.stream().map(this::parseEndpoint).toList();
    }

    final NfsEndpoint parseEndpoint(String url) {
        try {
            return NfsEndpoint.parse(url);
        } catch (IllegalArgumentException e) {
            throw usageError(e.getMessage());
        }
    }

    final ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** One line on standard error, in the form of all errors. */
    final void warn(String message) {
        spec.commandLine().getErr().println(spec.qualifiedName() + ": " + message);
    }
}
