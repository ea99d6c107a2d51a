package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nettyrdma.codec.oncrpc.Hex.dump;
import static org.nettyrdma.codec.oncrpc.Hex.hex;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.TooLongFrameException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RpcServerHandlerTest {

    /** XID 7, program 200000 version 1, procedure 5, no authentication. */
    private static final String CALL =
            "00000007 00000000 00000002 00030d40 00000001 00000005 00000000 00000000 00000000 00000000";
    private static final String SUCCESS = "00000007 00000001 00000000 00000000 00000000 00000000";
    private static final String SYSTEM_ERROR = "00000007 00000001 00000000 00000000 00000000 00000005";

    /** The handlers too, since a closed channel has none. */
    private final Map<EmbeddedChannel, RpcServerHandler> channels = new HashMap<>();

    @AfterEach
    void close() {
        channels.keySet().forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    @Test
    void shouldAnswerACallWithResults() {
        AtomicReference<RpcCall> seen = new AtomicReference<>();
        EmbeddedChannel server = serve(call -> {
            seen.set(call);
            assertEquals(0xdeadbeef, call.arguments().readInt());
            call.reply(call.alloc().buffer().writeInt(0x01020304));
            assertTrue(call.isAnswered());
        });
        ByteBuf message = hex(CALL + "deadbeef");
        server.writeInbound(message);
        assertEquals(SUCCESS + " 01020304", readReply(server));
        assertEquals(0, message.refCnt());
        assertEquals(5, seen.get().procedure());
        assertEquals(1, seen.get().version());
        assertEquals(7, seen.get().header().xid());
        assertSame(server, seen.get().channel());
        assertSame(server.remoteAddress(), seen.get().remoteAddress());
        assertSame(server.alloc(), seen.get().alloc());
    }

    @Test
    void shouldAnswerWithoutResults() {
        EmbeddedChannel server = serve(call -> call.reply(Unpooled.EMPTY_BUFFER));
        server.writeInbound(hex(CALL));
        assertEquals(SUCCESS, readReply(server));
    }

    @Test
    void shouldNotCopyLargeResults() {
        ByteBuf results = Unpooled.buffer(5000).writeZero(5000);
        EmbeddedChannel server = serve(call -> call.reply(results));
        server.writeInbound(hex(CALL));
        ByteBuf reply = server.readOutbound();
        assertEquals(24 + 5000, reply.readableBytes());
        results.setByte(3, 0x7f);
        assertEquals(0x7f, reply.getByte(27));
        reply.release();
        assertEquals(0, results.refCnt());
    }

    @Test
    void shouldSayWhereBulkDataLiesInTheWholeReply() {
        EmbeddedChannel server = serve(call -> call.reply(hex("00000004 abcdabcd"), List.of(new DataItem(4, 4))));
        server.writeInbound(hex(CALL));
        RpcMessage reply = server.readOutbound();
        assertEquals(SUCCESS + " 00000004 abcdabcd", dump(reply.content()));
        assertEquals(List.of(new DataItem(28, 4)), reply.dataItems());
        assertNull(reply.replySpace());
        reply.release();
    }

    @Test
    void shouldAnswerUnknownProgramsAndVersions() {
        EmbeddedChannel server = serve(new TestProgram(200000, 2, 3, call -> { }), new TestProgram(200000, 5, 9, call -> { }),
                new TestProgram(300000, 1, 1, call -> { }));
        server.writeInbound(hex(CALL));
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000002 00000002 00000009", readReply(server));
        server.writeInbound(hex(CALL.replace("00000001 00000005", "ffffffff 00000005")));
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000002 00000002 00000009", readReply(server));
        server.writeInbound(hex(CALL.replace("00000001 00000005", "00000004 00000005")));
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000002 00000002 00000009", readReply(server));
        server.writeInbound(hex(CALL.replace("00030d40", "00030d41")));
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000001", readReply(server));
        assertEquals(new RpcServerStatistics(0, 4, 0, 0, 0, 0), statistics(server));
    }

    @Test
    void shouldFindTheProgramThatServesTheVersion() {
        EmbeddedChannel server = serve(new TestProgram(200000, 2, 2, call -> call.reply(hex("00000002"))),
                new TestProgram(200000, 0, 1, call -> call.reply(hex("00000001"))),
                new TestProgram(200000, 0x80000000, -1, call -> call.reply(hex("ffffffff"))));
        server.writeInbound(hex(CALL));
        assertEquals(SUCCESS + " 00000001", readReply(server));
        server.writeInbound(hex(CALL.replace("00000001 00000005", "00000002 00000005")));
        assertEquals(SUCCESS + " 00000002", readReply(server));
        server.writeInbound(hex(CALL.replace("00000001 00000005", "ffffffff 00000005")));
        assertEquals(SUCCESS + " ffffffff", readReply(server));
        server.writeInbound(hex(CALL.replace("00000001 00000005", "00000003 00000005")));
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000002 00000000 ffffffff", readReply(server));
    }

    @Test
    void shouldRefuseProgramsThatOverlap() {
        assertThrows(IllegalArgumentException.class, () -> new RpcServerHandler(
                new TestProgram(1, 1, 3, call -> { }), new TestProgram(1, 3, 4, call -> { })));
        assertThrows(IllegalArgumentException.class, () -> new RpcServerHandler(
                new TestProgram(1, 2, 2, call -> { }), new TestProgram(1, 1, 4, call -> { })));
        assertThrows(IllegalArgumentException.class, () -> new RpcServerHandler(new TestProgram(1, 2, 1, call -> { })));
    }

    @Test
    void shouldAnswerOtherVersionsOfRpc() {
        EmbeddedChannel server = serve(call -> { });
        server.writeInbound(hex(CALL.replace("00000002 00030d40", "00000003 00030d40")));
        assertEquals("00000007 00000001 00000001 00000000 00000002 00000002", readReply(server));
    }

    @Test
    void shouldAnswerOrDropEveryTruncationOfACall() {
        ByteBuf whole = hex(CALL);
        for (int length = 0; length < whole.readableBytes(); length++) {
            EmbeddedChannel server = serve(call -> call.reply(Unpooled.EMPTY_BUFFER));
            server.writeInbound(whole.copy(0, length));
            if (length < 8) {
                assertNull(server.readOutbound());
                assertEquals(new RpcServerStatistics(0, 0, 1, 0, 0, 0), statistics(server));
            } else if (length < 24) {
                assertEquals("00000007 00000001 00000000 00000000 00000000 00000004", readReply(server));
            } else {
                String status = length < 32 ? "00000001" : "00000003";
                assertEquals("00000007 00000001 00000001 00000001 " + status, readReply(server), "length " + length);
            }
        }
    }

    @Test
    void shouldDropWhatIsNeitherCallNorReply() {
        EmbeddedChannel server = serve(call -> { });
        ByteBuf message = hex(CALL.replace("00000007 00000000", "00000007 00000002"));
        server.writeInbound(message);
        assertEquals(0, message.refCnt());
        assertEquals(1, statistics(server).droppedMessages());
    }

    @Test
    void shouldPassRepliesAndOtherMessages() {
        EmbeddedChannel server = serve(call -> { });
        ByteBuf reply = hex(SUCCESS);
        server.writeInbound(reply, "text");
        assertSame(reply, server.readInbound());
        assertEquals("text", server.readInbound());
        reply.release();
    }

    @Test
    void shouldAnswerWhatTheProgramSays() {
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000004", replyTo(RpcCall::replyGarbageArguments));
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000003", replyTo(RpcCall::replyProcedureUnavailable));
        assertEquals(SYSTEM_ERROR, replyTo(call -> call.replySystemError(new IllegalStateException("disk on fire"))));
        assertEquals("00000007 00000001 00000001 00000001 00000005",
                replyTo(call -> call.replyAuthError(AuthStatus.AUTH_TOOWEAK)));
    }

    @Test
    void shouldAnswerGarbageArgumentsWhereTheProgramCannotReadThem() {
        assertEquals("00000007 00000001 00000000 00000000 00000000 00000004",
                replyTo(call -> Xdr.readInt(call.arguments(), "argument")));
    }

    @Test
    void shouldAnswerSystemErrorWhateverTheProgramThrows() {
        assertEquals(SYSTEM_ERROR, replyTo(call -> {
            throw new Exception("checked");
        }));
        assertEquals(SYSTEM_ERROR, replyTo(call -> {
            throw new AssertionError("assertion");
        }));
        assertEquals(SYSTEM_ERROR, replyTo(call -> call.reply(endless(0))));
        assertEquals(SYSTEM_ERROR, replyTo(call -> {
            throw new OutOfMemoryError("not really");
        }));
    }

    private static ByteBuf endless(int depth) {
        return depth < 0 ? Unpooled.EMPTY_BUFFER : endless(Math.floorMod(depth + 1, 1000)).slice();
    }

    @Test
    void shouldAnswerSystemErrorWhereTheResultsAreUnusable() {
        assertEquals(SYSTEM_ERROR, replyTo(call -> {
            // Not pooled, as a pool may hand the same object out again and make it usable.
            ByteBuf results = Unpooled.buffer().writeInt(1);
            results.release();
            call.reply(results);
        }));
    }

    @Test
    void shouldReleaseTheResultsWhoseItemsAreOutOfRange() {
        ByteBuf results = Unpooled.buffer().writeInt(1);
        assertEquals(SYSTEM_ERROR, replyTo(call -> call.reply(results, List.of(new DataItem(Integer.MAX_VALUE, 0)))));
        assertEquals(0, results.refCnt());
    }

    /** Whether it is the header that finds no memory, or the composite buffer for both; the answer finds some again. */
    @ParameterizedTest
    @CsvSource({"0, 4", "0, 5000", "1, 5000"})
    void shouldAnswerSystemErrorWhereThereIsNoMemoryForTheReply(int buffers, int resultBytes) {
        ByteBuf results = Unpooled.buffer(resultBytes).writeZero(resultBytes);
        assertEquals(SYSTEM_ERROR, replyTo(call -> {
            ByteBufAllocator alloc = call.channel().config().getAllocator();
            call.channel().config().setAllocator(new ExhaustedAllocator(buffers));
            try {
                call.reply(results);
            } finally {
                call.channel().config().setAllocator(alloc);
            }
        }));
        assertEquals(0, results.refCnt());
    }

    @Test
    void shouldCloseWhereThereIsNoMemoryForAnyReply() {
        EmbeddedChannel server = serve(call -> call.reply(Unpooled.EMPTY_BUFFER));
        server.config().setAllocator(new ExhaustedAllocator(0));
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        assertEquals(0, message.refCnt());
        assertNull(server.readOutbound());
        assertFalse(server.isOpen(), "the caller would wait in vain");
    }

    @Test
    void shouldAnswerOnceThoughTheProgramThrowsAfterwards() {
        EmbeddedChannel server = serve(call -> {
            call.reply(hex("00000001"));
            throw new IllegalStateException("too late");
        });
        server.writeInbound(hex(CALL));
        assertEquals(SUCCESS + " 00000001", readReply(server));
        assertEquals(new RpcServerStatistics(1, 0, 0, 1, 0, 0), statistics(server));
    }

    @Test
    void shouldAnswerOnceThoughTheProgramAnswersTwice() {
        ByteBuf second = Unpooled.buffer().writeInt(2);
        ByteBuf third = Unpooled.buffer().writeInt(3);
        EmbeddedChannel server = serve(call -> {
            call.reply(hex("00000001"));
            assertThrows(IllegalStateException.class, () -> call.reply(second));
            assertThrows(IllegalStateException.class, () -> call.reply(third, List.of()));
            assertThrows(IllegalStateException.class, call::replyGarbageArguments);
            assertThrows(IllegalStateException.class, call::replyProcedureUnavailable);
            assertThrows(IllegalStateException.class, () -> call.replyAuthError(AuthStatus.AUTH_FAILED));
            call.replySystemError(new Exception());
        });
        server.writeInbound(hex(CALL));
        assertEquals(SUCCESS + " 00000001", readReply(server));
        assertEquals(0, second.refCnt());
        assertEquals(0, third.refCnt());
    }

    @Test
    void shouldCheckCredentials() {
        EmbeddedChannel server = serve(call -> call.reply(Unpooled.EMPTY_BUFFER));
        server.writeInbound(hex(CALL.replace("00000005 00000000 00000000", "00000005 00000006 00000000")));
        assertEquals("00000007 00000001 00000001 00000001 00000001", readReply(server));
        server.writeInbound(hex(CALL.replace("00000005 00000000 00000000", "00000005 00000001 00000004 00000000")));
        assertEquals("00000007 00000001 00000001 00000001 00000001", readReply(server));
        server.writeInbound(hex(CALL.replace("00000005 00000000 00000000",
                "00000005 00000001 00000014 00000000 00000000 00000000 00000000 00000000")));
        assertEquals(SUCCESS, readReply(server));
    }

    @Test
    void shouldAnswerSystemErrorWhereTheCheckOfCredentialsFails() {
        EmbeddedChannel server = serve(new SingleVersionProgram() {
            @Override
            public int program() {
                return 200000;
            }

            @Override
            public AuthStatus authenticate(RpcCallHeader header) {
                throw new IllegalStateException("no user database");
            }

            @Override
            public void call(RpcCall call) { }
        });
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        assertEquals(SYSTEM_ERROR, readReply(server));
        assertEquals(0, message.refCnt());
    }

    @Test
    void shouldLeaveNothingBehindOfACallThatTheProgramDropped() {
        EmbeddedChannel server = serve(call -> { });
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        assertEquals(0, message.refCnt());
        assertNull(server.readOutbound());
    }

    @Test
    void shouldReleaseAnAnswerToAConnectionThatIsGone() {
        AtomicReference<RpcCall> pending = new AtomicReference<>();
        EmbeddedChannel server = serve(pending::set);
        server.writeInbound(hex(CALL));
        server.close();
        ByteBuf results = Unpooled.buffer().writeInt(1);
        ByteBuf large = Unpooled.buffer().writeZero(5000);
        pending.get().reply(results);
        assertEquals(0, results.refCnt());
        assertThrows(IllegalStateException.class, () -> pending.get().reply(large));
        assertEquals(0, large.refCnt());
        assertEquals(1, statistics(server).lostReplies());
    }

    @Test
    void shouldRunProgramsOnTheExecutor() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(TestProgram.echo()), tasks::add));
        server.writeInbound(hex(CALL + "00000001"));
        assertNull(server.readOutbound());
        tasks.remove().run();
        server.runPendingTasks();
        assertEquals(SUCCESS + " 00000001", readReply(server));
    }

    @Test
    void shouldAnswerSystemErrorWhereTheExecutorRejects() {
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(TestProgram.echo()), task -> {
            throw new RejectedExecutionException();
        }));
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        assertEquals(SYSTEM_ERROR, readReply(server));
        assertEquals(0, message.refCnt());
    }

    @Test
    void shouldNotRunWhatWaitsForTheExecutorWhenTheConnectionIsLost() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(new TestProgram(200000, 1, 1, call -> {
            throw new AssertionError("ran");
        })), tasks::add));
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        server.close();
        tasks.remove().run();
        assertEquals(0, message.refCnt());
        assertEquals(0, statistics(server).programFailures());
    }

    @Test
    void shouldCloseWhereAReplyCannotBeWritten() {
        EmbeddedChannel server = channel(new RpcServerHandler(TestProgram.echo()), new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
                ((ByteBuf) msg).release();
                promise.setFailure(new IllegalArgumentException("too large"));
            }
        });
        server.writeInbound(hex(CALL));
        assertFalse(server.isOpen());
        assertEquals(1, statistics(server).lostReplies());
    }

    @Test
    void shouldFlushTheRepliesOfOneReadBatchTogether() {
        int[] flushes = new int[1];
        EmbeddedChannel server = channel(new RpcServerHandler(TestProgram.echo()), new ChannelOutboundHandlerAdapter() {
            @Override
            public void flush(ChannelHandlerContext ctx) {
                flushes[0]++;
                ctx.flush();
            }
        });
        server.writeInbound(hex(CALL), hex(CALL), hex(CALL));
        assertEquals(1, flushes[0]);
        assertEquals(3, server.outboundMessages().size());
    }

    @Test
    void shouldFlushAReplyToACallThatCameOutsideOfAReadBatch() {
        EmbeddedChannel server = serve(call -> call.reply(Unpooled.EMPTY_BUFFER));
        server.pipeline().fireChannelRead(hex(CALL));
        server.runPendingTasks();
        assertEquals(SUCCESS, readReply(server));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldStopReadingWhileTooMuchIsInProgress(boolean readsOfItself) {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Reads reads = new Reads();
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(TestProgram.echo()), tasks::add, 2100), reads);
        server.config().setAutoRead(readsOfItself);
        server.writeInbound(hex(CALL + "ab".repeat(60)));
        reads.expect(server, true);
        server.writeInbound(hex(CALL + "ab".repeat(60)));
        server.runPendingTasks();
        assertEquals(readsOfItself, server.config().isAutoRead(), "left to the application");
        reads.expect(server, false);
        server.writeInbound(hex(CALL));
        tasks.remove().run();
        server.runPendingTasks();
        reads.expect(server, false);
        tasks.remove().run();
        int before = reads.count;
        server.runPendingTasks();
        assertEquals(before + 1, reads.count, "what was asked for meanwhile");
        reads.expect(server, true);
        tasks.remove().run();
        server.runPendingTasks();
        assertEquals(readsOfItself, server.config().isAutoRead());
    }

    /** With AUTO_READ off, somebody has asked once for a call, and no program has got one. */
    @ParameterizedTest
    @ValueSource(strings = {
        "00000007",                                                                                  // no message
        "00000007 00000002",                                                                         // neither call nor reply
        "00000007 00000000 00000003 00030d40 00000001 00000005 00000000 00000000 00000000 00000000", // of RPC version 3
        "00000007 00000000 00000002 00030d41 00000001 00000005 00000000 00000000 00000000 00000000", // to an unknown program
    })
    void shouldReadOnBehindWhatNoProgramGets(String message) {
        Reads reads = new Reads();
        EmbeddedChannel server = channel(new RpcServerHandler(TestProgram.echo()), reads);
        server.config().setAutoRead(false);
        int before = reads.count;
        server.writeInbound(hex(message));
        assertEquals(before + 1, reads.count);
        server.writeInbound(hex(CALL));
        assertEquals(before + 1, reads.count);
    }

    @Test
    void shouldNotReadOnWhereTheApplicationHasStoppedReadingMeanwhile() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Reads reads = new Reads();
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(TestProgram.echo()), tasks::add, 100), reads);
        server.writeInbound(hex(CALL + "ab".repeat(101)));
        server.runPendingTasks();
        server.config().setAutoRead(false);
        int before = reads.count;
        tasks.remove().run();
        server.runPendingTasks();
        assertFalse(server.config().isAutoRead());
        assertEquals(before, reads.count);
        server.config().setAutoRead(true);
        assertEquals(before + 1, reads.count);
    }

    @Test
    void shouldAnswerAndReadOnWhereTheExecutorFails() {
        Reads reads = new Reads();
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(TestProgram.echo()), task -> {
            throw new OutOfMemoryError("unable to create native thread");
        }, 100), reads);
        for (int i = 0; i < 3; i++) {
            ByteBuf message = hex(CALL + "ab".repeat(101));
            server.writeInbound(message);
            assertEquals(SYSTEM_ERROR, readReply(server));
            assertEquals(0, message.refCnt());
        }
        server.runPendingTasks();
        reads.expect(server, true);
        assertEquals(3, statistics(server).programFailures());
    }

    @Test
    void shouldAnswerOnceWhereTheExecutorFailsAfterItHasRunTheCall() {
        EmbeddedChannel server = channel(new RpcServerHandler(List.of(TestProgram.echo()), task -> {
            task.run();
            throw new IllegalStateException("too late");
        }, 100));
        ByteBuf message = hex(CALL + "abcdabcd");
        server.writeInbound(message);
        assertEquals(SUCCESS + " abcdabcd", readReply(server));
        assertNull(server.readOutbound());
        assertEquals(0, message.refCnt());
    }

    /** Counts the reads that reach the channel. */
    private static final class Reads extends ChannelOutboundHandlerAdapter {

        private int count;

        @Override
        public void read(ChannelHandlerContext ctx) {
            count++;
            ctx.read();
        }

        void expect(EmbeddedChannel server, boolean passed) {
            int before = count;
            server.read();
            assertEquals(passed ? before + 1 : before, count);
        }
    }

    @Test
    void shouldTellARecordThatIsTooLongByOneLine() {
        EmbeddedChannel end = channel(new RpcServerHandler(TestProgram.echo()));
        end.pipeline().fireExceptionCaught(new TooLongFrameException("RPC record of 2 bytes, limit 1"));
        end.checkException(); // not passed on to where its trace would be logged
        end.finishAndReleaseAll();
    }

    /** Peers cause it as often as they like. */
    @Test
    void shouldCloseWhereThereIsNoMemoryAndSaySoInOneLine() {
        EmbeddedChannel end = channel(new RpcServerHandler(TestProgram.echo()));
        end.pipeline().fireExceptionCaught(new OutOfMemoryError("for the test"));
        end.checkException(); // not passed on to where its trace would be logged
        assertFalse(end.isOpen());
        end.finishAndReleaseAll();
    }

    private String replyTo(TestProgram.Procedure procedure) {
        EmbeddedChannel server = serve(procedure);
        ByteBuf message = hex(CALL);
        server.writeInbound(message);
        String reply = readReply(server);
        assertNull(server.readOutbound());
        assertEquals(0, message.refCnt());
        return reply;
    }

    private EmbeddedChannel serve(TestProgram.Procedure procedure) {
        return serve(new TestProgram(200000, 1, 1, procedure));
    }

    private EmbeddedChannel serve(RpcProgram... programs) {
        return channel(new RpcServerHandler(programs));
    }

    private EmbeddedChannel channel(RpcServerHandler handler) {
        return channel(handler, new ChannelOutboundHandlerAdapter());
    }

    private EmbeddedChannel channel(RpcServerHandler handler, ChannelOutboundHandlerAdapter below) {
        EmbeddedChannel channel = new EmbeddedChannel(below, handler);
        channels.put(channel, handler);
        return channel;
    }

    private RpcServerStatistics statistics(EmbeddedChannel server) {
        return channels.get(server).statistics();
    }

    private static String readReply(EmbeddedChannel server) {
        ByteBuf reply = server.readOutbound();
        try {
            return dump(reply);
        } finally {
            reply.release();
        }
    }
}
