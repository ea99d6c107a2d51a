package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs the same RPC calls over the library and its peers in turn, and writes what they have shown.
 */
@Command(name = "benchmarks/run", sortOptions = false,
        description = "Compares RPC over RDMA (software iWARP) with what people use instead.")
public final class BenchmarkRun implements Callable<Integer> {

    private static final int QUICK_PAIRS = 5;
    private static final double QUICK_SECONDS = 0.4;
    private static final double QUICK_WARM_UP_SECONDS = 1.5;
    private static final int QUICK_ATTEMPTS = 3;
    private static final Set<Peer> QUICK_PEERS = EnumSet.of(Peer.RDMA, Peer.NIO, Peer.NIO_256K, Peer.EPOLL, Peer.EPOLL_256K);
    private static final List<String> QUICK_CASES = List.of("ping-pong", "calls-32", "read-1m", "write-1m", "read-64k",
            "write-64k");
    private static final String IDLE = "idle";
    private static final String REGISTRATIONS = "registrations";
    private static final String GROWTH = "growth";
    private static final String CONNECTIONS = "growth-connections";
    private static final String CREDITS = "growth-credits";
    private static final String SIZES = "growth-sizes";
    private static final String EVENT_LOOPS = "growth-event-loops";
    private static final int REGISTRATION_WINDOWS_PER_PAIR = 3;
    private static final double REGISTRATION_SECONDS = 0.4;
    private static final int GROWTH_WINDOWS = 5;
    private static final double GROWTH_SECONDS = 0.4;
    private static final Set<String> STUDIES = Set.of(IDLE, REGISTRATIONS, GROWTH, CONNECTIONS, CREDITS, SIZES, EVENT_LOOPS);
    private static final double IDLE_SECONDS = 10;
    private static final double DEFAULT_SECONDS = 2;
    private static final double DEFAULT_WARM_UP_SECONDS = 3;
    private static final int MAX_SECONDS = 3600;

    @Option(names = "--quick",
            description = "The main cases against Netty's transports, in less than ten minutes. The exit code is 1 where a ratio"
            + " with both ends on one CPU is worse than half its bar, three times: such ratios scatter least.")
    private boolean quick;

    @Option(names = {"--peers", "--transports"}, split = ",", paramLabel = "PEER",
            description = "What takes turns with the library: ${COMPLETION-CANDIDATES}; default all that run here.")
    private List<Peer> peers;

    @Option(names = {"--cases", "--workloads"}, split = ",", paramLabel = "CASE",
            description = "What to measure: ping-pong, calls-32, read-1m, write-1m, and both also of 64k, 16k, 4k; idle,"
                    + " registrations; default all of these, and of peers without RPC and gRPC echo-64k, echo-1m. And growth,"
                    + " which takes minutes, or its parts growth-connections, growth-credits, growth-sizes,"
                    + " growth-event-loops.")
    private List<String> cases;

    @Option(names = "--connections", split = ",", paramLabel = "NUMBER", defaultValue = "1,10,100,1000,10000",
            description = "The points of growth-connections; default ${DEFAULT-VALUE}.")
    private List<Integer> connections;

    @Option(names = "--one-cpu", description = "Runs both ends on one CPU only. Without this option and the next, cases run"
            + " both as the scheduler likes and on one CPU; with --quick those of bulk data run on one CPU only.")
    private boolean oneCpu;

    @Option(names = "--two-processes", description = "Runs client and server in a process each, as the scheduler likes.")
    private boolean twoProcesses;

    @Option(names = "--pairs", paramLabel = "NUMBER",
            description = "Windows of the library and each peer; default " + QUICK_PAIRS + ".")
    private int pairs = QUICK_PAIRS;

    @Option(names = "--seconds", paramLabel = "SECONDS",
            description = "Length of a window in seconds; default 2, with --quick " + QUICK_SECONDS + ".")
    private Double seconds;

    @Option(names = "--warm-up", paramLabel = "SECONDS",
            description = "Seconds of each case on each peer before its first window, up to four times as long"
            + " while its JIT compiler is busy; default 3, with --quick " + QUICK_WARM_UP_SECONDS + ".")
    private Double warmUpSeconds;

    @Option(names = "--output", paramLabel = "FOLDER",
            description = "Where results.json, report.md and plots go; default ${DEFAULT-VALUE}.")
    private Path output = Path.of(System.getProperty("nettyrdma.root", "."), "benchmarks", "target", "results");

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this help.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    private final MarkdownReport markdown = new MarkdownReport();
    private final JsonReport json = new JsonReport();
    private String commandLine;

    /** Created by the command line parser. */
    public BenchmarkRun() {
    }

    /**
     * The program.
     *
     * @param arguments the command line
     */
    public static void main(String[] arguments) {
        BenchmarkRun run = new BenchmarkRun();
        run.commandLine = String.join(" ", arguments);
        System.exit(commandLine(run).execute(arguments));
    }

    static CommandLine commandLine(BenchmarkRun run) {
        return new CommandLine(run).setCaseInsensitiveEnumValuesAllowed(true).registerConverter(Peer.class, Peer::named);
    }

    /** Before anything is measured. */
    private void checkOptions() {
        requireOption(pairs > 0, "--pairs", pairs, "at least 1");
        requireOption(seconds() > 0 && seconds() <= MAX_SECONDS, "--seconds", seconds(), "more than 0, at most " + MAX_SECONDS);
        requireOption(warmUpSeconds() >= 0 && warmUpSeconds() <= MAX_SECONDS, "--warm-up", warmUpSeconds(),
                "0 to " + MAX_SECONDS);
        for (int number : connections) {
            requireOption(number > 0, "--connections", number, "at least 1");
        }
        requireOption(!oneCpu || !twoProcesses, "--two-processes", "with --one-cpu", "one of them");
        for (String name : caseNames()) {
            requireOption(STUDIES.contains(name) || Case.isNamed(name), "--cases", "'" + name + "'", "what --help lists");
        }
        try {
            Files.createDirectories(output);
        } catch (IOException e) {
            requireOption(false, "--output", output, "a folder that can be made or is there");
        }
    }

    private void requireOption(boolean right, String option, Object value, String expected) {
        if (!right) {
            throw new ParameterException(spec.commandLine(), option + ": " + value + " (expected: " + expected + ")");
        }
    }

    @Override
    public Integer call() throws Exception {
        checkOptions();
        List<CaseResult> results = new ArrayList<>();
        Map<Peer, String> descriptions = new EnumMap<>(Peer.class);
        double wakeUpMicros = WakeUp.medianMicros();
        markdown.wakeUp(wakeUpMicros);
        for (Placement placement : placements()) {
            boolean all = !quick || placement == Placement.ONE_CPU || placements().size() == 1;
            compare(placement, cases().stream().filter(scenario -> all || !scenario.measuresBytes()).toList(), results,
                    descriptions);
        }
        if (quick) {
            repeatSlowCases(results, slow -> compare(Placement.ONE_CPU, slow, results, descriptions));
        }
        List<Bar.Verdict> verdicts = verdicts(results);
        if (!results.isEmpty()) {
            json.comparison(results).verdicts(verdicts);
            markdown.comparison(results).plots(Plots.latency(output, results)).verdicts(verdicts).counted(results)
                    .costs(results);
        }
        runStudies();
        Environment environment = Environment.of(commandLine, wakeUpMicros, descriptions);
        json.environment(environment);
        markdown.environment(environment);
        write();
        return quick && results.stream().anyMatch(BenchmarkRun::isSlow)
                ? CommandLine.ExitCode.SOFTWARE
                : CommandLine.ExitCode.OK;
    }

    private List<Placement> placements() {
        if (oneCpu || twoProcesses) {
            return List.of(oneCpu ? Placement.ONE_CPU : Placement.TWO_PROCESSES);
        }
        return List.of(Placement.ONE_PROCESS, Placement.ONE_CPU);
    }

    private void runStudies() throws IOException {
        if (caseNames().contains(IDLE)) {
            System.err.println(IDLE);
            List<IdleCost> costs = IdleCost.measure(peers(), IDLE_SECONDS, warmUpSeconds());
            json.section("idle", costs);
            markdown.idle(costs);
        }
        if (caseNames().contains(REGISTRATIONS)) {
            System.err.println(REGISTRATIONS);
            List<Registrations.Row> rows = Registrations.measure(pairs * REGISTRATION_WINDOWS_PER_PAIR,
                    Math.min(seconds(), REGISTRATION_SECONDS), warmUpSeconds());
            json.registrations(rows);
            markdown.registrations(rows);
        }
        Growth growth = new Growth(Math.min(pairs, GROWTH_WINDOWS), Math.min(seconds(), GROWTH_SECONDS),
                warmUpSeconds());
        runGrowth(CONNECTIONS, () -> growth.connections(connections));
        runGrowth(CREDITS, growth::credits);
        runGrowth(SIZES, growth::sizes);
        runGrowth(EVENT_LOOPS, growth::eventLoops);
    }

    private void runGrowth(String name, Curve curve) throws IOException {
        if (caseNames().contains(name) || caseNames().contains(GROWTH)) {
            Growth.Curves curves = curve.draw();
            json.section(name, curves);
            markdown.growth(curves).plots(List.of(Plots.growth(output, curves)));
        }
    }

    /** One of the growth cases. */
    @FunctionalInterface
    private interface Curve {
        Growth.Curves draw() throws IOException;
    }

    private void compare(Placement placement, List<Case> scenarios, List<CaseResult> results, Map<Peer, String> descriptions)
            throws IOException {
        if (scenarios.isEmpty()) {
            return;
        }
        Set<Peer> taking = EnumSet.noneOf(Peer.class);
        peers().stream().filter(peer -> scenarios.stream().anyMatch(scenario -> peer.takes(scenario, placement)))
                .forEach(taking::add);
        try (Comparison comparison = new Comparison(taking, placement, pairs, seconds(), warmUpSeconds())) {
            for (Case scenario : scenarios) {
                System.err.println(scenario.title() + ", " + placement.title());
                results.add(comparison.run(scenario));
            }
            comparison.descriptions().forEach(descriptions::putIfAbsent);
        }
    }

    /** A machine is noisy: slow is what is slow each time, in processes of its own. The last result of a case stays. */
    static void repeatSlowCases(List<CaseResult> results, Repetition repetition) throws IOException {
        for (int attempt = 1; attempt < QUICK_ATTEMPTS; attempt++) {
            List<Case> slow = results.stream().filter(BenchmarkRun::isSlow).map(CaseResult::scenario).toList();
            if (slow.isEmpty()) {
                return;
            }
            results.removeIf(BenchmarkRun::isSlow);
            System.err.println("again, since far outside of a bar: " + slow);
            repetition.measure(slow);
        }
    }

    /** With both ends on one CPU. */
    private static boolean isSlow(CaseResult result) {
        return verdicts(List.of(result)).stream().anyMatch(verdict -> verdict.bar().oneCpu() && verdict.isFarOutside());
    }

    /** Measures cases once more and adds what they show to the results. */
    @FunctionalInterface
    interface Repetition {
        void measure(List<Case> slow) throws IOException;
    }

    private static List<Bar.Verdict> verdicts(List<CaseResult> results) {
        return results.stream()
                .flatMap(result -> Bar.ALL.stream().map(bar -> bar.verdict(result)).filter(Objects::nonNull))
                .toList();
    }

    private void write() throws IOException {
        Files.writeString(output.resolve("report.md"), markdown.text());
        Files.writeString(output.resolve("results.json"), json.text());
        System.out.print(markdown.text());
    }

    private List<String> caseNames() {
        if (cases != null) {
            return cases;
        }
        if (quick) {
            return QUICK_CASES;
        }
        List<String> all = new ArrayList<>();
        Stream.of(Case.values()).map(Case::toString).forEach(all::add);
        all.addAll(List.of(IDLE, REGISTRATIONS));
        return all;
    }

    /** Those that are comparisons; fails if there is none of a name. */
    List<Case> cases() {
        return caseNames().stream().filter(name -> !STUDIES.contains(name)).map(Case::named)
                .filter(scenario -> !scenario.isStreamOnly() || peers().stream().anyMatch(peer -> peer.takes(scenario, null)))
                .toList();
    }

    private Set<Peer> peers() {
        Set<Peer> taking = EnumSet.of(Peer.RDMA);
        taking.addAll(peers != null ? peers : quick ? QUICK_PEERS : EnumSet.allOf(Peer.class));
        return taking;
    }

    private double seconds() {
        return seconds != null ? seconds : quick ? QUICK_SECONDS : DEFAULT_SECONDS;
    }

    private double warmUpSeconds() {
        return warmUpSeconds != null ? warmUpSeconds : quick ? QUICK_WARM_UP_SECONDS : DEFAULT_WARM_UP_SECONDS;
    }
}
