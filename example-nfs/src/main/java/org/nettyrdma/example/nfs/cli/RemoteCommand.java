package org.nettyrdma.example.nfs.cli;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.nettyrdma.example.nfs.client.NfsClientOptions;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.client.NfsException;
import org.nettyrdma.example.nfs.client.NfsSession;
import org.nettyrdma.example.nfs.protocol.NfsStatus;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** What commands that talk to a server have in common. */
abstract class RemoteCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private RemoteOptions remoteOptions;

    @Mixin
    private StatisticsOption statistics;
    /** The highest exit code of what has failed for some of the files. */
    private final AtomicInteger reported = new AtomicInteger(ExitCode.OK);

    /** Something that is done with each of several addresses, at its server. */
    @FunctionalInterface
    interface Action {

        void run(NfsSession session, NfsEndpoint endpoint) throws IOException;
    }

    @Override
    public final Integer call() throws IOException {
        Interruption interruption = new Interruption(() -> warn("interrupted; files named .nfs-copy-... may be left"));
        try {
            return executeAndReport();
        } finally {
            interruption.commandEnded();
        }
    }

    private int executeAndReport() throws IOException {
        try {
            execute();
            return reported.get();
        } catch (InterruptedIOException e) {
            warn(interrupted());
            return Interruption.EXIT_CODE;
        } catch (NfsException e) {
            throw withHint(e);
        } finally {
            out().flush();
            statistics.print(spec.commandLine().getErr());
        }
    }

    /** What a user is told who has interrupted the command. */
    String interrupted() {
        return "interrupted";
    }

    /** Does the same with all addresses, also behind one where it fails. */
    final void forEach(List<String> urls, Action action) throws IOException {
        for (NfsEndpoint endpoint : parseEndpoints(urls)) {
            try (NfsSession session = open(endpoint)) {
                action.run(session, endpoint);
            } catch (InterruptedIOException | StandardOutput.Failure e) {
                throw e;
            } catch (IOException e) {
                report(e);
            }
        }
    }

    /** Shows a failure as the command line shows one that ends a command, and remembers its exit code. Any thread. */
    final void report(IOException failure) throws IOException {
        try {
            int exitCode = spec.commandLine().getExecutionExceptionHandler()
                    .handleExecutionException(withHint(failure), spec.commandLine(), null);
            reported.accumulateAndGet(exitCode, Math::max);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Has the command fail at its end, for what it has told already. */
    final void fail() {
        reported.accumulateAndGet(ExitCode.FAILED, Math::max);
    }

    /** Who is root here and may do nothing there wonders why. */
    private IOException withHint(IOException failure) {
        boolean refused = failure instanceof NfsException e && (e.status() == NfsStatus.ACCES || e.status() == NfsStatus.PERM);
        return refused && remoteOptions.isRoot() ? new IOException(failure.getMessage()
                + "; you are user 0, whom servers take for nobody unless told otherwise (nfs serve: --no-root-squash)", failure)
                : failure;
    }

    /** What the command does; it succeeds unless something is reported. */
    abstract void execute() throws IOException;

    final NfsSession open(NfsEndpoint endpoint) throws IOException {
        return statistics.keep(NfsSession.open(endpoint, clientOptions()));
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

    final Path parsePath(String path) {
        try {
            return new PathConverter().convert(path);
        } catch (TypeConversionException e) {
            throw usageError(e.getMessage());
        }
    }

    /**
     * Refuses to copy several into one directory of which the last would take the place of another.
     *
     * @param name what one is going to be called
     * @param text what one is called in the exception
     */
    static <T> void requireDifferentNames(List<T> sources, Function<T, String> name, Function<T, String> text)
            throws IOException {
        Map<String, T> named = new HashMap<>();
        for (T source : sources) {
            T first = named.putIfAbsent(name.apply(source), source);
            if (first != null && !first.equals(source)) {
                throw new IOException(text.apply(first) + " and " + text.apply(source) + " would be copied to the same name");
            }
        }
    }

    final ParameterException usageError(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** One line on standard error, in the form of all errors. */
    final void warn(String message) {
        spec.commandLine().getErr().println(spec.qualifiedName() + ": " + TerminalText.escape(message));
        spec.commandLine().getErr().flush();
    }
}
