package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.AttributeKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DuplicateRequestCacheTest {

    private static final int PROGRAM = 99;
    private static final int NULL = 0;
    /** Answers with its argument. */
    private static final int ECHO = 1;
    /** Does not answer; see {@link #held}. */
    private static final int HOLD = 2;
    /** Throws. */
    private static final int FAIL = 3;
    private static final int GARBAGE = 4;
    /** Answers with its argument, as bulk data. */
    private static final int LOAD = 5;
    /** Answers with so many bytes. */
    private static final int LONG = 6;

    private static final int ECHO_TOO = 7;
    /** Answers with results that cannot be read, as a part of them was cut off. */
    private static final int CUT_OFF = 8;

    private static final int OK = 0;
    private static final int GARBAGE_ARGS = 4;
    private static final int SYSTEM_ERR = 5;
    /** Of a reply of {@link #ECHO}. */
    private static final int REPLY_BYTES = RpcReplyHeader.SUCCESS_BYTES + 4;

    private static final AttributeKey<String> CLIENT = AttributeKey.valueOf(DuplicateRequestCacheTest.class, "client");

    private final AtomicLong clockNanos = new AtomicLong();
    private final List<EmbeddedChannel> channels = new ArrayList<>();
    private final List<RpcCall> held = new ArrayList<>();
    private DuplicateRequestCache cache = new DuplicateRequestCache(3, 100_000, 1000, clockNanos::get);
    private int executions;

    @AfterEach
    void closeChannels() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    private final class Program implements RpcProgram {

        @Override
        public int program() {
            return PROGRAM;
        }

        @Override
        public int lowestVersion() {
            return 1;
        }

        @Override
        public int highestVersion() {
            return 2;
        }

        @Override
        public Object clientOf(RpcCall call) {
            String client = call.channel().attr(CLIENT).get();
            return client == null ? RpcProgram.super.clientOf(call) : client.isEmpty() ? null : client;
        }

        @Override
        public void call(RpcCall call) {
            executions++;
            ByteBuf arguments = call.arguments();
            switch (call.procedure()) {
                case NULL, ECHO, ECHO_TOO -> call.reply(arguments.retainedSlice());
                case HOLD -> held.add(call);
                case FAIL -> throw new IllegalStateException("failed");
                case GARBAGE -> throw new XdrException("garbage");
                case LOAD -> call.reply(arguments.retainedSlice(), List.of(new DataItem(0, 4)));
                case LONG -> call.reply(call.alloc().buffer().writeZero(arguments.readInt()));
                case CUT_OFF -> {
                    ByteBuf part = call.alloc().buffer().writeZero(2000);
                    ByteBuf results = call.alloc().compositeBuffer().addComponent(true, part);
                    part.capacity(10);
                    call.reply(results);
                }
                default -> call.replyProcedureUnavailable();
            }
        }
    }

    /** Sends a call on a connection of its own. */
    private EmbeddedChannel send(String client, int xid, OpaqueAuth credential, int version, int procedure, int argument) {
        EmbeddedChannel channel = new EmbeddedChannel(new RpcServerHandler(cache.guard(new Program())));
        channel.attr(CLIENT).set(client);
        channels.add(channel);
        ByteBuf message = channel.alloc().buffer();
        new RpcCallHeader(xid, PROGRAM, version, procedure, credential, OpaqueAuth.NONE).write(message);
        channel.writeInbound(message.writeInt(argument));
        return channel;
    }

    private EmbeddedChannel send(int xid, int procedure, int argument) {
        return send(null, xid, OpaqueAuth.NONE, 1, procedure, argument);
    }

    /** Whether a call that answers with its argument is executed. */
    private boolean isExecuted(String client, int xid, OpaqueAuth credential, int version, int procedure, int argument) {
        int before = executions;
        assertEquals(argument, result(send(client, xid, credential, version, procedure, argument)));
        return executions > before;
    }

    private boolean isExecuted(int xid, int procedure, int argument) {
        return isExecuted(null, xid, OpaqueAuth.NONE, 1, procedure, argument);
    }

    private boolean isExecuted(String client, int xid) {
        return isExecuted(client, xid, OpaqueAuth.NONE, 1, ECHO, xid);
    }

    private static int result(EmbeddedChannel channel) {
        channel.runPendingTasks();
        ByteBuf reply = channel.readOutbound();
        try {
            assertEquals(OK, reply.getInt(reply.readerIndex() + 20), "accept_stat");
            return reply.getInt(reply.readerIndex() + 24);
        } finally {
            reply.release();
        }
    }

    private static int status(EmbeddedChannel channel) {
        channel.runPendingTasks();
        ByteBuf reply = channel.readOutbound();
        try {
            return reply.getInt(reply.readerIndex() + 20);
        } finally {
            reply.release();
        }
    }

    private RpcCall held() {
        return held.remove(0);
    }

    private static ByteBuf number(int value) {
        return Unpooled.buffer().writeInt(value);
    }

    @Test
    void shouldNotGuardNothing() {
        assertThrows(NullPointerException.class, () -> new DuplicateRequestCache().guard(null));
    }

    @Test
    void shouldAnswerARepeatedCallWithTheFirstReply() {
        assertTrue(isExecuted(1, ECHO, 10));
        assertEquals(10, result(send(1, ECHO, 10)));
        assertEquals(10, result(send(1, ECHO, 10)));
        assertEquals(1, executions);
        assertEquals(new DuplicateRequestStatistics(1, 2, 0, 0, 0, 0, 1, REPLY_BYTES), cache.statistics());
    }

    @Test
    void shouldTakeAnyOtherCallForANewOne() {
        cache = new DuplicateRequestCache();
        assertTrue(isExecuted(1, ECHO, 10));
        assertTrue(isExecuted(2, ECHO, 10));
        assertTrue(isExecuted(1, ECHO_TOO, 10));
        assertTrue(isExecuted(1, ECHO, 11));
        assertTrue(isExecuted(null, 1, OpaqueAuth.NONE, 2, ECHO, 10));
        assertTrue(isExecuted("other", 1, OpaqueAuth.NONE, 1, ECHO, 10));
        assertEquals(0, cache.statistics().hits());
    }

    /** A neighbour behind the same address who could compute keys could be in the place of a call before it comes. */
    @Test
    void shouldMakeKeysThatNobodyElseCanCompute() {
        send(1, HOLD, 10);
        RpcCall call = held();
        Set<CallDigest.Key> keys = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            CallDigest digest = new CallDigest();
            // The arguments were released when the program returned.
            RpcCall same = new RpcCall(call.owner(), call.header(), number(10));
            keys.add(digest.of("client", same));
            assertEquals(digest.of("client", same), digest.of("client", same));
        }
        assertEquals(3, keys.size());
    }

    @Test
    void shouldTellLongArgumentsApartByTheirEndsAndLength() {
        send(1, HOLD, 10);
        RpcCall call = held();
        CallDigest digest = new CallDigest();
        for (int length : new int[] {2 * CallDigest.END_BYTES, 2 * CallDigest.END_BYTES + 1, 1 << 20}) {
            int lastOfBeginning = CallDigest.END_BYTES - 1;
            int firstOfEnd = length - CallDigest.END_BYTES;
            Set<CallDigest.Key> keys = new HashSet<>();
            for (int changed : new int[] {0, lastOfBeginning, firstOfEnd, length - 1}) {
                keys.add(key(digest, call, Unpooled.buffer().writeZero(length).setByte(changed, 1)));
            }
            keys.add(key(digest, call, Unpooled.buffer().writeZero(length)));
            keys.add(key(digest, call, Unpooled.buffer().writeZero(length + 4)));
            assertEquals(6, keys.size(), () -> length + " bytes");
            ByteBuf inPieces = Unpooled.compositeBuffer().addComponents(true, Unpooled.buffer().writeZero(100).skipBytes(1),
                    Unpooled.buffer().writeZero(length - 99));
            assertTrue(keys.contains(key(digest, call, inPieces)));
        }
    }

    private static CallDigest.Key key(CallDigest digest, RpcCall like, ByteBuf arguments) {
        try {
            return digest.of("client", new RpcCall(like.owner(), like.header(), arguments));
        } finally {
            arguments.release();
        }
    }

    /** The stamp of AUTH_SYS is any number, and may be another one when a call is sent again. */
    @Test
    void shouldKnowACallAgainWhoseCredentialHasAnotherStamp() {
        isExecuted(null, 1, new AuthSys(1, "host", 10, 10, List.of()).toOpaqueAuth(), 1, ECHO, 10);
        isExecuted(null, 1, new AuthSys(2, "host", 10, 10, List.of()).toOpaqueAuth(), 1, ECHO, 10);
        assertEquals(1, executions);
        assertTrue(isExecuted(null, 1, new AuthSys(2, "host", 11, 10, List.of()).toOpaqueAuth(), 1, ECHO, 10));
    }

    @Test
    void shouldForgetTheOldestReplies() {
        for (int xid = 1; xid <= 4; xid++) {
            assertTrue(isExecuted(xid, ECHO, xid));
        }
        assertEquals(new DuplicateRequestStatistics(4, 0, 0, 1, 0, 0, 3, 3 * REPLY_BYTES), cache.statistics());
        result(send(4, ECHO, 4));
        assertEquals(4, executions);
        assertTrue(isExecuted(1, ECHO, 1));
    }

    @Test
    void shouldForgetRepliesThatAreTooOld() {
        isExecuted(1, ECHO, 10);
        clockNanos.set(999_999_999);
        result(send(1, ECHO, 10));
        assertEquals(1, executions);
        clockNanos.set(1_000_000_000);
        assertTrue(isExecuted(1, ECHO, 10));
        assertEquals(1, cache.statistics().replies());
    }

    @Test
    void shouldForgetTheOldestRepliesThatTakeTooManyBytes() {
        cache = new DuplicateRequestCache(100, 3 * REPLY_BYTES, 1000, clockNanos::get);
        for (int xid = 1; xid <= 4; xid++) {
            assertTrue(isExecuted(xid, ECHO, xid));
        }
        assertEquals(3 * REPLY_BYTES, cache.statistics().bytes());
        result(send(2, ECHO, 2));
        assertEquals(4, executions);
        assertTrue(isExecuted(1, ECHO, 1));
    }

    @Test
    void shouldNotLetOneClientPushOutTheRepliesOfOthers() {
        cache = new DuplicateRequestCache(10, 100_000, 1000, clockNanos::get);
        isExecuted("quiet", 1);
        isExecuted("quiet", 2);
        for (int xid = 0; xid < 100; xid++) {
            assertTrue(isExecuted("loud", xid));
        }
        isExecuted("quiet", 1);
        isExecuted("quiet", 2);
        assertEquals(102, executions);
        for (int xid = 3; xid < 100; xid++) { // and now they have equal shares of what there is
            assertTrue(isExecuted("quiet", xid));
        }
        for (int xid = 96; xid < 100; xid++) {
            isExecuted("loud", xid);
        }
        assertEquals(199, executions);
    }

    /** Half of what there is, in one reply, counts as much as half of it in many. */
    @Test
    void shouldNotLetManySmallRepliesPushOutAFewLongOnes() {
        cache = new DuplicateRequestCache(100, 100_000, 1000, clockNanos::get);
        send("quiet", 1, OpaqueAuth.NONE, 1, LONG, 20_000);
        for (int xid = 0; xid < 200; xid++) {
            assertTrue(isExecuted("loud", xid));
        }
        send("quiet", 1, OpaqueAuth.NONE, 1, LONG, 20_000);
        assertEquals(201, executions);
    }

    @Test
    void shouldLetCallsInExecutionStay() {
        for (int xid = 1; xid <= 3; xid++) {
            send("loud", xid, OpaqueAuth.NONE, 1, HOLD, 0);
        }
        assertEquals(SYSTEM_ERR, status(send("loud", 4, OpaqueAuth.NONE, 1, ECHO, 0)), "there is no room");
        assertEquals(SYSTEM_ERR, status(send("quiet", 4, OpaqueAuth.NONE, 1, ECHO, 0)), "for nobody");
        assertEquals(new DuplicateRequestStatistics(3, 0, 0, 0, 2, 3, 0, 0), cache.statistics());
        held().reply(number(1));
        assertTrue(isExecuted("quiet", 5));
        assertEquals(SYSTEM_ERR, status(send("loud", 6, OpaqueAuth.NONE, 1, ECHO, 0)), "others would have to pay");
        assertEquals(5, result(send("quiet", 5, OpaqueAuth.NONE, 1, ECHO, 5)));
        held().reply(number(2));
        held().reply(number(3));
        assertEquals(0, cache.statistics().running());
    }

    @Test
    void shouldAnswerACallThatIsRepeatedDuringItsExecution() {
        EmbeddedChannel first = send(1, HOLD, 10);
        EmbeddedChannel second = send(1, HOLD, 10);
        EmbeddedChannel third = send(1, HOLD, 10);
        assertEquals(1, executions);
        first.close();
        assertNull(second.readOutbound());
        held().reply(number(77));
        assertEquals(77, result(second));
        assertEquals(77, result(third));
        assertEquals(77, result(send(1, HOLD, 10)));
        assertEquals(new DuplicateRequestStatistics(1, 1, 2, 0, 0, 0, 1, REPLY_BYTES), cache.statistics());
    }

    @Test
    void shouldBoundTheCallsThatWait() {
        EmbeddedChannel first = send(1, HOLD, 10);
        List<EmbeddedChannel> waiting = new ArrayList<>();
        for (int i = 0; i < DuplicateRequestCache.MAX_JOINED + 2; i++) {
            waiting.add(send(1, HOLD, 10));
        }
        assertEquals(SYSTEM_ERR, status(waiting.remove(0)));
        assertEquals(SYSTEM_ERR, status(waiting.remove(0)));
        held().reply(number(77));
        assertEquals(77, result(first));
        waiting.forEach(channel -> assertEquals(77, result(channel)));
        assertEquals(2, cache.statistics().refused());
    }

    @Test
    void shouldNotExecuteACallAgainThatFailed() {
        assertEquals(SYSTEM_ERR, status(send(1, FAIL, 10)));
        assertEquals(SYSTEM_ERR, status(send(1, FAIL, 10)));
        assertEquals(GARBAGE_ARGS, status(send(2, GARBAGE, 10)));
        assertEquals(GARBAGE_ARGS, status(send(2, GARBAGE, 10)));
        EmbeddedChannel refused = send(3, HOLD, 10);
        EmbeddedChannel joined = send(3, HOLD, 10);
        held().replySystemError(new IllegalStateException("failed later"));
        assertEquals(SYSTEM_ERR, status(refused));
        assertEquals(SYSTEM_ERR, status(joined));
        assertEquals(3, executions);
        assertEquals(0, cache.statistics().running());
    }

    @Test
    void shouldKeepWhereBulkDataLies() {
        EmbeddedChannel first = send(1, LOAD, 10);
        EmbeddedChannel second = send(1, LOAD, 10);
        RpcMessage reply = assertInstanceOf(RpcMessage.class, first.readOutbound());
        RpcMessage repeated = assertInstanceOf(RpcMessage.class, second.readOutbound());
        assertEquals(List.of(new DataItem(RpcReplyHeader.SUCCESS_BYTES, 4)), repeated.dataItems());
        assertEquals(reply, repeated);
        reply.release();
        repeated.release();
        assertEquals(1, executions);
    }

    @Test
    void shouldNotExecuteACallAgainWhoseReplyIsTooLong() {
        assertEquals(OK, status(send(1, LONG, 100_001)));
        assertEquals(SYSTEM_ERR, status(send(1, LONG, 100_001)));
        assertEquals(1, executions);
        assertEquals(0, cache.statistics().bytes());
    }

    @Test
    void shouldEndTheExecutionOfACallWhoseReplyCannotBeRead() {
        assertEquals(SYSTEM_ERR, status(send(1, CUT_OFF, 0)));
        assertEquals(0, cache.statistics().running());
        assertEquals(SYSTEM_ERR, status(send(1, CUT_OFF, 0)));
        assertEquals(1, executions);
    }

    @Test
    void shouldLetIdempotentCallsPass() {
        assertTrue(isExecuted(1, NULL, 10));
        assertTrue(isExecuted(1, NULL, 10));
        assertEquals(0, cache.statistics().replies());
    }

    @Test
    void shouldNotExecuteACallOfNobody() {
        assertEquals(SYSTEM_ERR, status(send("", 1, OpaqueAuth.NONE, 1, ECHO, 10)));
        assertEquals(0, executions);
    }

    @Test
    void shouldTellItsMeters() {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        new DuplicateRequestMetrics(cache, Tags.of("server", "one")).bindTo(registry);
        isExecuted(1, ECHO, 10);
        result(send(1, ECHO, 10));
        send(2, HOLD, 10);
        send(2, HOLD, 10);
        assertEquals(2, registry.get("rpc.server.duplicates.executed").tag("server", "one").functionCounter().count());
        assertEquals(1, registry.get("rpc.server.duplicates.hits").functionCounter().count());
        assertEquals(1, registry.get("rpc.server.duplicates.joins").functionCounter().count());
        assertEquals(0, registry.get("rpc.server.duplicates.evictions").functionCounter().count());
        assertEquals(0, registry.get("rpc.server.duplicates.refused").functionCounter().count());
        assertEquals(1, registry.get("rpc.server.duplicates.running").gauge().value());
        assertEquals(1, registry.get("rpc.server.duplicates.replies").gauge().value());
        assertEquals(REPLY_BYTES, registry.get("rpc.server.duplicates.size").gauge().value());
        held().reply(number(1));
    }
}
