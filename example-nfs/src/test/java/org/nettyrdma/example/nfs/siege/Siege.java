package org.nettyrdma.example.nfs.siege;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.nettyrdma.example.nfs.Transport;
import org.nettyrdma.example.nfs.client.NfsEndpoint;
import org.nettyrdma.example.nfs.siege.LegalClient.Latencies;

/**
 * Attacks a server in one way after the other, and judges throughout what a client of each transport that keeps to the rules sees
 * of it, and what the server takes of memory, descriptors and log. {@code fuzz/siege} runs it.
 */
final class Siege implements AutoCloseable {

    /** Legal calls may take so many times as long as before; what is shorter than these anyway is not looked at. */
    private static final double MOST_TIMES = 2;
    private static final double P50_FLOOR_MILLIS = 10;
    private static final double P99_FLOOR_MILLIS = 100;
    /** The legal clients have so long to find their share. */
    private static final long SETTLING_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Connections that were ended keep their descriptors until the device has given all back. */
    private static final long DRAINING_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int SPARE_DESCRIPTORS = 16;
    private static final int LOG_LINES_PER_SECOND = 25;
    private static final int SPARE_LOG_LINES = 50;

    private static final String LOG = "server.log";

    private final PrintStream out;
    private final int seconds;
    private final List<Double> floorMillis;
    private final int judgedSeconds;
    private final long mostMebibytes;
    private final SiegedServer server;
    private final AttackTarget target;
    private final Map<Transport, NfsEndpoint> endpoints = new EnumMap<>(Transport.class);
    private final Map<Transport, LegalClient> clients = new EnumMap<>(Transport.class);
    private final List<String> missed = new ArrayList<>();

    /**
     * @param seconds how long each attack lasts
     * @param maxRam  memory of the server's host in GiB
     */
    private Siege(PrintStream out, Path directory, int seconds, int maxRam, List<Double> floorMillis) throws IOException {
        this.out = out;
        this.floorMillis = floorMillis;
        this.seconds = seconds;
        judgedSeconds = Math.min(seconds, 5);
        mostMebibytes = 1536L * maxRam; // the heap, as much again of other memory, and the machine's own
        Path export = Files.createDirectory(directory.resolve("export"));
        byte[] content = new byte[8 << 20];
        for (int i = 0; i < 8; i++) {
            Arrays.fill(content, i << 20, i + 1 << 20, (byte) i);
        }
        Files.write(export.resolve("file"), content);
        server = SiegedServer.start(export, maxRam + "g", directory.resolve(LOG));
        endpoints.put(Transport.RDMA, new NfsEndpoint(Transport.RDMA, "127.0.0.1", server.rdmaPort(), "/file"));
        endpoints.put(Transport.TCP, new NfsEndpoint(Transport.TCP, "127.0.0.1", server.tcpPort(), "/file"));
        target = new AttackTarget(server.rdmaPort(), server.tcpPort(), LegalClient.handle(endpoints.get(Transport.RDMA)));
        endpoints.forEach((transport, endpoint) -> {
            clients.put(transport, new LegalClient(transport, endpoint.port()));
        });
    }

    /** SECONDS GIB [ATTACK...]; ends with exit code 1 if a bar was missed, 2 if there is no such attack. */
    public static void main(String[] arguments) throws Exception {
        Map<String, Attack> named = Stream.of(Attack.values()).collect(Collectors.toMap(Attack::toString, attack -> attack));
        List<String> names = Stream.of(arguments).skip(2).toList();
        if (!named.keySet().containsAll(names)) {
            System.err.println("fuzz/siege: an attack is one of " + List.of(Attack.values()));
            System.exit(2);
        }
        List<Attack> attacks = names.isEmpty() ? List.of(Attack.values()) : names.stream().map(named::get).toList();
        List<String> missed = run(System.out, Files.createTempDirectory("siege"), Integer.parseInt(arguments[0]),
                Integer.parseInt(arguments[1]), List.of(P50_FLOOR_MILLIS, P99_FLOOR_MILLIS), attacks);
        System.out.println(missed.isEmpty() ? "no bar was missed" : missed.size() + " bars were missed");
        System.exit(missed.isEmpty() ? 0 : 1);
    }

    /**
     * Judges attacks. A server that one of them has spoilt makes place for another one.
     *
     * @param floorMillis what is looked at of the latencies' median, and of the 99th percentile
     * @return the bars that were missed
     */
    static List<String> run(PrintStream out, Path directory, int seconds, int maxRam, List<Double> floorMillis,
            List<Attack> attacks)
            throws IOException, InterruptedException {
        out.printf("%-26s %-5s %17s %17s %17s  %13s  %11s  %5s%n", "attack, " + seconds + " s", "legal", "before, p50/p99",
                "during", "after",
                "MiB", "descriptors", "lines");
        List<String> missed = new ArrayList<>();
        Queue<Attack> left = new ArrayDeque<>(attacks);
        while (!left.isEmpty()) {
            Path place = Files.createTempDirectory(directory, "server");
            try (Siege siege = new Siege(out, place, seconds, maxRam, floorMillis)) {
                TimeUnit.SECONDS.sleep(siege.judgedSeconds); // to warm up
                while (siege.missed.isEmpty() && !left.isEmpty()) {
                    siege.judge(left.remove());
                }
                siege.missed.forEach(bar -> out.println("    " + bar));
                if (!siege.missed.isEmpty()) {
                    out.println("    log: " + place.resolve(LOG));
                }
                out.flush();
                missed.addAll(siege.missed);
            }
        }
        return missed;
    }

    private void judge(Attack attack) throws IOException, InterruptedException {
        int linesBefore = server.logLines().size();
        long memoryBefore = server.residentMebibytes();
        long descriptorsBefore = server.descriptors();
        Map<Transport, Latencies> before = observe();
        long beganNanos;
        String report;
        long memoryPeak;
        Process attacker = start(attack);
        try (BufferedReader output = new BufferedReader(new InputStreamReader(attacker.getInputStream(),
                StandardCharsets.UTF_8))) {
            require("begun", output.readLine());
            beganNanos = System.nanoTime();
            report = output.readLine();
            memoryPeak = server.residentMebibytes();
        } finally {
            attacker.destroyForcibly();
        }
        long endedNanos = System.nanoTime();
        Map<Transport, Latencies> during = latencies(beganNanos + SETTLING_NANOS, endedNanos);
        TimeUnit.NANOSECONDS.sleep(SETTLING_NANOS);
        Map<Transport, Latencies> after = observe();
        long descriptors = descriptorsAfter(descriptorsBefore + SPARE_DESCRIPTORS);
        List<String> lines = server.logLines();
        lines = lines.subList(linesBefore, lines.size());
        endpoints.forEach((transport, endpoint) -> check(attack, "4 MiB over " + transport + " after it",
                LegalClient.readFourMebibytes(endpoint)));
        for (Transport transport : clients.keySet()) {
            print(attack, transport, before.get(transport), during.get(transport), after.get(transport),
                    memoryBefore + ">" + memoryPeak + ">" + server.residentMebibytes(), descriptorsBefore + ">" + descriptors,
                    lines.size());
            checkLatencies(attack, transport + " during", before.get(transport), during.get(transport));
            checkLatencies(attack, transport + " after", before.get(transport), after.get(transport));
        }
        out.println("    " + report);
        out.flush();
        check(attack, "server", server.isAlive() ? null : "has ended");
        check(attack, "descriptors", descriptors <= descriptorsBefore + SPARE_DESCRIPTORS ? null
                : descriptorsBefore + " before, " + descriptors + " after");
        check(attack, "memory", memoryPeak <= mostMebibytes ? null : memoryPeak + " MiB (limit: " + mostMebibytes + ')');
        checkLog(attack, lines, (endedNanos - beganNanos) / 1_000_000_000 + judgedSeconds);
    }

    private static void require(String expected, String line) throws IOException {
        if (!expected.equals(line)) {
            throw new IOException("the attacker has said: " + line);
        }
    }

    /** At a low priority, as attackers have machines of their own. */
    private Process start(Attack attack) throws IOException {
        List<String> command = new ArrayList<>(List.of("nice", "-n", "15", SiegedServer.java(), "-Xmx512m", "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"), AttackProcess.class.getName(), attack.name(), Integer.toString(seconds)));
        command.addAll(List.of(target.toArguments()));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private Map<Transport, Latencies> observe() throws InterruptedException {
        long fromNanos = System.nanoTime();
        TimeUnit.SECONDS.sleep(judgedSeconds);
        return latencies(fromNanos, System.nanoTime());
    }

    private Map<Transport, Latencies> latencies(long fromNanos, long toNanos) {
        return clients.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, client -> client.getValue().between(fromNanos, toNanos)));
    }

    private long descriptorsAfter(long most) throws IOException, InterruptedException {
        long deadlineNanos = System.nanoTime() + DRAINING_NANOS;
        long descriptors = server.descriptors();
        while (descriptors > most && System.nanoTime() - deadlineNanos < 0) {
            TimeUnit.MILLISECONDS.sleep(100);
            descriptors = server.descriptors();
        }
        return descriptors;
    }

    private void print(Attack attack, Transport transport, Latencies before, Latencies during, Latencies after, String memory,
                       String descriptors, int lines) {
        out.printf(Locale.ROOT, "%-26s %-5s %8.1f/%8.1f %8.1f/%8.1f %8.1f/%8.1f  %13s  %11s  %5d%n",
                attack, transport, before.p50Millis(), before.p99Millis(),
                during.p50Millis(), during.p99Millis(), after.p50Millis(), after.p99Millis(), memory, descriptors, lines);
    }

    private void checkLatencies(Attack attack, String when, Latencies before, Latencies then) {
        check(attack, when, then.failures().isEmpty() ? null : then.failures().toString());
        checkLatency(attack, when + ", p50", before.p50Millis(), then.p50Millis(), floorMillis.get(0));
        checkLatency(attack, when + ", p99", before.p99Millis(), then.p99Millis(), floorMillis.get(1));
    }

    private void checkLatency(Attack attack, String what, double before, double then, double floor) {
        check(attack, what, then <= Math.max(MOST_TIMES * before, floor) ? null
                : String.format(Locale.ROOT, "%.1f ms, %.1f before", then, before));
    }

    private void checkLog(Attack attack, List<String> lines, long time) {
        long most = LOG_LINES_PER_SECOND * time + SPARE_LOG_LINES;
        check(attack, "log", lines.size() <= most ? null : lines.size() + " lines (limit: " + most + ')');
        check(attack, "log", lines.stream().filter(line -> line.contains("OutOfMemoryError")).findFirst().orElse(null));
        check(attack, "log", lines.stream().anyMatch(line -> line.startsWith("\tat ")) ? "a stack trace" : null);
    }

    /** {@code fault} is {@code null} where there is none. */
    private void check(Attack attack, String bar, String fault) {
        if (fault != null) {
            missed.add("MISSED " + attack + ": " + bar + ": " + fault);
        }
    }

    @Override
    public void close() {
        clients.values().forEach(LegalClient::close);
        server.close();
    }
}
