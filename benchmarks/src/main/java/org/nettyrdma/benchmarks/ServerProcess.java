package org.nettyrdma.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/**
 * A server in a process of its own, for figures in which client and server share no heap and no threads.
 */
final class ServerProcess implements AutoCloseable {

    private static final int STOP_SECONDS = 10;
    private static final String READY = "listening on port ";

    private final Process process;
    private final int port;

    private ServerProcess(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    /** Starts this program again as the server of one transport and waits until it listens. */
    static ServerProcess start(TransportKind kind) throws IOException {
        Process process = new ProcessBuilder(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp", System.getProperty("java.class.path"),
                ServerProcess.class.getName(), kind.name()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = new BufferedReader(
                new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        String line = output.readLine();
        if (line == null || !line.startsWith(READY)) {
            process.destroy();
            throw new IOException("the server process did not start: " + line);
        }
        return new ServerProcess(process, Integer.parseInt(line.substring(READY.length())));
    }

    int port() {
        return port;
    }

    long cpuNanos() {
        return process.info().totalCpuDuration().orElseThrow().toNanos();
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close(); // the end of its input tells it to stop
            process.onExit().orTimeout(STOP_SECONDS, TimeUnit.SECONDS).join();
        } catch (IOException | CompletionException e) {
            process.destroyForcibly();
        }
    }

    /**
     * The server's program: prints its port and serves until its standard input ends.
     *
     * @param arguments the name of a {@link TransportKind}
     * @throws Exception if it cannot listen
     */
    public static void main(String[] arguments) throws Exception {
        try (BenchmarkServer server = BenchmarkServer.start(TransportKind.valueOf(arguments[0]))) {
            System.out.println(READY + server.port());
            while (System.in.read() >= 0) {
                // Whoever started this process says nothing; the end of its output says that it is done.
            }
        }
    }
}
