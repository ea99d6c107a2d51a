package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.nettyrdma.codec.oncrpc.transport.RpcCallFailure;

class RpcClientTest {

    private static final String NO_AUTH = "00000000 00000000 00000000 00000000";
    private static final String SUCCESS = " 00000001 00000000 00000000 00000000 00000000";

    private long nowNanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(1); // the clock overflows during the tests
    private final RpcClient client = new RpcClient(1000, 7, () -> nowNanos);
    private final EmbeddedChannel channel = new EmbeddedChannel(client);

    RpcClientTest() {
        channel.freezeTime();
    }

    @AfterEach
    void close() {
        channel.finishAndReleaseAll();
        assertEquals(0, client.statistics().pendingCalls());
    }

    /** Nobody knows which call has lost its reply. */
    @Test
    void shouldCloseWhereThereIsNoMemoryAndFailTheCalls() {
        Future<ByteBuf> call = call(1, Unpooled.EMPTY_BUFFER);
        channel.releaseOutbound();
        channel.pipeline().fireExceptionCaught(new OutOfMemoryError("for the test"));
        channel.checkException(); // not passed on to where its trace would be logged
        assertFalse(channel.isOpen());
        assertInstanceOf(OutOfMemoryError.class, assertInstanceOf(RpcConnectionException.class, call.cause()).getCause());
    }

    @Test
    void shouldTellARecordThatIsTooLongByOneLine() {
        EmbeddedChannel end = new EmbeddedChannel(new RpcClient());
        end.pipeline().fireExceptionCaught(new TooLongFrameException("RPC record of 2 bytes, limit 1"));
        end.checkException(); // not passed on to where its trace would be logged
        end.finishAndReleaseAll();
    }

    @Test
    void shouldWriteACall() {
        call(5, hex("deadbeef"));
        assertEquals("00000007 00000000 00000002 00030d40 00000001 00000005 " + NO_AUTH + " deadbeef", readCall());
        client.call(new RpcRequest(1, 2, 3).setCredential(new OpaqueAuth(1, new byte[] {1, 2, 3, 4})));
        channel.runPendingTasks();
        assertEquals("00000008 00000000 00000002 00000001 00000002 00000003 00000001 00000004 01020304 00000000 00000000",
                readCall());
    }

    @Test
    void shouldReturnResultsAtTheirFirstByte() {
        Future<ByteBuf> call = call(5, Unpooled.EMPTY_BUFFER);
        ByteBuf reply = hex("00000007" + SUCCESS + "cafebabe");
        channel.writeInbound(reply);
        assertSame(reply, call.getNow());
        assertEquals(0xcafebabe, reply.readInt());
        reply.release();
    }

    @Test
    void shouldMatchRepliesInAnyOrder() {
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.add(call(i, Unpooled.EMPTY_BUFFER));
        }
        for (int i : new int[] {1, 2, 0}) {
            channel.writeInbound(hex("0000000" + (7 + i) + SUCCESS + "0000000" + i));
            ByteBuf results = calls.get(i).getNow();
            assertEquals(i, results.readInt());
            results.release();
        }
    }

    @Test
    void shouldNotCopyLargeArguments() {
        ByteBuf arguments = Unpooled.buffer(5000).writeZero(5000);
        call(5, arguments);
        ByteBuf message = channel.readOutbound();
        arguments.setByte(3, 0x7f);
        assertEquals(0x7f, message.getByte(43));
        message.release();
        assertEquals(0, arguments.refCnt());
    }

    @Test
    void shouldSayWhatTheCallerKnowsAboutBulkData() {
        ReplySpace space = new ReplySpace(100, List.of(4096));
        client.call(new RpcRequest(200000, 1, 5, hex("00000004 abcdabcd")).setDataItems(List.of(new DataItem(4, 4)))
                .setReplySpace(space));
        channel.runPendingTasks();
        RpcMessage message = channel.readOutbound();
        assertEquals(List.of(new DataItem(44, 4)), message.dataItems());
        assertEquals(space, message.replySpace());
        message.release();
        client.call(new RpcRequest(200000, 1, 5).setReplySpace(space));
        channel.runPendingTasks();
        RpcMessage without = channel.readOutbound();
        assertEquals(List.of(), without.dataItems());
        without.release();
    }

    @Test
    void shouldFailWithWhatTheServerSays() {
        RpcAcceptException mismatch = (RpcAcceptException) failureOf(
                "00000007 00000001 00000000 00000000 00000000 00000002 00000002 00000003");
        assertEquals(AcceptStatus.PROG_MISMATCH, mismatch.status());
        assertEquals(new VersionRange(2, 3), mismatch.versions().orElseThrow());
        assertEquals("Call of program 200000 version 1 procedure 5: PROG_MISMATCH, the server has versions 2 to 3",
                mismatch.getMessage());
        assertEquals(200000, mismatch.program());
        assertEquals(1, mismatch.version());
        assertEquals(5, mismatch.procedure());
        RpcAcceptException garbage = (RpcAcceptException) failureOf(
                "00000008 00000001 00000000 00000000 00000000 00000004");
        assertEquals(AcceptStatus.GARBAGE_ARGS, garbage.status());
        assertTrue(garbage.versions().isEmpty());
        RpcDeniedException denied = (RpcDeniedException) failureOf("00000009 00000001 00000001 00000001 00000005");
        assertEquals(new RpcReplyHeader.AuthError(9, AuthStatus.AUTH_TOOWEAK), denied.reply());
        assertTrue(denied.getMessage().endsWith("AUTH_ERROR AUTH_TOOWEAK"), denied.getMessage());
        RpcDeniedException version = (RpcDeniedException) failureOf(
                "0000000a 00000001 00000001 00000000 00000002 00000002");
        assertTrue(version.getMessage().endsWith("RPC_MISMATCH, the server speaks RPC versions 2 to 2"), version.getMessage());
    }

    @Test
    void shouldFailOnEveryTruncationOfAReply() {
        ByteBuf whole = hex("00000000" + SUCCESS);
        for (int length = 8; length < whole.readableBytes(); length++) {
            Future<ByteBuf> call = call(5, Unpooled.EMPTY_BUFFER);
            int xid = readXid();
            ByteBuf truncated = whole.copy(0, length).setInt(0, xid);
            channel.writeInbound(truncated);
            assertInstanceOf(RpcReplyException.class, call.cause(), "length " + length);
            assertEquals(0, truncated.refCnt());
        }
    }

    @Test
    void shouldDropWhatIsNeitherCallNorReply() {
        for (int length = 0; length < 8; length++) {
            channel.writeInbound(hex("00000007 00000001").slice(0, length));
        }
        ByteBuf unknown = hex("00000007 00000002");
        channel.writeInbound(unknown);
        assertEquals(0, unknown.refCnt());
        assertEquals(9, client.statistics().droppedMessages());
    }

    @Test
    void shouldPassCallsAndOtherMessages() {
        ByteBuf call = hex("00000007 00000000 00000002 00000001 00000001 00000001" + NO_AUTH);
        channel.writeInbound(call, "text");
        assertSame(call, channel.readInbound());
        assertEquals("text", channel.readInbound());
        call.release();
    }

    @Test
    void shouldCountAndReleaseRepliesThatNobodyWaitsFor() {
        ByteBuf reply = hex("00000007" + SUCCESS);
        channel.writeInbound(reply);
        assertEquals(0, reply.refCnt());
        Future<ByteBuf> call = call(5, Unpooled.EMPTY_BUFFER);
        channel.writeInbound(hex("00000007" + SUCCESS));
        ByteBuf twice = hex("00000007" + SUCCESS);
        channel.writeInbound(twice);
        assertEquals(0, twice.refCnt());
        assertEquals(2, client.statistics().unmatchedReplies());
        call.getNow().release();
    }

    @Test
    void shouldFailACallWhoseReplyDoesNotComeInTime() {
        Future<ByteBuf> call = call(5, Unpooled.EMPTY_BUFFER);
        advance(999);
        assertFalse(call.isDone());
        advance(1);
        assertInstanceOf(RpcTimeoutException.class, call.cause());
        assertEquals("Call of program 200000 version 1 procedure 5: no reply within 1000 ms", call.cause().getMessage());
        ByteBuf late = hex("00000007" + SUCCESS);
        channel.writeInbound(late);
        assertEquals(0, late.refCnt());
        assertEquals(new RpcClientStatistics(0, 1, 1, 1, 0), client.statistics());
    }

    @Test
    void shouldTakeTheTimeoutOfTheRequest() {
        Future<ByteBuf> patient = client.call(new RpcRequest(1, 1, 1).setTimeoutMillis(5000));
        Future<ByteBuf> standard = client.call(new RpcRequest(1, 1, 2));
        Future<ByteBuf> impatient = client.call(new RpcRequest(1, 1, 3).setTimeoutMillis(10));
        Future<ByteBuf> asImpatient = client.call(new RpcRequest(1, 1, 4).setTimeoutMillis(10));
        advance(10);
        assertTrue(impatient.isDone() && asImpatient.isDone());
        assertFalse(standard.isDone());
        advance(990);
        assertTrue(standard.isDone());
        assertFalse(patient.isDone());
        advance(4000);
        assertInstanceOf(RpcTimeoutException.class, patient.cause());
        assertThrows(IllegalArgumentException.class, () -> new RpcRequest(1, 1, 1).setTimeoutMillis(0));
        assertThrows(IllegalArgumentException.class, () -> new RpcClient(0));
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 1_000_000, Long.MAX_VALUE / 2_000_000})
    void shouldEndCallsInTimeBesideOneThatMayTakeForEver(long forEverMillis) {
        Future<ByteBuf> impatient = client.call(new RpcRequest(1, 1, 1).setTimeoutMillis(10));
        nowNanos += TimeUnit.MILLISECONDS.toNanos(11); // the event loop was busy, and has not looked at its timers
        Future<ByteBuf> patient = client.call(new RpcRequest(1, 1, 2).setTimeoutMillis(forEverMillis));
        advance(11);
        assertInstanceOf(RpcTimeoutException.class, impatient.cause());
        assertFalse(patient.isDone());
    }

    @Test
    void shouldFailACallWhoseArgumentsAreReleasedAlready() {
        for (int bytes : new int[] {4, 5000}) {
            ByteBuf gone = Unpooled.buffer(bytes).writeZero(bytes);
            gone.release();
            Future<ByteBuf> call = call(5, gone);
            assertInstanceOf(IllegalReferenceCountException.class, call.cause().getCause());
            assertNull(channel.readOutbound());
        }
    }

    @Test
    void shouldArmOneTimerForManyCalls() {
        List<Future<ByteBuf>> calls = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            calls.add(call(i, Unpooled.EMPTY_BUFFER));
            advance(1);
        }
        advance(899);
        assertFalse(calls.get(0).isDone());
        for (int i = 0; i < 100; i++) {
            advance(1);
            assertTrue(calls.get(i).isDone());
            assertTrue(i == 99 || !calls.get(i + 1).isDone());
        }
        assertEquals(100, client.statistics().timedOutCalls());
    }

    @Test
    void shouldFailEveryPendingCallOnceWhenTheConnectionIsLost() {
        List<Future<ByteBuf>> calls = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(call(i, Unpooled.EMPTY_BUFFER).addListener(done -> failures.add(done.cause())));
        }
        IOException reset = new IOException("Connection reset");
        channel.pipeline().fireExceptionCaught(reset);
        channel.close();
        assertEquals(5, failures.size());
        for (Future<ByteBuf> call : calls) {
            assertInstanceOf(RpcConnectionException.class, call.cause());
            assertSame(reset, call.cause().getCause());
        }
        Future<ByteBuf> afterwards = call(5, Unpooled.buffer().writeInt(1));
        assertInstanceOf(RpcConnectionException.class, afterwards.cause());
    }

    @Test
    void shouldFailCallsMadeWhileOthersFailBecauseTheConnectionIsLost() {
        List<Future<ByteBuf>> second = new ArrayList<>();
        call(1, Unpooled.EMPTY_BUFFER).addListener(done -> second.add(call(2, Unpooled.EMPTY_BUFFER)));
        channel.close();
        assertInstanceOf(ClosedChannelException.class, second.get(0).cause().getCause());
    }

    @Test
    void shouldFailPendingCallsWhenRemoved() {
        Future<ByteBuf> call = call(1, Unpooled.EMPTY_BUFFER);
        channel.pipeline().remove(client);
        assertInstanceOf(RpcConnectionException.class, call.cause());
    }

    @Test
    void shouldPassExceptionsThatDoNotComeFromTheConnection() {
        channel.pipeline().fireExceptionCaught(new IllegalStateException("passed"));
        assertThrows(IllegalStateException.class, channel::checkException);
        channel.pipeline().fireExceptionCaught(new IOException("kept"));
        channel.checkException();
    }

    @Test
    void shouldFailTheCallThatTheTransportCouldNotConvey() {
        Future<ByteBuf> refused = call(1, Unpooled.EMPTY_BUFFER);
        Future<ByteBuf> other = call(2, Unpooled.EMPTY_BUFFER);
        IllegalStateException cause = new IllegalStateException("no room for the reply");
        channel.pipeline().fireUserEventTriggered(new RpcCallFailure(7, cause));
        assertInstanceOf(RpcTransportException.class, refused.cause());
        assertSame(cause, refused.cause().getCause());
        channel.pipeline().fireUserEventTriggered(new RpcCallFailure(7, cause));
        assertEquals(1, client.statistics().unmatchedReplies());
        assertFalse(other.isDone());
        channel.writeInbound(hex("00000008" + SUCCESS));
        other.getNow().release();
    }

    @Test
    void shouldFailACallThatCannotBeWritten() {
        IllegalArgumentException cause = new IllegalArgumentException("too large");
        RpcClient refused = new RpcClient();
        EmbeddedChannel refusing = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ((ByteBuf) msg).release();
                promise.setFailure(cause);
            }
        }, refused);
        Future<ByteBuf> call = refused.call(new RpcRequest(1, 1, 1));
        refusing.runPendingTasks();
        assertInstanceOf(RpcConnectionException.class, call.cause());
        assertSame(cause, call.cause().getCause());
        assertEquals(0, refused.statistics().pendingCalls());
        assertTrue(refusing.isOpen());
    }

    @Test
    void shouldFailACallWhoseWriteEndsLater() {
        List<ChannelPromise> waiting = new ArrayList<>();
        RpcClient held = new RpcClient();
        EmbeddedChannel holding = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ((ByteBuf) msg).release();
                waiting.add(promise);
            }
        }, held);
        IllegalStateException cause = new IllegalStateException("no room");
        Future<ByteBuf> refused = held.call(new RpcRequest(1, 1, 1));
        assertTrue(waiting.get(0).tryFailure(cause));
        assertFalse(waiting.get(0).tryFailure(cause));
        assertSame(cause, refused.cause().getCause());
        assertTrue(refused.cause().getMessage().endsWith(": not written: " + cause), refused.cause().getMessage());
        Future<ByteBuf> cancelled = held.call(new RpcRequest(1, 1, 1));
        assertTrue(waiting.get(1).cancel(false));
        assertFalse(waiting.get(1).cancel(false));
        assertInstanceOf(RpcConnectionException.class, cancelled.cause());
        Future<ByteBuf> written = held.call(new RpcRequest(1, 1, 1));
        waiting.get(2).setSuccess();
        assertFalse(written.isDone());
        assertEquals(1, held.statistics().pendingCalls());
        Future<ByteBuf> lost = held.call(new RpcRequest(1, 1, 1));
        assertTrue(waiting.get(3).setUncancellable());
        waiting.get(3).setFailure(cause);
        assertTrue(((RpcConnectionException) lost.cause()).mayHaveBeenSent());
        assertEquals("Call of program 1 version 1 procedure 1: perhaps sent, its write has failed: " + cause,
                lost.cause().getMessage());
        holding.finish();
    }

    @Test
    void shouldFailACallWhoseArgumentsAreUnusable() {
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        arguments.release();
        Future<ByteBuf> call = call(1, arguments);
        assertInstanceOf(RpcConnectionException.class, call.cause());
        assertNull(channel.readOutbound());
    }

    /** Whether it is the header that finds no memory, or the composite buffer for both. */
    @ParameterizedTest
    @CsvSource({"0, 4", "0, 5000", "1, 5000"})
    void shouldFailACallForWhichThereIsNoMemory(int buffers, int argumentBytes) {
        channel.config().setAllocator(new ExhaustedAllocator(buffers));
        ByteBuf arguments = Unpooled.buffer(argumentBytes).writeZero(argumentBytes);
        Future<ByteBuf> call = call(1, arguments);
        assertInstanceOf(RpcConnectionException.class, call.cause());
        assertInstanceOf(OutOfMemoryError.class, call.cause().getCause());
        assertEquals(0, arguments.refCnt());
        assertNull(channel.readOutbound());
        assertTrue(channel.isOpen());
    }

    /** Its caller would wait for ever, as nothing else knows of it. */
    @Test
    void shouldFailACallThatThereIsNoMemoryToKeep() {
        RpcClient exhausted = new RpcClient(1000, 1, () -> {
            throw new OutOfMemoryError("expected");
        });
        EmbeddedChannel other = new EmbeddedChannel(exhausted);
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        Future<ByteBuf> call = exhausted.call(new RpcRequest(1, 1, 1, arguments));
        assertInstanceOf(OutOfMemoryError.class, assertInstanceOf(RpcConnectionException.class, call.cause()).getCause());
        assertEquals(0, arguments.refCnt());
        other.finishAndReleaseAll();
    }

    @Test
    void shouldReleaseTheArgumentsWhoseItemsAreOutOfRange() {
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        Future<ByteBuf> call = client.call(new RpcRequest(1, 1, 1, arguments)
                .setDataItems(List.of(new DataItem(Integer.MAX_VALUE, 0))));
        channel.runPendingTasks();
        assertInstanceOf(ArithmeticException.class, call.cause().getCause());
        assertEquals(0, arguments.refCnt());
    }

    @Test
    void shouldDropACancelledCall() {
        Future<ByteBuf> call = call(5, Unpooled.EMPTY_BUFFER);
        assertTrue(call.cancel(false));
        assertEquals(0, client.statistics().pendingCalls());
        ByteBuf reply = hex("00000007" + SUCCESS);
        channel.writeInbound(reply);
        assertEquals(0, reply.refCnt());
        advance(1000);
        assertEquals(0, client.statistics().timedOutCalls());
    }

    @Test
    void shouldCancelTheWriteOfACallThatIsGivenUpBeforeItWasWritten() {
        List<ChannelPromise> waiting = new ArrayList<>();
        RpcClient held = new RpcClient(1000, 1, () -> nowNanos);
        EmbeddedChannel holding = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ((ByteBuf) msg).release();
                waiting.add(promise);
            }
        }, held);
        holding.freezeTime();
        held.call(new RpcRequest(1, 1, 1)).cancel(false);
        assertTrue(waiting.get(0).isCancelled());
        Future<ByteBuf> late = held.call(new RpcRequest(1, 1, 1));
        nowNanos += TimeUnit.SECONDS.toNanos(1);
        holding.advanceTimeBy(1, TimeUnit.SECONDS);
        holding.runScheduledPendingTasks();
        assertInstanceOf(RpcTimeoutException.class, late.cause());
        assertTrue(waiting.get(1).isCancelled());
        holding.finish();
    }

    @Test
    void shouldUseTheXidOfTheRequestUnlessItIsPending() {
        Future<ByteBuf> first = client.call(new RpcRequest(1, 1, 1).setXid(-2));
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        Future<ByteBuf> second = client.call(new RpcRequest(1, 1, 1, arguments).setXid(-2));
        channel.runPendingTasks();
        assertEquals("fffffffe", readCall().substring(0, 8));
        assertNull(channel.readOutbound());
        assertFalse(first.isDone());
        assertInstanceOf(RpcConnectionException.class, second.cause());
        assertTrue(second.cause().getCause().getMessage().contains("fffffffe"));
        assertEquals(0, arguments.refCnt());
        channel.writeInbound(hex("fffffffe 00000001 00000000 00000000 00000000 00000000"));
        assertTrue(first.isSuccess());
        first.getNow().release();
    }

    @Test
    void shouldSkipTheXidOfACallThatIsStillPending() {
        RpcClient wrapped = new RpcClient(1000, -1, () -> nowNanos);
        EmbeddedChannel other = new EmbeddedChannel(wrapped);
        Future<ByteBuf> first = wrapped.call(new RpcRequest(1, 1, 1));
        Future<ByteBuf> second = wrapped.call(new RpcRequest(1, 1, 1));
        assertNotSame(first, second);
        other.runPendingTasks();
        List<Integer> xids = new ArrayList<>();
        for (ByteBuf message = other.readOutbound(); message != null; message = other.readOutbound()) {
            xids.add(message.readInt());
            message.release();
        }
        assertEquals(List.of(-1, 0), xids);
        other.finish();
    }

    @Test
    void shouldFlushTheCallsOfOneTurnTogether() {
        List<String> events = new ArrayList<>();
        RpcClient busy = new RpcClient(1000, 1, () -> nowNanos);
        // The embedded channel itself runs tasks with each write, as no event loop does.
        EmbeddedChannel observed = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                events.add("write");
                ((ByteBuf) msg).release();
                promise.setSuccess();
            }

            @Override
            public void flush(ChannelHandlerContext ctx) {
                events.add("flush");
            }
        }, busy);
        for (int i = 0; i < 3; i++) {
            busy.call(new RpcRequest(1, 1, 1));
        }
        observed.runPendingTasks();
        assertEquals(List.of("write", "write", "write", "flush"), events);
        busy.call(new RpcRequest(1, 1, 1));
        observed.pipeline().fireChannelReadComplete();
        observed.runPendingTasks();
        assertEquals(List.of("write", "flush"), events.subList(4, events.size()));
        observed.finish();
    }

    @Test
    void shouldRefuseCallsOutsideOfAPipeline() {
        ByteBuf arguments = Unpooled.buffer().writeInt(1);
        assertThrows(IllegalStateException.class, () -> new RpcClient().call(new RpcRequest(1, 1, 1, arguments)));
        assertEquals(0, arguments.refCnt());
    }

    @Test
    void shouldRefuseACallOfNothingOnAnyThread() throws InterruptedException {
        AtomicReference<Throwable> told = new AtomicReference<>();
        Thread caller = new Thread(() -> told.set(assertThrows(NullPointerException.class, () -> client.call(null))));
        caller.start();
        caller.join();
        assertEquals("request", told.get().getMessage());
        assertThrows(NullPointerException.class, () -> client.call(null));
    }

    private Future<ByteBuf> call(int procedure, ByteBuf arguments) {
        Future<ByteBuf> call = client.call(new RpcRequest(200000, 1, procedure, arguments));
        channel.runPendingTasks();
        return call;
    }

    private Throwable failureOf(String reply) {
        Future<ByteBuf> call = call(5, Unpooled.EMPTY_BUFFER);
        ByteBuf message = hex(reply);
        channel.writeInbound(message);
        assertEquals(0, message.refCnt());
        return call.cause();
    }

    private void advance(long millis) {
        nowNanos += TimeUnit.MILLISECONDS.toNanos(millis);
        channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
        channel.runScheduledPendingTasks();
    }

    private int readXid() {
        ByteBuf last = null;
        for (ByteBuf message = channel.readOutbound(); message != null; message = channel.readOutbound()) {
            if (last != null) {
                last.release();
            }
            last = message;
        }
        int xid = last.readInt();
        last.release();
        return xid;
    }

    private String readCall() {
        ByteBuf message = channel.readOutbound();
        try {
            return dump(message);
        } finally {
            message.release();
        }
    }
}
