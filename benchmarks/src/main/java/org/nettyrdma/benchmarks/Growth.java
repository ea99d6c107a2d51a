package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How figures change with the number of connections, the credits, the size of the data and the number of event loops. What is
 * compared takes turns; a figure is the median of its windows.
 */
final class Growth {

    static final String IDLE_CLIENT = "idle client, KiB";
    static final String IDLE_SERVER = "idle server";
    static final String MILLIS_TO_OPEN = "ms to open";

    private static final int OUTSTANDING = 32;
    private static final int ECHO_BYTES = 64;
    /** Credits with small queues; some calls more than are made at once, for connections that grow. */
    private static final int SMALL_CREDITS = 4;
    private static final double KIBIBYTE = 1024;
    private static final double MEMORY_SECONDS = 1;
    private static final int PROCESSES = 2;
    private static final int[] CREDITS = {1, 8, 32, 128};
    private static final int MAX_PAYLOAD_BYTES = 16 << 20;
    private static final int MAX_BULK_OUTSTANDING = 8;
    private static final int MAX_BYTES_OUTSTANDING = 32 << 20;
    private static final int[] EVENT_LOOPS = {1, 2, 4};
    private static final int[] CONNECTIONS_OF_EVENT_LOOPS = {4, 16};

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
     * @param first  the first figure of each window, in the order of the windows
     */
    record Point(String series, long x, Map<String, Double> values, double[] first) {

        /** A point with the medians of some figures, the first with its spread. */
        private static Point of(String series, long x, List<Figure> figures, List<Window> windows) {
            Map<String, Double> values = new LinkedHashMap<>();
            double[] first = figures.get(0).of(windows);
            for (Figure figure : figures) {
                values.put(figure.title(), Statistics.median(figure.of(windows)));
                if (figure == figures.get(0)) {
                    values.put("spread, %", 100 * Statistics.spread(first));
                }
            }
            return new Point(series, x, values, first);
        }
    }

    /**
     * Curves with one abscissa.
     *
     * @param name   for file names
     * @param title  for people
     * @param axis   what grows, with its unit
     * @param points of all series
     * @param notes  what is missing and why
     * @param bars   what the points must reach
     */
    record Curves(String name, String title, String axis, List<Point> points, List<String> notes, List<GrowthBar> bars) {
    }

    /**
     * Throughput, memory and time against the number of connections.
     *
     * @param numbers of connections, in the order of the points
     */
    Curves connections(List<Integer> numbers) throws IOException {
        List<Point> points = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        try (Turns<ConnectionSeries> turns = newTurns()) {
            for (ConnectionSeries series : ConnectionSeries.values()) {
                turns.add(series, series.setup(OUTSTANDING), Placement.TWO_PROCESSES, 1);
            }
            // each compiles for itself
            turns.warmUp(new Load(Operation.ECHO, ECHO_BYTES, OUTSTANDING), warmUpSeconds * PROCESSES);
            for (int connections : numbers) {
                if (connections > OpenFiles.mostConnections()) {
                    notes.add(connections + " connections are left out, since a process may have too few files open: ulimit -Hn");
                    System.err.println(notes.get(notes.size() - 1));
                } else {
                    points.addAll(connections(turns, connections));
                }
            }
        }
        return new Curves("connections", "64-byte calls, at least 32 outstanding in all, two processes", "connections", points,
                notes, GrowthBar.ofConnections(ConnectionSeries.DEFAULT.title, ConnectionSeries.NIO.title));
    }

    private static List<Point> connections(Turns<ConnectionSeries> turns, int connections) throws IOException {
        System.err.println(connections + " connections");
        Load load = new Load(Operation.ECHO, ECHO_BYTES, (OUTSTANDING + connections - 1) / connections);
        Map<ConnectionSeries, EndsMemory> idle = new EnumMap<>(ConnectionSeries.class);
        for (ConnectionSeries series : turns.keys()) {
            turns.get(series).reopen(series.setup(load.outstanding()), connections);
            idle.put(series, turns.get(series).memory());
        }
        List<Point> points = new ArrayList<>();
        for (Map.Entry<ConnectionSeries, List<Window>> seen : turns.take(load).entrySet()) {
            ConnectionSeries series = seen.getKey();
            Contestant contestant = turns.get(series);
            Point point = Point.of(series.title, connections, Figure.CONNECTIONS, seen.getValue());
            EndsMemory active = contestant.memoryUnderLoad(load, MEMORY_SECONDS);
            point.values().put(IDLE_CLIENT, idle.get(series).clientBytes() / KIBIBYTE / connections);
            point.values().put(IDLE_SERVER, idle.get(series).serverBytes() / KIBIBYTE / connections);
            point.values().put("active client", active.clientBytes() / KIBIBYTE / connections);
            point.values().put("active server", active.serverBytes() / KIBIBYTE / connections);
            point.values().put(MILLIS_TO_OPEN, contestant.openNanos() / 1e6);
            point.values().put("ms to close", contestant.closeConnections() / 1e6);
            points.add(point);
        }
        return points;
    }

    /** What is compared at numbers of connections. */
    private enum ConnectionSeries {
        /** Queues as they come. */
        DEFAULT(Peer.RDMA.title(), Peer.RDMA),
        /** As few and as small receive buffers as the calls need. */
        SMALL(Peer.RDMA.title() + ", small queues", Peer.RDMA),
        /** The same calls over TCP. */
        NIO(Peer.NIO.title(), Peer.NIO);

        private final String title;
        private final Peer peer;

        ConnectionSeries(String title, Peer peer) {
            this.title = title;
            this.peer = peer;
        }

        private Setup setup(int outstanding) {
            Setup setup = Setup.of(peer);
            return this == SMALL ? setup.withSmallBuffers().withCredits(Math.max(SMALL_CREDITS, outstanding)) : setup;
        }
    }

    /** Rate of small calls against credits. */
    Curves credits() throws IOException {
        List<Point> points = new ArrayList<>();
        try (Turns<Integer> turns = newTurns()) {
            for (int credits : CREDITS) {
                turns.add(credits, Setup.of(Peer.RDMA).withCredits(credits), Placement.ONE_PROCESS, 1);
            }
            Load load = new Load(Operation.ECHO, ECHO_BYTES, Setup.DEFAULT_CREDITS);
            turns.warmUp(load, warmUpSeconds);
            turns.take(load).forEach((credits, seen) ->
                    points.add(Point.of(Peer.RDMA.title(), credits, Figure.SMALL_CALLS, seen)));
        }
        return new Curves("credits", "64-byte calls, 128 outstanding, one process", "credits", points, List.of(), List.of());
    }

    /** Throughput against the size of the data, which always travels in chunks. */
    Curves sizes() throws IOException {
        List<Point> points = new ArrayList<>();
        try (Turns<Peer> turns = newTurns()) {
            turns.add(Peer.RDMA, Setup.of(Peer.RDMA).withMaxPayloadBytes(MAX_PAYLOAD_BYTES).withSmallBuffers(),
                    Placement.ONE_PROCESS, 1);
            for (Peer peer : List.of(Peer.EPOLL, Peer.EPOLL_256K)) {
                turns.add(peer, Setup.of(peer).withMaxPayloadBytes(MAX_PAYLOAD_BYTES), Placement.ONE_PROCESS, 1);
            }
            for (Operation operation : List.of(Operation.READ, Operation.WRITE)) {
                turns.warmUp(new Load(operation, 1 << 16, MAX_BULK_OUTSTANDING), warmUpSeconds);
                for (int bytes = 1 << 10; bytes <= MAX_PAYLOAD_BYTES; bytes *= 4) {
                    int chunkBytes = bytes;
                    System.err.println(operation + " of " + Plots.quantity(bytes));
                    turns.take(new Load(operation, bytes, Math.min(MAX_BULK_OUTSTANDING, MAX_BYTES_OUTSTANDING / bytes)))
                            .forEach((peer, seen) -> points.add(
                                    Point.of(peer.title() + ", " + operation, chunkBytes, Figure.BULK, seen)));
                }
            }
        }
        return new Curves("size", "READ and WRITE, 8 outstanding (of 16 MiB: 2), one process", "bytes", points, List.of(),
                List.of());
    }

    /** Rate of small calls against event loops, with few connections and with some. */
    Curves eventLoops() throws IOException {
        record Key(Peer peer, int loops) {
        }
        List<Point> points = new ArrayList<>();
        List<GrowthBar> bars = new ArrayList<>();
        try (Turns<Key> turns = newTurns()) {
            for (int loops : EVENT_LOOPS) {
                for (Peer peer : List.of(Peer.RDMA, Peer.NIO, Peer.EPOLL)) {
                    turns.add(new Key(peer, loops), Setup.of(peer).withEventLoops(loops), Placement.ONE_PROCESS,
                            CONNECTIONS_OF_EVENT_LOOPS[0]);
                }
            }
            Load load = new Load(Operation.ECHO, ECHO_BYTES, OUTSTANDING);
            turns.warmUp(load, warmUpSeconds);
            for (int connections : CONNECTIONS_OF_EVENT_LOOPS) {
                for (Key key : turns.keys()) {
                    turns.get(key).reopen(Setup.of(key.peer()).withEventLoops(key.loops()), connections);
                }
                String ofConnections = ", " + connections + " connections";
                bars.addAll(GrowthBar.ofEventLoops(Peer.RDMA.title() + ofConnections,
                        List.of(Peer.NIO.title() + ofConnections, Peer.EPOLL.title() + ofConnections)));
                turns.take(load).forEach((key, seen) ->
                        points.add(Point.of(key.peer().title() + ofConnections, key.loops(), Figure.SMALL_CALLS, seen)));
            }
        }
        return new Curves("event-loops", "64-byte calls, 32 outstanding on each connection, one process",
                "event loops of each end", points, List.of(), bars);
    }

    private <K> Turns<K> newTurns() {
        return new Turns<>(windows, seconds);
    }
}
