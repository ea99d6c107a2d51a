package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

/**
 * Calls of some addresses that take threads until the test lets them end, on threads of which one address may have so many. No
 * address has more, no thread is idle while a call waits that may run, and each call runs once unless its connection ends.
 */
class CallTurnsPropertyTest {

    private static final int ADDRESSES = 3;
    private static final int CONNECTIONS = 2 * ADDRESSES;

    /** What happens. */
    enum Kind { CALL, END, CLOSE }

    /**
     * Something that happens.
     *
     * @param which connection, or call that runs
     */
    record Event(Kind kind, int which) {
    }

    @Provide
    Arbitrary<List<Event>> events() {
        Arbitrary<Kind> kinds = Arbitraries.frequency(Tuple.of(12, Kind.CALL), Tuple.of(8, Kind.END), Tuple.of(1, Kind.CLOSE));
        return Combinators.combine(kinds, Arbitraries.integers().between(0, 1000)).as(Event::new).list().ofMaxSize(40);
    }

    @Property(tries = 100)
    void shouldUseAllThreadsThatAddressesMayHave(@ForAll("events") List<Event> events,
            @ForAll @IntRange(min = 1, max = 5) int threads, @ForAll @IntRange(min = 1, max = 5) int bound) throws Exception {
        Run run = new Run(threads, bound);
        try {
            for (Event event : events) {
                run.happen(event);
            }
            run.endAll();
        } finally {
            run.close();
        }
    }

    /** Its calls run on other threads, and the thread of the test answers them, as it is the event loop. */
    private static final class Connection {

        private final int address;
        private final EmbeddedChannel channel;
        private final AtomicInteger begun = new AtomicInteger();
        private int calls;
        private int ended;
        private int answered;

        Connection(int address, RpcServerHandler handler) {
            this.address = address;
            channel = new EmbeddedChannel() {
                @Override
                protected SocketAddress remoteAddress0() {
                    return new InetSocketAddress("192.0.2." + address, 1023);
                }
            };
            channel.pipeline().addLast(handler);
        }

        int inProgress() {
            return (channel.isOpen() ? calls : begun.get()) - ended;
        }
    }

    /** A call that runs. */
    private record Running(Connection connection, RpcCall call, CountDownLatch mayEnd) {
    }

    private static final class Run {

        private final int threadCount;
        private final int bound;
        private final ExecutorService threads;
        private final CallExecutor executor;
        private final List<Connection> connections = new ArrayList<>();
        private final List<Connection> all = new ArrayList<>();
        private final Map<RpcCall, Running> running = new ConcurrentHashMap<>();
        private final List<AtomicInteger> runningOf = IntStream.range(0, ADDRESSES).mapToObj(i -> new AtomicInteger()).toList();
        private final AtomicInteger tooMany = new AtomicInteger();

        Run(int threadCount, int bound) {
            this.threadCount = threadCount;
            this.bound = bound;
            threads = Executors.newFixedThreadPool(threadCount);
            executor = new CallExecutor(threads, bound);
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(connect(i % ADDRESSES));
            }
        }

        private Connection connect(int address) {
            List<Connection> self = new ArrayList<>();
            RpcProgram program = new TestProgram(200000, 1, 1, call -> run(self.get(0), call));
            self.add(new Connection(address, new RpcServerHandler(List.of(program), executor)));
            all.add(self.get(0));
            return self.get(0);
        }

        private void run(Connection connection, RpcCall call) throws InterruptedException {
            if (runningOf.get(connection.address).incrementAndGet() > bound) {
                tooMany.getAndIncrement();
            }
            connection.begun.getAndIncrement();
            Running started = new Running(connection, call, new CountDownLatch(1));
            running.put(call, started);
            started.mayEnd().await();
            runningOf.get(connection.address).getAndDecrement();
        }

        void happen(Event event) {
            Connection connection = connections.get(event.which() % CONNECTIONS);
            switch (event.kind()) {
                case CALL -> {
                    ByteBuf message = Unpooled.buffer();
                    new RpcCallHeader(connection.calls++, 200000, 1, 0, OpaqueAuth.NONE, OpaqueAuth.NONE).write(message);
                    connection.channel.writeInbound(message);
                }
                case END -> end(event.which());
                case CLOSE -> {
                    connection.channel.finishAndReleaseAll();
                    connections.set(event.which() % CONNECTIONS, connect(connection.address));
                }
            }
            awaitValue(running::size, expected());
            assertEquals(0, tooMany.get());
        }

        private int expected() {
            int[] inProgress = new int[ADDRESSES];
            all.forEach(each -> inProgress[each.address] += each.inProgress());
            return Math.min(threadCount, IntStream.of(inProgress).map(calls -> Math.min(calls, bound)).sum());
        }

        private void end(int which) {
            if (running.isEmpty()) {
                return;
            }
            List<Running> candidates = new ArrayList<>(running.values());
            candidates.sort(Comparator.comparingInt((Running each) -> all.indexOf(each.connection()))
                    .thenComparingInt(each -> each.call().header().xid()));
            Running ending = candidates.get(which % candidates.size());
            ending.connection().ended++;
            ending.call().reply(Unpooled.EMPTY_BUFFER);
            running.remove(ending.call());
            ending.mayEnd().countDown();
        }

        void endAll() {
            while (!running.isEmpty()) {
                happen(new Event(Kind.END, 0));
            }
            for (Connection each : connections) {
                each.channel.runPendingTasks();
                for (ByteBuf reply = each.channel.readOutbound(); reply != null; reply = each.channel.readOutbound()) {
                    reply.release();
                    each.answered++;
                }
                assertEquals(each.calls, each.answered);
                assertEquals(each.calls, each.begun.get());
            }
        }

        void close() throws InterruptedException {
            all.forEach(each -> each.channel.finishAndReleaseAll());
            running.values().forEach(each -> each.mayEnd().countDown());
            awaitValue(CallTurns.of(executor)::addresses, 0);
            threads.shutdownNow();
            assertTrue(threads.awaitTermination(20, TimeUnit.SECONDS));
        }
    }
}
