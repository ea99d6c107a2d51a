package org.nettyrdma.codec.rpcrdma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.rpcrdma.RpcRdmaPair.awaitValue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nettyrdma.codec.oncrpc.ReplySpace;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcClient;
import org.nettyrdma.codec.oncrpc.RpcConnectionException;
import org.nettyrdma.codec.oncrpc.RpcRequest;
import org.nettyrdma.codec.oncrpc.RpcTimeoutException;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/** What a client's calls may take of memory, above all where the server does not answer them. */
@Timeout(120)
class ClientLimitsTest {

    private final BulkProgram program = new BulkProgram(true);
    private RpcRdmaPair pair;

    private void start(ResourceLimits resources) throws Exception {
        pair = new RpcRdmaPair(ShortSends.server().program(program).binding(BulkProgram.BINDING),
                ShortSends.client().binding(BulkProgram.BINDING).resources(resources));
        pair.call(BulkProgram.NULL, Unpooled.EMPTY_BUFFER).release(); // from here there is more than one credit
    }

    @AfterEach
    void stop() {
        pair.close();
        program.hanging.forEach(call -> call.arguments().release());
        // the handlers hear of the end of a connection after those that wait for it
        awaitValue(pair.client.memory()::usedBytes, 0);
        assertEquals(0, pair.client.memory().waiting());
    }

    @Test
    void shouldLetCallsWaitForMemory() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(100_000));
        Channel other = pair.connect().sync().channel();
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            Channel channel = i % 2 == 0 ? pair.channel : other;
            calls.add(channel.pipeline().get(RpcClient.class).call(new RpcRequest(BulkProgram.PROGRAM, 1,
                    BulkProgram.STORE, pair.storeArguments(pair.registered(new byte[60_000])))));
        }
        for (Future<ByteBuf> call : calls) {
            ByteBuf results = RpcRdmaPair.result(call);
            assertEquals(60_000, results.readInt());
            results.release();
        }
        assertTrue(pair.client.statistics().get(Counter.CALLS_HELD_BACK) > 0);
        assertEquals(pair.client.statistics().get(Counter.CALLS_HELD_BACK), pair.client.memory().waits());
        assertTrue(pair.client.memory().waitedNanos() > 0);
    }

    @Test
    void shouldRecordMemoryThatIsWithdrawnLate(@TempDir Path directory) throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("org.nettyrdma.LateWithdrawal").withThreshold(Duration.ofNanos(1));
            recording.start();
            start(ResourceLimits.DEFAULT);
            Future<ByteBuf> cancelled = hang(50_000, 60_000);
            RpcCall hanging = program.hanging.take();
            assertTrue(cancelled.cancel(false));
            awaitValue(() -> pair.client.statistics().get(Counter.CALLS_ABANDONED), 1);
            answer(hanging);
            awaitValue(() -> pair.client.memory().usedBytes(), 0);
            recording.stop();
            recording.dump(directory.resolve("late.jfr"));
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(directory.resolve("late.jfr")).stream()
                .filter(event -> event.getEventType().getName().equals("org.nettyrdma.LateWithdrawal"))
                .filter(event -> event.getBoolean("givenUp")).toList(); // of others the device was just not the fastest
        assertEquals(1, events.size(), events::toString);
        assertTrue(events.get(0).getLong("bytes") >= 50_000, events::toString);
        assertEquals(pair.channel.remoteAddress().toString(), events.get(0).getString("peer"));
    }

    @Test
    void shouldFailCallThatNeedsMoreThanAllMemory() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(100_000));
        RpcConnectionException failure = assertInstanceOf(RpcConnectionException.class,
                RpcRdmaPair.failure(pair.start(BulkProgram.STORE, pair.storeArguments(pair.registered(new byte[100_001])))));
        RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class, failure.getCause());
        assertEquals(RpcRdmaException.Reason.TOO_LARGE, cause.reason());
        assertTrue(cause.getMessage().endsWith(" bytes of memory (limit: 100000, ResourceLimits.maxTotalBytes or that of "
                + "RpcRdmaBuilder.memory)"), cause.getMessage());
        assertServed();
    }

    @Test
    void shouldForgetCallsThatAreCancelledWhileTheyWait() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(100_000).withMaxConnectionBytes(100_000));
        Future<ByteBuf> first = hang(100_000, 60_000);
        RpcCall hanging = program.hanging.take();
        Future<ByteBuf> cancelled = hang(50_000, 60_000);
        Future<ByteBuf> timedOut = hang(50_000, 200);
        awaitValue(() -> pair.client.statistics().get(Counter.CALLS_HELD_BACK), 2);
        assertTrue(cancelled.cancel(false));
        assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(timedOut));
        assertEquals(0, pair.client.statistics().get(Counter.CALLS_ABANDONED), "they exposed nothing");
        assertEquals(100_000, pair.client.memory().usedBytes());
        Future<ByteBuf> waiting = hang(50_000, 60_000);
        awaitValue(() -> pair.channel.isWritable() ? 1 : 0, 0);

        answer(hanging);
        RpcRdmaPair.result(first).release();
        answer(program.hanging.take());
        RpcRdmaPair.result(waiting).release();
        assertTrue(pair.channel.isWritable());
        assertServed();
        assertTrue(program.hanging.isEmpty(), "they were not sent");
    }

    @Test
    void shouldRefuseCallsWhenTooManyWait() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxTotalBytes(100_000).withMaxConnectionBytes(100_000));
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 1026; i++) {
            calls.add(hang(100_000, 60_000));
        }
        RpcConnectionException failure =
                assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(calls.get(1025)));
        RpcRdmaException cause = assertInstanceOf(RpcRdmaException.class, failure.getCause());
        assertEquals(RpcRdmaException.Reason.OVERLOADED, cause.reason());
        pair.channel.close().sync();
        for (int i = 0; i < 1025; i++) {
            assertInstanceOf(RpcConnectionException.class, RpcRdmaPair.failure(calls.get(i)));
        }
    }

    @Test
    void shouldWithdrawMemoryOfCallsGivenUpThatDoesNotFitIntoTheLimit() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxAbandonedBytes(100_000));
        Channel other = pair.connect().sync().channel();
        Future<ByteBuf> waiting = hang(10_000, 60_000);
        RpcCall answered = program.hanging.take();
        for (int i = 0; i < 2; i++) {
            assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(hang(50_000, 100)));
        }
        assertEquals(0, pair.client.statistics().get(Counter.ABANDONED_CALLS_WITHDRAWN), "exactly the limit");
        awaitValue(program.hanging::size, 2);
        Future<ByteBuf> cancelled = hang(1_000_000, 60_000);
        awaitValue(program.hanging::size, 3);
        assertTrue(cancelled.cancel(false));
        awaitValue(() -> pair.client.statistics().get(Counter.ABANDONED_CALLS_WITHDRAWN), 1);
        awaitValue(() -> pair.client.memory().usedBytes(), 110_000);
        assertServed();
        answer(answered);
        RpcRdmaPair.result(waiting).release();
        assertEquals(3, pair.client.statistics().get(Counter.CALLS_ABANDONED));
        assertTrue(pair.channel.isActive());

        answer(program.hanging.take());
        awaitValue(() -> pair.client.memory().usedBytes(), 50_000);
        assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(hang(50_000, 100)));
        assertEquals(1, pair.client.statistics().get(Counter.ABANDONED_CALLS_WITHDRAWN), "there is room again");
        other.pipeline().get(RpcClient.class).call(load()).sync().getNow().release();
    }

    @Test
    void shouldNotCountCallsGivenUpThatAreAnsweredAfterAll() throws Exception {
        start(ResourceLimits.DEFAULT.withMaxAbandonedBytes(100_000));
        for (int i = 0; i < 5; i++) {
            assertInstanceOf(RpcTimeoutException.class, RpcRdmaPair.failure(hang(60_000, 100)));
            answer(program.hanging.take());
            assertServed(); // and with it the late reply has come
        }
        assertEquals(5, pair.client.statistics().get(Counter.CALLS_ABANDONED));
        assertTrue(pair.channel.isActive());
    }

    private Future<ByteBuf> hang(int replyBytes, long timeoutMillis) {
        return pair.start(new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.HANG)
                .setReplySpace(new ReplySpace(replyBytes, List.of())).setTimeoutMillis(timeoutMillis));
    }

    private static void answer(RpcCall call) {
        call.arguments().release();
        call.reply(call.alloc().buffer());
    }

    private RpcRequest load() {
        return new RpcRequest(BulkProgram.PROGRAM, 1, BulkProgram.LOAD, pair.words(20_000, 0));
    }

    private void assertServed() throws Exception {
        RpcRdmaPair.result(pair.start(load())).release();
    }
}
