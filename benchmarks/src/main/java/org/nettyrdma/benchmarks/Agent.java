package org.nettyrdma.benchmarks;

import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The program of the processes that are measured. Each peer has its own, so that none pays for what the JIT compiler has learnt
 * from another. It reads one JSON {@link Request} a line and answers each with an {@link Answer}, until its input ends.
 */
final class Agent {

    /** Before each answer; everything else on the standard output is chatter of libraries. */
    static final String ANSWER_PREFIX = "@answer ";

    private ServerEnd server;
    private ClientEnd client;

    private Agent() {
    }

    /** What the agent is to do. */
    enum Action {
        /** Starts the server; answers with its port. */
        SERVE,
        /** Opens connections to the port; answers with their description and the time it took. */
        CONNECT,
        /** Makes calls whose bytes are all looked at. */
        VERIFY,
        /** Runs the load; answers with what was seen. */
        MEASURE,
        /** Answers with what has been counted so far. */
        COUNT,
        /** Sleeps; answers with the processor time used meanwhile. */
        IDLE,
        /** Answers with the time that the JIT compiler has worked so far, in nanoseconds. */
        COMPILED,
        /** Answers with the memory in use. */
        MEMORY,
        /** Answers with the memory in use after a while. */
        MEMORY_LATER,
        /** Runs the load; answers with what was seen, and with the memory in use at half time. */
        MEASURE_MEMORY,
        /** Closes the connections; answers with the time it took. */
        DISCONNECT,
        /** Stops serving. */
        STOP
    }

    /**
     * One line to the agent; what an action does not need is 0 or {@code null}.
     *
     * @param action        what to do
     * @param setup         of the end to start
     * @param port          to connect to
     * @param connections   to open
     * @param load          to run
     * @param durationNanos how long
     */
    record Request(Action action, Setup setup, int port, int connections, Load load, long durationNanos) {
    }

    /**
     * One line from the agent.
     *
     * @param failure      what went wrong, {@code null} if nothing did
     * @param unavailable  whether the peer cannot be used on this machine at all
     * @param value        the port, or what was asked for
     * @param description  of the connections
     * @param counters     at the end of the action
     * @param elapsedNanos of the action
     * @param latencies    a compressed histogram in base 64
     * @param memory       in use
     */
    record Answer(String failure, boolean unavailable, long value, String description, Counters counters, long elapsedNanos,
            String latencies, MemoryUse memory) {

        static Answer failure(String failure, boolean unavailable) {
            return new Answer(failure, unavailable, 0, null, Counters.NONE, 0, null, null);
        }
    }

    /**
     * The program.
     *
     * @param arguments none
     * @throws Exception if its input cannot be read
     */
    public static void main(String[] arguments) throws Exception {
        Gson gson = new Gson();
        Agent agent = new Agent();
        PrintStream out = System.out;
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Answer answer;
            try {
                answer = agent.answer(gson.fromJson(line, Request.class));
            } catch (LinkageError e) {
                answer = Answer.failure(rootCause(e), true);
            } catch (Throwable e) {
                e.printStackTrace();
                answer = Answer.failure(rootCause(e), false);
            }
            out.println(ANSWER_PREFIX + gson.toJson(answer));
            out.flush();
        }
        System.exit(0); // what is open ends with the process; closing it in order can take seconds
    }

    private static String rootCause(Throwable thrown) {
        Throwable cause = thrown;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause.toString();
    }

    private Answer answer(Request request) throws Exception {
        long start = System.nanoTime();
        long value = 0;
        String description = null;
        MemoryUse memory = null;
        switch (request.action()) {
            case SERVE -> {
                server = Ends.serve(request.setup());
                value = server.port();
            }
            case CONNECT -> {
                client = Ends.connect(request.setup(), request.port(), request.connections());
                description = client.description();
            }
            case VERIFY -> client.verify(request.load());
            case MEASURE -> {
                return measure(request, null);
            }
            case MEASURE_MEMORY -> {
                return measure(request, memoryAfter(request.durationNanos() / 2));
            }
            case IDLE -> {
                ProcessorTime before = ProcessorTime.now();
                Thread.sleep(request.durationNanos() / 1_000_000);
                value = ProcessorTime.now().nanos() - before.nanos();
            }
            case COMPILED -> value = TimeUnit.MILLISECONDS.toNanos(ManagementFactory.getCompilationMXBean()
                    .getTotalCompilationTime());
            case MEMORY -> memory = MemoryUse.now();
            case MEMORY_LATER -> memory = memoryAfter(request.durationNanos()).get();
            case DISCONNECT -> {
                client.close();
                client = null;
            }
            case STOP -> {
                server.close();
                server = null;
            }
            case COUNT -> { }
        }
        return new Answer(null, false, value, description, counters(), System.nanoTime() - start, null, memory);
    }

    private Answer measure(Request request, Future<MemoryUse> memory) throws Exception {
        LoadResult result = client.run(request.load(), request.durationNanos());
        return new Answer(null, false, 0, null, counters(), result.elapsedNanos(), Histograms.encode(result.latencies()),
                memory == null ? null : memory.get());
    }

    private static Future<MemoryUse> memoryAfter(long delayNanos) {
        return CompletableFuture.supplyAsync(MemoryUse::now, CompletableFuture.delayedExecutor(delayNanos, TimeUnit.NANOSECONDS));
    }

    private Counters counters() {
        Counters sum = Counters.NONE.with(ProcessorTime.now());
        if (server != null) {
            sum = sum.plus(server.counters());
        }
        return client == null ? sum : sum.plus(client.counters());
    }
}
