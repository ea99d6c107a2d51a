package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A program that does not answer in time. */
class OverdueCallTest {

    /** XID 7, program 200000 version 1, procedure 5, no authentication. */
    private static final String CALL =
            "00000007 00000000 00000002 00030d40 00000001 00000005 00000000 00000000 00000000 00000000";
    private static final String SUCCESS = "00000007 00000001 00000000 00000000 00000000 00000000";
    private static final String SYSTEM_ERROR = "00000007 00000001 00000000 00000000 00000000 00000005";

    private RpcServerHandler handler;
    private EmbeddedChannel server;

    @AfterEach
    void close() {
        server.finishAndReleaseAll();
    }

    @Test
    void shouldAnswerInPlaceOfAProgramThatTakesTooLong() {
        AtomicLong nanos = new AtomicLong();
        Queue<RpcCall> pending = new ArrayDeque<>();
        slow(pending::add, null, nanos);
        server.writeInbound(hex(CALL));
        advance(nanos, 600);
        server.writeInbound(hex(CALL));
        advance(nanos, 399);
        assertNull(server.readOutbound());
        advance(nanos, 1);
        assertEquals(SYSTEM_ERROR, readReply());
        assertNull(server.readOutbound(), "the second one has time left");
        assertEquals(new RpcServerStatistics(2, 1, 0, 0, 0, 1), handler.statistics());

        RpcCall late = pending.remove();
        assertTrue(late.isAnswered());
        ByteBuf results = Unpooled.buffer().writeInt(1);
        late.reply(results);
        late.reply(Unpooled.buffer(), List.of());
        late.replyGarbageArguments();
        late.replyAuthError(AuthStatus.AUTH_BADCRED);
        assertEquals(0, results.refCnt());
        assertNull(server.readOutbound(), "there is an answer");

        pending.remove().reply(Unpooled.EMPTY_BUFFER);
        server.runPendingTasks();
        assertEquals(SUCCESS, readReply());
        advance(nanos, 10_000);
        assertNull(server.readOutbound());
        assertEquals(1, handler.statistics().overdueCalls());
    }

    @Test
    void shouldNotRunWhatWaitedForTheExecutorTooLong() {
        AtomicLong nanos = new AtomicLong();
        Queue<Runnable> tasks = new ArrayDeque<>();
        slow(call -> {
            throw new AssertionError("ran");
        }, tasks::add, nanos);
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        advance(nanos, 1000);
        assertEquals(SYSTEM_ERROR, readReply());
        tasks.remove().run();
        server.runPendingTasks();
        assertNull(server.readOutbound());
        assertEquals(0, message.refCnt());
    }

    /** Otherwise they would wait until the connection ends. */
    @Test
    void shouldLetGoOfCallsWhoseTasksTheExecutorHasDropped() {
        AtomicLong nanos = new AtomicLong();
        Queue<Runnable> tasks = new ArrayDeque<>();
        Executor executor = task -> {
            if (!tasks.isEmpty()) {
                tasks.add(task);
            }
        };
        slow(call -> call.reply(Unpooled.EMPTY_BUFFER), executor, nanos);
        List<ByteBuf> messages = List.of(hex(CALL), hex(CALL), hex(CALL));
        messages.subList(0, 2).forEach(server::writeInbound);
        advance(nanos, 600);
        tasks.add(() -> { });
        server.writeInbound(messages.get(2));
        advance(nanos, 400);
        assertEquals(SYSTEM_ERROR, readReply());
        assertEquals(SYSTEM_ERROR, readReply());
        assertEquals(List.of(0, 0, 1), messages.stream().map(ByteBuf::refCnt).toList());

        tasks.forEach(Runnable::run);
        server.runPendingTasks();
        assertEquals(SUCCESS, readReply());
        assertNull(CallTurns.of(executor).next(0));
    }

    @Test
    void shouldForgetCallsWithoutAnAnswerWhenTheConnectionEnds() {
        AtomicLong nanos = new AtomicLong();
        slow(call -> { }, null, nanos);
        server.writeInbound(hex(CALL));
        server.close();
        advance(nanos, 1000);
        assertEquals(0, handler.statistics().overdueCalls());
    }

    /** The connection may be another protocol's then, which has no place for an answer. */
    @Test
    void shouldForgetACallInWhichTheHandlerIsRemoved() {
        AtomicLong nanos = new AtomicLong();
        slow(call -> server.pipeline().remove(handler), null, nanos);
        server.writeInbound(hex(CALL));
        assertEquals(-1, server.runScheduledPendingTasks(), "a timer is left");
        advance(nanos, 1000);
        assertEquals(0, handler.statistics().overdueCalls());
        assertNull(server.readOutbound());
    }

    @Test
    void shouldLetGoOfWhatWaitsForTheExecutorWhenTheConnectionEnds() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        slow(call -> {
            throw new AssertionError("ran");
        }, tasks::add, new AtomicLong());
        List<ByteBuf> messages = List.of(hex(CALL), hex(CALL));
        messages.forEach(server::writeInbound);
        server.close();
        messages.forEach(message -> assertEquals(0, message.refCnt()));
        tasks.forEach(Runnable::run);
        assertEquals(2, handler.statistics().calls());
    }

    /** The end of a call that waited for the executor lets the codec pass up the next one, in the midst of the timer. */
    @Test
    void shouldKeepOneTimerWhereTheEndOfACallLetsReadingGoOn() {
        AtomicLong nanos = new AtomicLong();
        handler = new RpcServerHandler(List.of(new TestProgram(200000, 1, 1, call -> {
            throw new AssertionError("ran");
        })), task -> { }, 1000, 1000, nanos::get);
        server = new EmbeddedChannel(
                new RecordMarkingCodec(64, new MemoryBudget(1 << 20), new TransferLimits(60_000, 1)), handler);
        server.freezeTime();
        String record = "80000028" + CALL;
        server.writeInbound(hex(record + record + record));
        assertEquals(1, handler.statistics().calls(), "the first takes more than the limit");
        advance(nanos, 1000);
        assertEquals(2, handler.statistics().calls());
        advance(nanos, 1000);
        assertEquals(3, handler.statistics().calls());
        assertEquals(2, handler.statistics().overdueCalls());
        server.pipeline().remove(handler);
        assertEquals(-1, server.runScheduledPendingTasks(), "a timer is left");
    }

    /** A server whose programs have a second to answer. */
    private void slow(TestProgram.Procedure procedure, Executor executor, AtomicLong nanos) {
        handler = new RpcServerHandler(List.of(new TestProgram(200000, 1, 1, procedure)), executor,
                RpcServerHandler.DEFAULT_MAX_BYTES_IN_PROGRESS, 1000, nanos::get);
        server = new EmbeddedChannel(handler);
        server.freezeTime();
    }

    private void advance(AtomicLong nanos, long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
        server.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        server.runScheduledPendingTasks();
        server.runPendingTasks();
    }

    private String readReply() {
        ByteBuf reply = server.readOutbound();
        try {
            return dump(reply);
        } finally {
            reply.release();
        }
    }
}
