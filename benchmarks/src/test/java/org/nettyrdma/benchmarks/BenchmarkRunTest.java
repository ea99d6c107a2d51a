package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** What the command line says of mistakes, before it measures anything. */
class BenchmarkRunTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String arguments) {
        CommandLine commandLine = BenchmarkRun.commandLine(new BenchmarkRun());
        return commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err)).execute(arguments.split(" "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--cases ping-pong,nosuch      | --cases: 'nosuch' (expected: what --help lists)",
        "--cases ping-pong,,idle       | --cases: '' (expected: what --help lists)",
        "--peers nosuch                | Invalid value for option '--transports' (PEER): 'nosuch' is no peer",
        "--pairs 0                     | --pairs: 0 (expected: at least 1)",
        "--seconds 0                   | --seconds: 0.0 (expected: more than 0, at most 3600)",
        "--seconds NaN                 | --seconds: NaN (expected: more than 0, at most 3600)",
        "--warm-up -1                  | --warm-up: -1.0 (expected: 0 to 3600)",
        "--warm-up Infinity            | --warm-up: Infinity (expected: 0 to 3600)",
        "--connections 10,0            | --connections: 0 (expected: at least 1)",
        "--one-cpu --two-processes     | --two-processes: with --one-cpu (expected: one of them)",
        "--output /proc/x              | --output: /proc/x (expected: a folder that can be made or is there)",
    })
    void shouldExitWith2AndNameTheOption(String arguments, String error) {
        assertEquals(2, run(arguments));
        assertEquals(error, err.toString().lines().findFirst().orElse(""));
    }

    @Test
    void shouldListAllCasesAndPeersInTheHelp() {
        assertEquals(0, run("--help"));
        String help = out.toString().replaceAll("\\s+", " ");
        Stream.of(Peer.values()).forEach(peer -> assertTrue(help.contains(peer.toString()), help));
        Stream.of(Case.PING_PONG, Case.CALLS_32, Case.READ_1M, Case.WRITE_1M, Case.ECHO_64K, Case.ECHO_1M)
                .forEach(scenario -> assertTrue(help.contains(scenario.toString()), help));
    }

    @Test
    void shouldMeasureOnlyCasesAgainThatAreFarOutsideOnOneCpu() throws IOException {
        CaseResult fast = result(Case.READ_1M, Placement.ONE_CPU, 100);
        CaseResult scheduled = result(Case.WRITE_64K, Placement.ONE_PROCESS, 10);
        List<CaseResult> results = new ArrayList<>(List.of(fast, scheduled, result(Case.WRITE_64K, Placement.ONE_CPU, 10)));
        CaseResult again = result(Case.WRITE_64K, Placement.ONE_CPU, 90);
        List<List<Case>> repeated = new ArrayList<>();
        BenchmarkRun.repeatSlowCases(results, slow -> {
            repeated.add(slow);
            results.add(again);
        });
        assertEquals(List.of(List.of(Case.WRITE_64K)), repeated);
        assertEquals(List.of(fast, scheduled, again), results);
    }

    @Test
    void shouldMeasureACaseThreeTimesAtMostAndKeepTheLastResult() throws IOException {
        List<CaseResult> results = new ArrayList<>(List.of(result(Case.CALLS_32, Placement.ONE_CPU, 10)));
        List<CaseResult> again = List.of(result(Case.CALLS_32, Placement.ONE_CPU, 11),
                result(Case.CALLS_32, Placement.ONE_CPU, 12));
        Iterator<CaseResult> next = again.iterator();
        BenchmarkRun.repeatSlowCases(results, slow -> results.add(next.next()));
        assertEquals(List.of(again.get(1)), results);
        assertFalse(next.hasNext());
    }

    /** Of the library next to Netty, which makes 100 calls meanwhile. */
    private static CaseResult result(Case scenario, Placement placement, int calls) {
        return CaseResult.of(scenario, placement, List.of(new Pairing(Peer.RDMA, Peer.NIO, List.of(Windows.of(scenario, calls)),
                List.of(Windows.of(scenario, 100)))));
    }
}
