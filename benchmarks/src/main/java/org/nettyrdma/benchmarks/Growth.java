package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * How figures change with the number of connections, the credits, the size of the data and the number of event loops. Each point has a
 * process or two of its own; where several peers are compared they take turns.
 */
final class Growth {

    /** Figures of a point, by their names. */
    private static final String CALLS = "calls/s";
    private static final String P99 = "p99, µs";

    private static final int OUTSTANDING = 32;
    private static final int ECHO_BYTES = 64;
    /** Credits with small queues; some calls more than are made at once, for connections that grow. */
    private static final int SMALL_CREDITS = 4;
    private static final int MANY_CONNECTIONS = 10_000;
    /** Connections with default queues; 512 KiB of receive buffers each, on each end. */
    private static final int MOST_WITH_DEFAULT_QUEUES = 1000;
    private static final int MAX_PAYLOAD_BYTES = 16 << 20;
    private static final long MOST_BYTES_OUTSTANDING = 32 << 20;

    private final int windows;
    private final double seconds;
    private final double warmUpSeconds;

    Growth(int windows, double seconds, double warmUpSeconds) {
        this.windows = windows;
        this.seconds = seconds;
        this.warmUpSeconds = warmUpSeconds;
    }

    /**
     * One point of a curve.
     *
     * @param series what the curve is of
     * @param x      what grows
     * @param values figures by their names with units
     */
    record Point(String series, long x, Map<String, Double> values) {
    }

    /**
     * Curves with one abscissa.
     *
     * @param name   for file names
     * @param title  for people
     * @param axis   what grows, with its unit
     * @param points of all series
     */
    record Curves(String name, String title, String axis, List<Point> points) {
    }

    /** Throughput, memory and time against the number of connections. */
    Curves connections() throws IOException {
        List<Point> points = new ArrayList<>();
        for (int connections = 1; connections <= MANY_CONNECTIONS; connections *= 10) {
            if (connections > OpenFiles.mostConnections()) {
                System.err.println(connections + " connections are left out: a process may have fewer files open; see ulimit -Hn");
                continue;
            }
            if (connections <= MOST_WITH_DEFAULT_QUEUES) {
                points.add(connections(Peer.RDMA.title(), Setup.of(Peer.RDMA), connections));
            }
            points.add(connections(Peer.RDMA.title() + ", small queues", Setup.of(Peer.RDMA).withSmallQueues(
                    Math.max(SMALL_CREDITS, OUTSTANDING / connections)), connections));
            points.add(connections(Peer.NIO.title(), Setup.of(Peer.NIO), connections));
        }
        return new Curves("connections", "64-byte calls, at least 32 outstanding in all, two processes", "connections", points);
    }

    private Point connections(String series, Setup setup, int connections) throws IOException {
        System.err.println(series + ", " + connections + " connections");
        Load load = new Load(Operation.ECHO, ECHO_BYTES, Math.max(1, OUTSTANDING / connections));
        Map<String, Double> values = new LinkedHashMap<>();
        try (Contestant contestant = new Contestant(setup, Placement.TWO_PROCESSES, connections)) {
            long empty = contestant.memoryWithoutConnections();
            long idle = contestant.memory();
            List<Window> seen = new ArrayList<>();
            contestant.measure(load, warmUpSeconds);
            for (int i = 0; i < windows; i++) {
                seen.add(contestant.measure(load, seconds));
            }
            values.put(CALLS, median(seen, Window::callsPerSecond));
            values.put(P99, median(seen, Window::p99Micros));
            values.put("KiB idle, both ends", (idle - empty) / 1024.0 / connections);
            values.put("KiB after calls, both ends", (contestant.memory() - empty) / 1024.0 / connections);
            values.put("ms to open", contestant.openNanos() / 1e6);
            values.put("ms to close", contestant.disconnect() / 1e6);
        }
        return new Point(series, connections, values);
    }

    /** Rate of small calls against credits. */
    Curves credits() throws IOException {
        Load load = new Load(Operation.ECHO, ECHO_BYTES, Setup.DEFAULT_CREDITS);
        List<Point> points = new ArrayList<>();
        for (int credits : new int[] {1, 8, 32, 128}) {
            try (Turns turns = new Turns(List.of(Setup.of(Peer.RDMA).withCredits(credits)), 1)) {
                points.addAll(turns.take(credits, load));
            }
        }
        return new Curves("credits", "64-byte calls, 128 outstanding, one process", "credits", points);
    }

    /** Throughput against the size of the data. */
    Curves sizes() throws IOException {
        List<Point> points = new ArrayList<>();
        List<Setup> setups = Stream.of(Peer.RDMA, Peer.EPOLL, Peer.EPOLL_256K)
                .map(peer -> Setup.of(peer).withMaxPayloadBytes(MAX_PAYLOAD_BYTES)).toList();
        try (Turns turns = new Turns(setups, 1)) {
            for (Operation operation : List.of(Operation.READ, Operation.WRITE)) {
                for (int bytes = 1 << 10; bytes <= MAX_PAYLOAD_BYTES; bytes *= 4) {
                    points.addAll(turns.take(bytes, new Load(operation, bytes, (int) Math.min(8, MOST_BYTES_OUTSTANDING / bytes))));
                }
            }
        }
        return new Curves("size", "READ and WRITE, up to 8 outstanding, one process", "bytes", points);
    }

    /** Rate of small calls against event loops. */
    Curves eventLoops() throws IOException {
        Load load = new Load(Operation.ECHO, ECHO_BYTES, OUTSTANDING);
        List<Point> points = new ArrayList<>();
        for (int loops : new int[] {1, 2}) {
            List<Setup> setups = Stream.of(Peer.RDMA, Peer.NIO, Peer.EPOLL).map(peer -> Setup.of(peer).withEventLoops(loops)).toList();
            try (Turns turns = new Turns(setups, 4)) {
                points.addAll(turns.take(loops, load));
            }
        }
        return new Curves("event-loops", "64-byte calls, 4 connections, 32 outstanding on each, one process", "event loops of each end",
                points);
    }

    /** Peers that take turns window by window, each in a process of its own. */
    private final class Turns implements AutoCloseable {

        private final List<Contestant> contestants = new ArrayList<>();

        private Turns(List<Setup> setups, int connections) throws IOException {
            try {
                for (Setup setup : setups) {
                    contestants.add(new Contestant(setup, Placement.ONE_PROCESS, connections));
                }
            } catch (IOException e) {
                close();
                throw e;
            }
        }

        private List<Point> take(long x, Load load) throws IOException {
            System.err.println(load + ", " + x);
            Map<Contestant, List<Window>> seen = new LinkedHashMap<>();
            for (Contestant contestant : contestants) {
                contestant.measure(load, warmUpSeconds);
                seen.put(contestant, new ArrayList<>());
            }
            for (int i = 0; i < windows; i++) {
                for (Contestant contestant : contestants) {
                    seen.get(contestant).add(contestant.measure(load, seconds));
                }
            }
            List<Point> points = new ArrayList<>();
            seen.forEach((contestant, list) -> points.add(point(contestant.peer(), x, load, list)));
            return points;
        }

        private Point point(Peer peer, long x, Load load, List<Window> seen) {
            Map<String, Double> values = new LinkedHashMap<>();
            if (load.bulk()) {
                values.put("GB/s", median(seen, Window::gigabytesPerSecond));
                values.put("CPU s/GB", median(seen, Window::cpuSecondsPerGigabyte));
                return new Point(peer.title() + ", " + load.operation(), x, values);
            }
            values.put(CALLS, median(seen, Window::callsPerSecond));
            values.put(P99, median(seen, Window::p99Micros));
            return new Point(peer.title(), x, values);
        }

        @Override
        public void close() {
            contestants.forEach(Contestant::close);
        }
    }

    private static double median(List<Window> windows, ToDoubleFunction<Window> figure) {
        return Statistics.median(windows.stream().mapToDouble(figure).toArray());
    }
}
