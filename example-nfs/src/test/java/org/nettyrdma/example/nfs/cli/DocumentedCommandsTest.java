package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nettyrdma.example.nfs.dump.Captures;

/** Runs what README, that of the example and the pages of {@code docs} show of the command line, but for what needs a server. */
class DocumentedCommandsTest {

    private static final String LAUNCHER = "example-nfs/nfs ";

    @TempDir
    private Path local;

    static List<String> commands() throws IOException {
        List<String> commands = new ArrayList<>();
        try (Stream<Path> pages = Files.list(Path.of("../docs"))) {
            Stream<Path> documents = Stream.concat(Stream.of(Path.of("../README.md"), Path.of("README.md")), pages);
            for (Path document : documents.filter(Files::isRegularFile).toList()) {
                for (String line : Files.readAllLines(document)) {
                    if (line.startsWith(LAUNCHER) && !line.contains("--export") && !line.contains("rdma://")) {
                        commands.add(line.substring(LAUNCHER.length()).replaceFirst("\\s+#.*", "").strip());
                    }
                }
            }
        }
        assertFalse(commands.isEmpty());
        return commands;
    }

    /** The capture is one of a Linux server; the demonstration copies a small folder. */
    @ParameterizedTest
    @MethodSource("commands")
    void shouldRun(String command) throws IOException {
        Path capture = Files.write(local.resolve("capture.pcap"), Captures.ofLinuxServer());
        Path folder = Files.createDirectories(local.resolve("folder"));
        Files.write(folder.resolve("file"), new byte[100_000]);
        String here = command.replace("capture.pcap", capture.toString()).replaceFirst("^demo$", "demo --from " + folder);

        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = NfsCommand.newCommandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err))
                .execute(here.split(" "));

        assertEquals(0, exitCode, err::toString);
        assertFalse(out.toString().isBlank());
    }
}
