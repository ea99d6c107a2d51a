package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.IllegalReferenceCountException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whose call an executor runs next; each call takes as many milliseconds of the test's clock as its procedure says. */
class CallTurnsTest {

    private static final String SYSTEM_ERROR = "00000001 00000000 00000000 00000000 00000005";

    private final Deque<Runnable> tasks = new ArrayDeque<>();
    private final List<EmbeddedChannel> connections = new ArrayList<>();
    private final List<String> order = new ArrayList<>();
    private long nowMillis = -86_400_000; // of no known origin, as that of System.nanoTime()
    /** How many calls are run before the next one ends. */
    private int othersMeanwhile;
    /** What happens while the next call runs. */
    private Runnable meanwhile = () -> { };
    private Executor executor = tasks::add;

    @AfterEach
    void end() {
        connections.forEach(EmbeddedChannel::finishAndReleaseAll);
        assertEquals(0, CallTurns.of(executor).addresses());
        assertNull(CallTurns.of(executor).next(0));
    }

    private EmbeddedChannel connect(int host, String name) {
        EmbeddedChannel connection = new EmbeddedChannel() {
            @Override
            protected SocketAddress remoteAddress0() {
                return new InetSocketAddress("192.0.2." + host, 1023);
            }
        };
        TestProgram program = new TestProgram(200000, 1, 1, call -> {
            order.add(name);
            nowMillis += call.procedure();
            Runnable happens = meanwhile;
            meanwhile = () -> { };
            happens.run();
            for (int others = othersMeanwhile; others > 0; others--) {
                othersMeanwhile = 0;
                tasks.remove().run(); // as another thread would
            }
            call.reply(Unpooled.EMPTY_BUFFER);
        });
        connection.pipeline().addLast(new RpcServerHandler(List.of(program), executor,
                RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 0, () -> TimeUnit.MILLISECONDS.toNanos(nowMillis)));
        connections.add(connection);
        return connection;
    }

    private static List<ByteBuf> call(EmbeddedChannel connection, int calls, int millis) {
        List<ByteBuf> messages = new ArrayList<>();
        for (int xid = 0; xid < calls; xid++) {
            ByteBuf message = Unpooled.buffer();
            new RpcCallHeader(xid, 200000, 1, millis, OpaqueAuth.NONE, OpaqueAuth.NONE).write(message);
            messages.add(message);
            connection.writeInbound(message);
        }
        return messages;
    }

    /** One call of an address at a time. */
    private void bound() {
        executor = new CallExecutor(tasks::add, 1);
    }

    /** Runs tasks in any order, as they are all alike, and returns whose calls were run. */
    private String run(int count) {
        order.clear();
        for (int i = 0; i < count; i++) {
            (i % 2 == 0 ? tasks.removeFirst() : tasks.removeLast()).run();
        }
        connections.forEach(EmbeddedChannel::runPendingTasks);
        return String.join("", order);
    }

    private static int replies(EmbeddedChannel connection) {
        int replies = 0;
        for (ByteBuf reply = connection.readOutbound(); reply != null; reply = connection.readOutbound()) {
            reply.release();
            replies++;
        }
        return replies;
    }

    @Test
    void shouldTakeTheConnectionsOfAnAddressInTurns() {
        call(connect(1, "a"), 5, 0);
        call(connect(1, "b"), 2, 0);
        call(connect(1, "c"), 1, 0);
        assertEquals("abcabaaa", run(8));
    }

    @Test
    void shouldTakeAddressesInTurnsHoweverManyConnectionsOneHas() {
        for (int i = 0; i < 200; i++) {
            call(connect(1, "a"), 3, 0);
        }
        call(connect(2, "b"), 2, 0);
        assertEquals("ababaa", run(6));
    }

    @Test
    void shouldRunCallsOfAConnectionInTheOrderInWhichTheyCame() {
        EmbeddedChannel connection = connect(1, "a");
        call(connection, 3, 1);
        run(3);
        for (int xid = 0; xid < 3; xid++) {
            ByteBuf reply = connection.readOutbound();
            assertEquals(xid, reply.readInt());
            reply.release();
        }
    }

    @Test
    void shouldPreferWhoHasTakenLessTime() {
        EmbeddedChannel[] slow = new EmbeddedChannel[12];
        for (int i = 0; i < slow.length; i++) {
            slow[i] = connect(1 + i % 2, "s"); // each has one call at a time
            call(slow[i], 1, 100);
        }
        run(slow.length);
        for (EmbeddedChannel each : slow) {
            call(each, 1, 100);
        }
        call(connect(3, "a"), 20, 10);
        assertEquals("aaaaa", run(5));
        call(connect(1, "b"), 1, 10); // of an address that has taken much, and yet before its other connections
        run(28);
        order.removeIf("a"::equals);
        assertTrue(order.indexOf("b") <= 1, order::toString);
    }

    @Test
    void shouldCountCallsThatRun() {
        call(connect(1, "a"), 2, 50);
        call(connect(1, "b"), 5, 10); // of the same address
        call(connect(2, "c"), 9, 10);
        othersMeanwhile = 15;
        assertEquals("acccccccccbbbbba", run(1));
    }

    /** A call that waits for something, for instance. */
    @Test
    void shouldNotCountACallThatRunsForMoreThanASecond() {
        EmbeddedChannel first = connect(1, "a");
        call(first, 1, 3_600_000);
        call(first, 3, 0);
        call(connect(2, "b"), 40, 100);
        othersMeanwhile = 43;
        String others = run(1).substring(1);
        assertTrue(others.indexOf('a') >= 10 && others.indexOf('a') <= 11, order::toString);
        assertTrue(others.lastIndexOf('a') <= 16, order::toString);
    }

    @Test
    void shouldNotLetAnIdleConnectionSaveTime() {
        EmbeddedChannel first = connect(1, "a");
        EmbeddedChannel second = connect(2, "b");
        call(second, 1, 0);
        call(first, 100, 100);
        run(101);
        call(first, 4, 100);
        call(second, 4, 100);
        assertTrue(List.of("babababa", "abababab", "bababaab").contains(run(8)), order::toString);
    }

    @Test
    void shouldNotLetOneLongCallCostMoreThanASecond() {
        EmbeddedChannel first = connect(1, "a");
        call(first, 1, 3_600_000);
        run(1);
        call(first, 1, 0);
        call(connect(2, "b"), 30, 100);
        int others = run(31).indexOf('a');
        assertTrue(others >= 10 && others <= 11, order::toString);
    }

    @Test
    void shouldDropTheCallsOfAConnectionThatEndsAndRunThoseOfOthers() {
        EmbeddedChannel first = connect(1, "a");
        List<ByteBuf> messages = call(first, 3, 0);
        EmbeddedChannel second = connect(1, "b");
        call(second, 2, 0);
        assertEquals(1, CallTurns.of(executor).addresses());
        first.close();
        messages.forEach(message -> assertEquals(0, message.refCnt()));
        assertEquals("bb", run(5));
        assertEquals(2, replies(second));
        second.close();
        assertEquals(0, CallTurns.of(executor).addresses());
    }

    @Test
    void shouldRefuseACallOfWhoHasMostWhereTheExecutorRejects() {
        executor = task -> {
            if (tasks.size() == 6) {
                throw new RejectedExecutionException();
            }
            tasks.add(task);
        };
        EmbeddedChannel first = connect(1, "a");
        EmbeddedChannel second = connect(1, "b");
        call(first, 2, 0);
        call(second, 8, 0);
        assertEquals(4, replies(second), "what was too much");
        EmbeddedChannel third = connect(2, "c");
        ByteBuf message = call(third, 1, 0).get(0);
        second.runPendingTasks();
        ByteBuf refusal = second.readOutbound();
        assertEquals("00000003 " + SYSTEM_ERROR, dump(refusal), "the newest that waited");
        refusal.release();
        assertEquals("acbabb", run(6));
        assertEquals(0, message.refCnt());
        assertEquals(List.of(2, 3, 1), List.of(replies(first), replies(second), replies(third)));
    }

    /** Otherwise the call of another would wait for a task that has run already. */
    @Test
    void shouldRefuseAnotherCallWhereATaskHasRunTheOneThatTheExecutorRejects() {
        executor = task -> {
            if (tasks.isEmpty()) {
                tasks.add(task);
            } else {
                tasks.remove().run();
                throw new RejectedExecutionException();
            }
        };
        EmbeddedChannel first = connect(1, "a");
        call(first, 1, 100);
        run(1);
        assertEquals(1, replies(first));
        order.clear();
        call(first, 1, 0);
        EmbeddedChannel second = connect(2, "b");
        call(second, 1, 0);
        assertEquals(List.of("b"), order);
        assertEquals(1, replies(second));
        first.runPendingTasks();
        ByteBuf refusal = first.readOutbound();
        assertEquals("00000000 " + SYSTEM_ERROR, dump(refusal));
        refusal.release();
        assertTrue(tasks.isEmpty());
    }

    @Test
    void shouldPassOverAnAddressThatRunsAsManyCallsAsItMay() {
        bound();
        EmbeddedChannel first = connect(1, "a");
        call(first, 3, 0);
        EmbeddedChannel second = connect(2, "b");
        call(second, 1, 100);
        othersMeanwhile = 3;
        assertEquals("abaa", run(1));
        assertEquals(List.of(3, 1), List.of(replies(first), replies(second)));
    }

    @Test
    void shouldRunCallsBeyondTheBoundWithoutTasks() {
        bound();
        EmbeddedChannel first = connect(1, "a");
        EmbeddedChannel second = connect(2, "b");
        call(first, 1, 10);
        meanwhile = () -> {
            call(first, 3, 10);
            assertEquals(0, tasks.size());
            call(second, 1, 0);
            assertEquals(1, tasks.size());
        };
        assertEquals("abaa", run(1), "as many as have no task, and those of others first");
        assertEquals("a", run(1));
        assertEquals(List.of(4, 1), List.of(replies(first), replies(second)));
    }

    @Test
    void shouldCountCallsWhoseConnectionHasEnded() {
        bound();
        EmbeddedChannel first = connect(1, "a");
        call(first, 1, 0);
        meanwhile = () -> {
            call(first, 5, 0);
            first.close();
            call(connect(1, "b"), 1, 0);
            assertEquals(0, tasks.size());
        };
        assertEquals("ab", run(1));
    }

    /** That call ends for its address, too, and those behind it have no other task. */
    @Test
    void shouldRunCallsWithoutTasksBehindOneThatBreaksItsThread() {
        bound();
        EmbeddedChannel connection = connect(1, "a");
        List<ByteBuf> messages = call(connection, 1, 0);
        meanwhile = () -> {
            call(connection, 2, 0);
            messages.get(0).release();
        };
        assertThrows(IllegalReferenceCountException.class, () -> run(1));
        assertEquals("aaa", String.join("", order));
    }

    /** A call beyond the bound has no task that the new one could run by. */
    @Test
    void shouldRefuseNoCallBeyondTheBoundWhereTheExecutorRejects() {
        executor = new CallExecutor(task -> {
            if (!order.isEmpty()) {
                throw new RejectedExecutionException();
            }
            tasks.add(task);
        }, 1);
        EmbeddedChannel first = connect(1, "a");
        EmbeddedChannel second = connect(2, "b");
        call(first, 1, 0);
        meanwhile = () -> {
            call(first, 5, 0);
            call(second, 1, 0);
            assertEquals(1, replies(second));
        };
        assertEquals("aaaaaa", run(1));
    }

    /** The thread that ran the rejected one instead of it does not come back for it. */
    @Test
    void shouldRunACallBeyondTheBoundWhereAnotherThreadHasRunTheOneThatTheExecutorRejects() {
        executor = new CallExecutor(task -> {
            if (tasks.isEmpty()) {
                tasks.add(task);
            } else {
                tasks.remove().run();
                throw new RejectedExecutionException();
            }
        }, 1);
        EmbeddedChannel first = connect(1, "a");
        call(first, 1, 0);
        meanwhile = () -> {
            call(first, 1, 0);
            call(connect(2, "b"), 1, 0);
            call(connect(3, "c"), 1, 0);
        };
        assertEquals("abca", run(1));
        assertEquals(2, replies(first));
    }
}
