package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
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
}
