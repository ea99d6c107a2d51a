package org.nettyrdma.example.nfs.siege;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.nettyrdma.example.nfs.cli.NfsCommand;

/** {@code nfs serve} as a process on a small host, for RDMA and TCP, and what it takes of that host. */
final class SiegedServer implements AutoCloseable {

    private static final Pattern PORT = Pattern.compile(" on (rdma|tcp)://127\\.0\\.0\\.1:(\\d+)/");
    private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");

    private final Process process;
    private final Path log;
    private final int rdmaPort;
    private final int tcpPort;

    private SiegedServer(Process process, Path log, int rdmaPort, int tcpPort) {
        this.process = process;
        this.log = log;
        this.rdmaPort = rdmaPort;
        this.tcpPort = tcpPort;
    }

    /**
     * Starts it with the options of the launcher.
     *
     * @param maxRam what the Java virtual machine takes for the memory of the host, such as 1g
     * @param log    gets what it writes to standard error
     */
    static SiegedServer start(Path export, String maxRam, Path log) throws IOException {
        List<String> command = new ArrayList<>(List.of(java(), "-XX:+UseParallelGC", "-XX:MaxRAMPercentage=50",
                "-XX:MaxRAM=" + maxRam,
                "-cp", System.getProperty("java.class.path"), NfsCommand.class.getName(), "serve", "--port", "0", "--tcp-port",
                "0",
                "--bind", "127.0.0.1", "--read-only", "--export", export.toString(), "--state-dir",
                export.resolveSibling("state").toString()));
        Process process = new ProcessBuilder(command).redirectError(log.toFile()).start();
        BufferedReader output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        return new SiegedServer(process, log, port(output), port(output));
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }

    private static int port(BufferedReader output) throws IOException {
        String line = output.readLine();
        Matcher matcher = PORT.matcher(line == null ? "" : line);
        if (!matcher.find()) {
            throw new IOException("the server has said: " + line);
        }
        return Integer.parseInt(matcher.group(2));
    }

    int rdmaPort() {
        return rdmaPort;
    }

    int tcpPort() {
        return tcpPort;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Memory of the process that is in use, in MiB; 0 if it has ended. */
    long residentMebibytes() throws IOException {
        if (!isAlive()) {
            return 0;
        }
        Matcher matcher = RESIDENT.matcher(Files.readString(Path.of("/proc/" + process.pid() + "/status")));
        return matcher.find() ? Long.parseLong(matcher.group(1)) / 1024 : 0;
    }

    long descriptors() throws IOException {
        if (!isAlive()) {
            return 0;
        }
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/" + process.pid() + "/fd"))) {
            return descriptors.count();
        }
    }

    List<String> logLines() throws IOException {
        return Files.readAllLines(log);
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
