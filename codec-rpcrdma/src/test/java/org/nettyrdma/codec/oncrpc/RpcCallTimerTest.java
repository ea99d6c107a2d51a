package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nettyrdma.codec.oncrpc.RpcCallListener.Side;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;

class RpcCallTimerTest {

    private static final String NO_AUTH = "00000000 00000000 00000000 00000000";
    private static final RpcRequest REQUEST = new RpcRequest(100003, 3, 6, Unpooled.EMPTY_BUFFER);
    private static final int FIRST_XID = 7;

    private static final Comparator<String> LOST_LAST = Comparator.comparing((String call) -> call.contains("LOST"))
            .thenComparing(Comparator.naturalOrder());

    private final List<String> ended = new ArrayList<>();
    private final List<Side> begun = new ArrayList<>();
    private final RpcCallListener listener = new RpcCallListener() {
        @Override
        public void begun(Side side) {
            begun.add(side);
        }

        @Override
        public void ended(Side side, int program, int version, int procedure, Outcome outcome, long elapsedNanos) {
            ended.add(side + " " + program + " " + version + " " + procedure + " " + outcome + " " + elapsedNanos);
        }
    };
    private long nowNanos = Long.MAX_VALUE; // the clock overflows during the tests
    private final RpcClient client = new RpcClient(1, FIRST_XID, () -> nowNanos);
    private final EmbeddedChannel channel = new EmbeddedChannel(watched(), client);

    /** What stands in front of the handlers that are to be measured. */
    private ChannelHandler watched() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                RpcCallTimer.watch(ctx.channel(), listener, () -> nowNanos);
            }
        };
    }

    RpcCallTimerTest() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        assertEquals(begun.stream().map(Side::name).sorted().toList(),
                ended.stream().map(call -> call.split(" ")[0]).sorted().toList(), "each that has begun has ended once");
    }

    @ParameterizedTest
    @CsvSource({
        "'00000000 00000000 00000000 00000000 00000001', SUCCESS", // results of one word, AUTH_NONE
        "'00000000 00000006 00000005 01020304 05000000 00000000', SUCCESS", // a verifier of five bytes
        "'00000000 00000000 00000000 00000003', ERROR", // PROC_UNAVAIL
        "'00000000 00000006 00000005 01020304 05000000 00000005', ERROR", // SYSTEM_ERR behind a verifier
        "'00000001 00000001 00000001', ERROR", // MSG_DENIED
        "'00000000 00000000 00000191', ERROR", // a verifier of 401 bytes, which nobody may send
        "'00000000 00000000 ffffffff 00000000', ERROR",
        "'00000000', ERROR"})
    void shouldTellHowACallEndedAndHowLongItTook(String reply, String outcome) {
        Future<ByteBuf> call = client.call(REQUEST);
        ReferenceCountUtil.release(channel.readOutbound());
        nowNanos += 250;
        channel.writeInbound(hex("00000007 00000001 " + reply));
        assertEquals(List.of("CLIENT 100003 3 6 " + outcome + " 250"), ended);
        assertEquals(outcome.equals("SUCCESS"), call.isSuccess());
        if (call.isSuccess()) {
            call.getNow().release();
        }
    }

    @Test
    void shouldLookAtTheClockOnceForABatchOfReplies() {
        client.call(REQUEST);
        client.call(REQUEST);
        nowNanos += 250;
        for (int xid = FIRST_XID; xid < FIRST_XID + 2; xid++) {
            channel.pipeline().fireChannelRead(hex("0000000" + xid + " 00000001 00000000 00000000 00000000 00000003"));
            nowNanos += 1000; // the program's, not the server's
        }
        assertEquals(List.of("CLIENT 100003 3 6 ERROR 250", "CLIENT 100003 3 6 ERROR 250"), ended);
        channel.pipeline().fireChannelReadComplete();
        client.call(REQUEST);
        nowNanos += 70;
        channel.writeInbound(hex("00000009 00000001 00000000 00000000 00000000 00000003"));
        assertEquals("CLIENT 100003 3 6 ERROR 70", ended.get(2));
    }

    @Test
    void shouldTellHowLongAProgramTookThatAnswersWithinABatch() {
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            nowNanos += 1000;
            call.reply(Unpooled.EMPTY_BUFFER);
        })));
        for (int xid = 7; xid < 9; xid++) {
            server.pipeline().fireChannelRead(callWithXid(xid));
        }
        server.pipeline().fireChannelReadComplete();
        server.finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 SUCCESS 1000", "SERVER 200000 1 1 SUCCESS 1000"), ended);
    }

    @Test
    void shouldTellCallsThatAreAnsweredLaterInAnyOrder() {
        List<RpcCall> calls = new ArrayList<>();
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(new TestProgram(200000, 1, 1, calls::add)));
        for (int xid = 1; xid <= 5; xid++) {
            nowNanos += 1;
            server.writeInbound(callWithXid(xid));
        }
        for (int answered : new int[] {2, 0, 4}) {
            nowNanos += 10;
            calls.get(answered).reply(Unpooled.EMPTY_BUFFER);
        }
        nowNanos += 10;
        server.close();
        calls.get(1).replyProcedureUnavailable(); // too late
        server.finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 SUCCESS 12", "SERVER 200000 1 1 SUCCESS 24", "SERVER 200000 1 1 SUCCESS 30",
                "SERVER 200000 1 1 LOST 41", "SERVER 200000 1 1 LOST 43"), ended.stream().sorted(LOST_LAST).toList());
    }

    @Test
    void shouldTellACallInWhichTheHandlerIsRemoved() {
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            nowNanos += 1000;
            call.channel().pipeline().remove(RpcServerHandler.class);
        })));
        server.writeInbound(callWithXid(7));
        assertEquals(List.of("SERVER 200000 1 1 LOST 1000"), ended);
        server.finishAndReleaseAll();
    }

    @Test
    void shouldTellCallsThatNoProgramHasSeen() {
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(TestProgram.echo()));
        server.writeInbound(hex("00000007 00000000 00000003 00030d40 00000001 00000001 " + NO_AUTH)); // another version of RPC
        server.writeInbound(hex("00000008 00000000 00000002 00030d40 00000009 00000001 " + NO_AUTH)); // of the program
        server.finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 ERROR 0", "SERVER 200000 9 1 ERROR 0"), ended);
    }

    @Test
    void shouldTellACallThatTimedOutOnce() {
        client.call(REQUEST);
        nowNanos += 1_000_000;
        channel.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
        channel.writeInbound(hex("00000007 00000001 00000000 00000000 00000000 00000000")); // late
        assertEquals(List.of("CLIENT 100003 3 6 ABANDONED 1000000"), ended);
    }

    @Test
    void shouldTellACancelledCall() {
        client.call(REQUEST).cancel(false);
        channel.runPendingTasks();
        assertEquals(List.of("CLIENT 100003 3 6 ABANDONED 0"), ended);
    }

    @Test
    void shouldTellACallWhoseWriteFails() {
        failWrites(new IOException("no room"));
        assertFalse(client.call(REQUEST).isSuccess());
        assertEquals(List.of("CLIENT 100003 3 6 FAILED 0"), ended);
    }

    @Test
    void shouldTellAsLostACallOnAConnectionThatHasEndedAndIsStillRead() {
        failWrites(new ClosedChannelException());
        assertFalse(client.call(REQUEST).isSuccess());
        assertEquals(List.of("CLIENT 100003 3 6 LOST 0"), ended);
    }

    private void failWrites(IOException cause) {
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ReferenceCountUtil.release(msg);
                promise.setFailure(cause);
            }
        });
    }

    @Test
    void shouldTellACallWhoseWriteIsCancelledWhileItWaitsForACredit() {
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                promise.addListener(written -> ReferenceCountUtil.release(msg)); // kept
            }
        });
        client.call(REQUEST).cancel(false);
        channel.runPendingTasks();
        assertEquals(List.of("CLIENT 100003 3 6 ABANDONED 0"), ended);
    }

    @Test
    void shouldTellAsLostACallThatStillWaitsBelowWhenTheConnectionEnds() {
        channel.pipeline().addBefore(channel.pipeline().context(client).name(), "waiting", new ChannelDuplexHandler() {
            private ChannelPromise waiting;

            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                ReferenceCountUtil.release(message);
                waiting = promise;
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                waiting.setFailure(new ClosedChannelException());
                ctx.fireChannelInactive();
            }
        });
        client.call(REQUEST);
        channel.close();
        assertEquals(List.of("CLIENT 100003 3 6 LOST 0"), ended);
    }

    @Test
    void shouldTellACallThatTheTransportFails() {
        client.call(REQUEST);
        channel.pipeline().fireUserEventTriggered(new RpcCallFailure(FIRST_XID, new IOException("too large")));
        assertEquals(List.of("CLIENT 100003 3 6 FAILED 0"), ended);
    }

    @Test
    void shouldTellCallsThatAreLostWithTheConnection() {
        client.call(REQUEST);
        client.call(new RpcRequest(100003, 3, 1, Unpooled.EMPTY_BUFFER));
        nowNanos += 5;
        channel.close();
        assertEquals(List.of("CLIENT 100003 3 1 LOST 5", "CLIENT 100003 3 6 LOST 5"), ended.stream().sorted().toList());
    }

    @Test
    void shouldTellServedCallsAndThoseOfTheOtherDirectionApart() {
        RpcClient reverse = new RpcClient(1000, FIRST_XID, () -> nowNanos);
        EmbeddedChannel server = new EmbeddedChannel(watched(),
                new RpcServerHandler(TestProgram.echo()), reverse);
        Future<ByteBuf> called = reverse.call(REQUEST); // with the XID that the peer uses, too
        server.writeInbound(hex("00000007 00000000 00000002 00030d40 00000001 00000001 " + NO_AUTH));
        server.writeInbound(hex("00000008 00000000 00000002 00000063 00000001 00000001 " + NO_AUTH)); // nobody serves that
        server.writeInbound(hex("00000007 00000001 00000000 00000000 00000000 00000000"));
        assertTrue(called.isSuccess());
        called.getNow().release();
        server.finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 SUCCESS 0", "SERVER 99 1 1 ERROR 0",
                "CLIENT 100003 3 6 SUCCESS 0"), ended);
    }

    @Test
    void shouldTellEachOfTwoCallsWithOneNumber() {
        List<RpcCall> calls = new ArrayList<>();
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(new TestProgram(200000, 1, 1, calls::add)));
        for (int i = 0; i < 2; i++) {
            server.writeInbound(callWithXid(7));
        }
        assertEquals(List.of(Side.SERVER, Side.SERVER), begun);
        calls.get(1).reply(Unpooled.EMPTY_BUFFER);
        server.finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 SUCCESS 0", "SERVER 200000 1 1 LOST 0"), ended);
    }

    @Test
    void shouldTellCallsApartWhenAProgramMakesTheChannelRead() {
        EmbeddedChannel[] server = new EmbeddedChannel[1];
        server[0] = new EmbeddedChannel(watched(), new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            if (call.header().xid() == 7) {
                server[0].pipeline().fireChannelRead(callWithXid(8));
            }
            nowNanos += 10;
            call.reply(Unpooled.EMPTY_BUFFER);
        })));
        server[0].writeInbound(callWithXid(7));
        server[0].finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 SUCCESS 10", "SERVER 200000 1 1 SUCCESS 20"), ended);
    }

    @Test
    void shouldTellACallThatIsLostWhileItsProgramRuns() {
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(new TestProgram(200000, 1, 1, call -> {
            nowNanos += 10;
            call.channel().close();
        })));
        server.writeInbound(callWithXid(7));
        server.finishAndReleaseAll();
        assertEquals(List.of("SERVER 200000 1 1 LOST 10"), ended);
    }

    @Test
    void shouldTellAsLostACallThatThereIsNoMemoryToWaitFor() {
        EmbeddedChannel server = new EmbeddedChannel(watched(), new RpcServerHandler(
                List.of(new TestProgram(200000, 1, 1, call -> { })), null, 1 << 20, 1000, () -> {
            throw new OutOfMemoryError("expected");
        }));
        server.writeInbound(callWithXid(7));
        assertFalse(server.isOpen());
        assertEquals(List.of("SERVER 200000 1 1 LOST 0"), ended);
        server.finishAndReleaseAll();
    }

    private static ByteBuf callWithXid(int xid) {
        return hex(String.format("%08x 00000000 00000002 00030d40 00000001 00000001 ", xid) + NO_AUTH);
    }

    @Test
    void shouldRecordCallsAboveTheThreshold(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("calls.jfr");
        try (Recording recording = new Recording()) {
            recording.enable("org.nettyrdma.RpcCall").withThreshold(Duration.ofNanos(1));
            recording.start();
            EmbeddedChannel recorded = new EmbeddedChannel();
            RpcCallListener.addTo(recorded.pipeline(), null);
            RpcClient caller = new RpcClient(1000, FIRST_XID, () -> nowNanos);
            recorded.pipeline().addLast(caller);
            Future<ByteBuf> call = caller.call(REQUEST);
            recorded.writeInbound(hex("00000007 00000001 00000000 00000000 00000000 00000000"));
            call.getNow().release();
            recorded.finishAndReleaseAll();
            recording.stop();
            recording.dump(file);
        }
        List<RecordedEvent> events = RecordingFile.readAllEvents(file);
        assertEquals(1, events.size());
        RecordedEvent event = events.get(0);
        assertEquals("CLIENT", event.getString("side"));
        assertEquals("embedded", event.getString("peer"));
        assertEquals(FIRST_XID, event.getInt("xid"));
        assertEquals(100003, event.getInt("program"));
        assertEquals(3, event.getInt("version"));
        assertEquals(6, event.getInt("procedure"));
        assertEquals("SUCCESS", event.getString("outcome"));
        assertTrue(event.getDuration().toNanos() > 0);
    }

    @Test
    void shouldCostNothingWhereNobodyListensOrRecords() {
        EmbeddedChannel unwatched = new EmbeddedChannel(new ChannelInboundHandlerAdapter());
        RpcCallListener.addTo(unwatched.pipeline(), null);
        assertNull(RpcCallTimer.of(unwatched.pipeline().firstContext(), Side.CLIENT));
        unwatched.finishAndReleaseAll();
    }
}
