package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The command line takes what docs/numbers.md and .ci/run ask for. */
class DocumentedCommandsTest {

    private static final String LAUNCHER = "benchmarks/run";

    static List<String> commands() throws IOException {
        List<String> commands = new ArrayList<>();
        for (Path document : List.of(Path.of("../docs/numbers.md"), Path.of("../.ci/run"))) {
            Files.readString(document).replace("\\\n", " ").replace(" || ", "\n").lines()
                    .filter(line -> line.startsWith(LAUNCHER))
                    .map(line -> line.substring(LAUNCHER.length()).replaceFirst("\\s+#.*", "").strip()).forEach(commands::add);
        }
        commands.remove("headers"); // a program of its own
        assertFalse(commands.isEmpty());
        return commands;
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldTake(String command) {
        BenchmarkRun run = new BenchmarkRun();
        String[] arguments = command.isEmpty() ? new String[0] : command.split("\\s+");

        assertDoesNotThrow(() -> BenchmarkRun.commandLine(run).parseArgs(arguments));
        assertDoesNotThrow(run::cases);
    }
}
