package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.benchmarks.Agent.Action;
import org.nettyrdma.benchmarks.Agent.Answer;

/**
 * A peer that runs: its processes, a server and connections to it. Idle between windows.
 */
final class Contestant implements AutoCloseable {

    /** How long the server's counters may lag behind the replies that the client has got. */
    private static final long COUNTERS_LAG_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Part of a window for which the load runs before counting begins, so that caches hold what this peer needs. */
    private static final double RAMP = 0.1;

    /** A peer is warm when its JIT compilers have worked for less than this part of a run. */
    private static final double STILL_COMPILING = 0.05;
    private static final int MAX_WARM_UP_RUNS = 4;

    private final AgentProcess serverProcess;
    /** The same as the server's where there is only one. */
    private final AgentProcess clientProcess;
    private final Set<Load> verified = new HashSet<>();

    private Setup setup;
    private EndsMemory.Without without;
    private int connections;
    private int port;
    private long openNanos;
    private String description;
    private Movement movement;
    private boolean open;

    Contestant(Setup setup, Placement placement, int connections) throws IOException {
        this.setup = setup;
        this.connections = connections;
        serverProcess = start(setup, placement);
        try {
            clientProcess = placement == Placement.TWO_PROCESSES ? start(setup, placement) : serverProcess;
        } catch (IOException e) {
            serverProcess.close();
            throw e;
        }
        try {
            without = processMemory();
            open();
            rest();
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private static AgentProcess start(Setup setup, Placement placement) throws IOException {
        return AgentProcess.start(setup.peer().environment(), placement == Placement.ONE_CPU, List.of());
    }

    /** What its connection is, as the connection itself and the kernel say. */
    String description() {
        String buffers = open ? SocketBuffers.sendBuffers(port) : "";
        return buffers.isEmpty() ? description : description + "; " + buffers;
    }

    /** Looks at every byte of a call of the load, once; the windows look at the ends of each. */
    void verify(Load load) throws IOException {
        open();
        if (verified.add(load)) {
            clientProcess.run(Action.VERIFY, load, 0);
            movement.add(load, 1);
        }
    }

    /**
     * Runs a load until the JIT compiler has next to nothing left to do. It takes a method up after thousands of calls, which are
     * seconds where a call moves 1 MiB, and works beside the event loops then.
     *
     * @param seconds of one run, of which there are at most {@value #MAX_WARM_UP_RUNS}
     */
    void warmUp(Load load, double seconds) throws IOException {
        verify(load);
        long before = compilationNanos();
        boolean compiling = true;
        for (int i = 0; compiling && i < MAX_WARM_UP_RUNS; i++) {
            run(load, seconds);
            long after = compilationNanos();
            compiling = after - before > nanos(seconds * STILL_COMPILING);
            before = after;
        }
        rest();
    }

    private long compilationNanos() throws IOException {
        long compilationNanos = clientProcess.ask(Action.COMPILED).value();
        return serverProcess == clientProcess ? compilationNanos : compilationNanos + serverProcess.ask(Action.COMPILED).value();
    }

    /** Runs a load for a while and returns what it saw. */
    Window measure(Load load, double seconds) throws IOException {
        verify(load);
        run(load, seconds * RAMP);
        Counters before = settledCount();
        Answer answer = run(load, seconds);
        Window window = new Window(load, Histograms.decode(answer.latencies()), answer.elapsedNanos(),
                settledCount().minus(before));
        rest();
        return window;
    }

    /** Processor time of the processes while they have nothing to do, the first moment after the last call left out. */
    long idleNanos(double seconds) throws IOException {
        open();
        clientProcess.run(Action.IDLE, null, nanos(1)); // the JVM is still busy with what was compiled and allocated
        return clientProcess.run(Action.IDLE, null, nanos(seconds)).value();
    }

    /**
     * Closes all connections and opens others instead.
     *
     * @param changed of the same peer
     * @param number  of connections
     */
    void reopen(Setup changed, int number) throws IOException {
        disconnect();
        setup = changed;
        without = without.withHeapOf(processMemory());
        connections = number;
        open();
    }

    /** Memory of the connections, which are idle; of those that {@link #reopen} has opened, since others count classes in. */
    EndsMemory memory() throws IOException {
        EndsMemory.Without now = processMemory();
        return EndsMemory.between(without, now.client(), now.server());
    }

    /** Memory of the connections in the middle of a load, in two processes. */
    EndsMemory memoryUnderLoad(Load load, double seconds) throws IOException {
        clientProcess.tell(Action.MEASURE_MEMORY, load, nanos(seconds));
        Answer server = serverProcess.run(Action.MEMORY_LATER, null, nanos(seconds / 2));
        Answer client = clientProcess.answer();
        movement.add(load, Histograms.decode(client.latencies()).getTotalCount());
        return EndsMemory.between(without, client.memory(), server.memory());
    }

    private EndsMemory.Without processMemory() throws IOException {
        MemoryUse client = clientProcess.ask(Action.MEMORY).memory();
        return new EndsMemory.Without(client, serverProcess == clientProcess ? client
                : serverProcess.ask(Action.MEMORY).memory());
    }

    /** How long it took to open the connections, in nanoseconds. */
    long openNanos() {
        return openNanos;
    }

    /** Closes the connections, and then the server; returns how long the connections took, in nanoseconds. */
    long closeConnections() throws IOException {
        long nanos = clientProcess.ask(Action.DISCONNECT).elapsedNanos();
        serverProcess.ask(Action.STOP);
        open = false;
        return nanos;
    }

    private void disconnect() throws IOException {
        if (open) {
            closeConnections();
        }
    }

    private Answer run(Load load, double seconds) throws IOException {
        Answer answer = clientProcess.run(Action.MEASURE, load, nanos(seconds));
        movement.add(load, Histograms.decode(answer.latencies()).getTotalCount());
        return answer;
    }

    /** What both ends have counted when nothing is under way any more; the first thing said about processor time counts. */
    private Counters settledCount() throws IOException {
        long deadline = System.nanoTime() + COUNTERS_LAG_NANOS;
        Counters first = count();
        Counters counters = first;
        while (movement.lagsBehind(counters) && System.nanoTime() < deadline) {
            counters = count();
        }
        movement.check(setup.peer(), counters);
        return counters.with(first.processor());
    }

    private Counters count() throws IOException {
        Counters counters = clientProcess.ask(Action.COUNT).counters();
        return serverProcess == clientProcess ? counters : counters.plus(serverProcess.ask(Action.COUNT).counters());
    }

    private void open() throws IOException {
        if (!open) {
            port = serverProcess.serve(setup);
            Answer answer = clientProcess.connect(setup, port, connections);
            description = answer.description();
            openNanos = answer.elapsedNanos();
            movement = new Movement(setup.inlineThresholdBytes());
            open = true;
        }
    }

    /** Takes no time from those whose turn it is. */
    private void rest() throws IOException {
        if (setup.peer().spinsWhenIdle()) {
            disconnect();
        }
    }

    private static long nanos(double seconds) {
        return (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    }

    @Override
    public void close() {
        if (clientProcess != serverProcess) {
            clientProcess.close();
        }
        serverProcess.close();
    }
}
