package org.nettyrdma.example.nfs.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line in processes of its own: what only a process has is signals, exit codes and bytes on standard output. */
class NfsProcessTest {

    private static final int TIMEOUT_SECONDS = 60;

    @TempDir
    private Path directory;

    @Test
    void shouldServeUntilItIsTerminatedAndThenExitWith0() throws Exception {
        byte[] content = new byte[2_500_001];
        new Random(3).nextBytes(content);
        Path export = Files.createDirectory(directory.resolve("export"));
        Files.write(export.resolve("file"), content);
        Process server = start("serve", "--port", "0", "--tcp-port", "0", "--bind", "127.0.0.1", "--export", export.toString(),
                "--no-root-squash", "--statistics", "--state-dir", directory.resolve("state").toString());
        try {
            BufferedReader addresses = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8));
            String rdma = address(addresses, "rdma://127.0.0.1:");
            String tcp = address(addresses, "tcp://127.0.0.1:");
            for (String url : new String[] {rdma, tcp}) {
                Process cat = start("cat", url + "file");
                assertArrayEquals(content, cat.getInputStream().readAllBytes());
                assertEquals(0, exitCode(cat));
            }
            Path large = Files.write(directory.resolve("large"), new byte[200 << 20]);
            Process put = start("put", "--transfer-size", "4096", large.toString(), rdma);
            // Another process has no other way to say that it has begun.
            while (Files.notExists(export.resolve("large")) || Files.size(export.resolve("large")) == 0) {
                assertTrue(put.isAlive());
                Thread.onSpinWait();
            }
            server.destroy();
            assertEquals(0, exitCode(server));
            String error = new String(put.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(3, exitCode(put), error);
            assertTrue(error.startsWith("nfs put: the connection to the server was lost: "), error);
            assertEquals(1, error.lines().count(), error);
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    void shouldExitWith1WhenThePortIsTaken() throws Exception {
        Process first = start("serve", "--port", "0", "--bind", "127.0.0.1");
        try {
            String address = address(new BufferedReader(new InputStreamReader(first.getInputStream(), StandardCharsets.UTF_8)),
                    "rdma://127.0.0.1:");
            String port = address.replaceAll(".*:(\\d+)/", "$1");
            Process second = start("serve", "--port", port, "--bind", "127.0.0.1");
            String error = new String(second.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(1, exitCode(second));
            assertTrue(error.startsWith("nfs serve: cannot listen on rdma port " + port + ": "), error);
        } finally {
            first.destroyForcibly();
        }
    }

    private static String address(BufferedReader output, String prefix) throws IOException {
        String line = output.readLine();
        assertTrue(line != null && line.contains(" on " + prefix), line);
        return line.substring(line.indexOf(prefix));
    }

    private static Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", System.getProperty("java.class.path"), NfsCommand.class.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).start();
    }

    private static int exitCode(Process process) throws InterruptedException {
        assertTrue(process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS), "the process did not end");
        return process.exitValue();
    }
}
