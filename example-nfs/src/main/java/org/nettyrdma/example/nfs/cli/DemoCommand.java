package org.nettyrdma.example.nfs.cli;

import static org.nettyrdma.example.nfs.cli.DemoReport.MEGABYTE;
import static org.nettyrdma.example.nfs.cli.DemoReport.count;
import static org.nettyrdma.example.nfs.cli.DemoReport.megabytes;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.Rdma;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.example.nfs.RdmaSettings;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.CopyListener;
import org.nettyrdma.example.nfs.client.CopyOptions;
import org.nettyrdma.example.nfs.demo.Demo;
import org.nettyrdma.example.nfs.demo.DemoTree;
import org.nettyrdma.example.nfs.demo.TemporaryDirectory;
import org.nettyrdma.example.nfs.demo.TreeSnapshot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code nfs demo}. */
@Command(name = "demo",
        description = "Starts a server with a file system in memory and a client of it in one process, copies a generated "
                + "tree to the server and back, compares all three, and shows how the calls moved: in version 1 of "
                + "RPC-over-RDMA, then in version 2.",
        footerHeading = "%nExamples:%n",
        footer = {"  nfs demo                       256 MiB in some 1,100 files",
            "  nfs demo --from ~/photos       a folder of yours instead, which is only read",
            "  nfs demo --rpcrdma v2          version 2 of RPC-over-RDMA only",
            "  nfs demo --transport tcp       the same over plain TCP, to compare"})
final class DemoCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private TreeTransferOptions transferOptions;

    @Option(names = "--from", paramLabel = "DIR", description = "Copy this folder instead of a generated tree.")
    private Path from;

    @Option(names = "--transport", paramLabel = "TRANSPORT", defaultValue = "rdma",
            description = "rdma or tcp; default: ${DEFAULT-VALUE}.")
    private Transport transport;

    @Option(names = "--rpcrdma", paramLabel = "v1|v2|prefer-v2", converter = RdmaOptions.VersionsConverter.class,
            description = "Version of RPC-over-RDMA to show; default: v1, and then v2 with the same tree.")
    private VersionPolicy versions;

    /** Something that takes a while. */
    @FunctionalInterface
    private interface Step<T> {

        T run() throws IOException;
    }

    /** One of the two copies. */
    @FunctionalInterface
    private interface Copy {

        void run(CopyOptions options) throws IOException;
    }

    @Override
    public Integer call() throws IOException {
        if (from != null && !Files.isDirectory(from)) {
            throw new NotDirectoryException(from.toString());
        }
        if (versions != null && transport != Transport.RDMA) {
            throw new ParameterException(spec.commandLine(), "--rpcrdma is for --transport rdma only");
        }
        try (TemporaryDirectory work = TemporaryDirectory.create()) {
            List<RdmaSettings> runs = runs();
            printHeading(runs.get(0));
            Path source = from != null ? from.toRealPath() : work.path().resolve("source");
            if (from == null) {
                step("generate", 0, () -> DemoTree.write(Files.createDirectory(source)));
            }
            TreeSnapshot expected = step("read", 0, () -> TreeSnapshot.of(source));
            out().println("  " + describe(expected));
            int exitCode = run(runs.get(0), source, expected);
            for (RdmaSettings settings : runs.subList(1, runs.size())) {
                out().println();
                printHeading(settings);
                exitCode = Math.max(exitCode, run(settings, source, expected));
            }
            return exitCode;
        } catch (IOException | UncheckedIOException e) {
            if (!Interruption.isProcessEnding()) {
                throw e;
            }
            warn("interrupted");
            return Interruption.EXIT_CODE;
        }
    }

    /** What to show one after the other: over RDMA both versions, unless one was asked for. */
    private List<RdmaSettings> runs() {
        if (transport != Transport.RDMA) {
            return List.of(RdmaSettings.DEFAULTS);
        }
        List<VersionPolicy> policies = versions != null ? List.of(versions)
                : List.of(VersionPolicy.V1_ONLY, VersionPolicy.V2_ONLY);
        return policies.stream().map(policy ->
                new RdmaSettings(RdmaSettings.DEFAULTS.credits(), RdmaSettings.DEFAULTS.checksum(), policy)).toList();
    }

    private void printHeading(RdmaSettings settings) {
        // Client and server are of one build, so whoever prefers version 2 gets it.
        int version = settings.versions() == VersionPolicy.V1_ONLY ? 1 : 2;
        out().println("NFS version 3 over " + (transport == Transport.RDMA
                ? "RPC-over-RDMA version " + version + ", with the RDMA provider " + Rdma.provider().name() : "TCP"));
        out().flush();
    }

    /** Has a server and a directory of its own, so that the next run finds their memory free again. */
    private int run(RdmaSettings settings, Path source, TreeSnapshot expected) throws IOException {
        try (TemporaryDirectory work = TemporaryDirectory.create();
                Demo demo = Demo.start(transport, settings, Runtime.getRuntime().maxMemory() / 4 * 3)) {
            return copyAndCompare(demo, source, work.path().resolve("copy"), expected);
        }
    }

    private int copyAndCompare(Demo demo, Path source, Path copy, TreeSnapshot expected) throws IOException {
        step("put", expected.bytes(), () -> copy("put", expected, options -> demo.put(source, options)));
        step("get", expected.bytes(), () -> copy("get", expected, options -> demo.get(copy, options)));
        Optional<String> difference = step("compare", 0, () -> {
            Optional<String> onServer = expected.firstDifference(TreeSnapshot.of(demo.servedTree()));
            return onServer.isPresent() ? onServer.map(text -> "on the server: " + text)
                    : expected.firstDifference(TreeSnapshot.of(copy)).map(text -> "in the copy: " + text);
        });
        new DemoReport(demo.meters(), transport).print(out());
        return judge(difference, expected);
    }

    private Void copy(String name, TreeSnapshot expected, Copy copy) throws IOException {
        try (CopyProgress progress = new CopyProgress(name, expected.bytes(), this::warn, CopyListener.NONE)) {
            copy.run(transferOptions.toCopyOptions().setListener(progress));
        }
        return null;
    }

    /** Prints the result of the comparison, and returns the exit code. */
    int judge(Optional<String> difference, TreeSnapshot expected) {
        if (difference.isPresent()) {
            warn("the trees differ; first difference " + difference.get());
            return ExitCode.FAILED;
        }
        out().println("All " + count(expected.entries().size())
                + " entries are equal on the server and in the copy: names, types, modes,");
        out().println("times, targets of links, names of one file, and SHA-256 of " + megabytes(expected.bytes()) + ".");
        return ExitCode.OK;
    }

    /** Runs a step, and then prints how long it took; until then the line may belong to a progress bar. */
    private <T> T step(String name, long bytes, Step<T> step) throws IOException {
        long startNanos = System.nanoTime();
        T result = step.run();
        double seconds = (System.nanoTime() - startNanos) / (double) TimeUnit.SECONDS.toNanos(1);
        String rate = bytes == 0 ? "" : String.format(Locale.ROOT, "  %,8.0f MB/s", bytes / MEGABYTE / seconds);
        out().printf(Locale.ROOT, "%-10s%6.2f s%s%n", name, seconds, rate);
        out().flush();
        return result;
    }

    private static String describe(TreeSnapshot tree) {
        return "%s files, %s directories, %s symbolic links, %s".formatted(count(tree.count(TreeSnapshot.Type.FILE)),
                count(tree.count(TreeSnapshot.Type.DIRECTORY)), count(tree.count(TreeSnapshot.Type.SYMBOLIC_LINK)),
                megabytes(tree.bytes()));
    }

    private PrintWriter out() {
        return spec.commandLine().getOut();
    }

    private void warn(String message) {
        spec.commandLine().getErr().println(spec.qualifiedName() + ": " + TerminalText.escape(message));
    }
}
