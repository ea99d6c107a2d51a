package org.nettyrdma.example.nfs.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.oncrpc.AuthSys;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcCall;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.oncrpc.RpcProgram;
import org.nettyrdma.codec.oncrpc.RpcServerHandler;

class DuplicateRequestCacheTest {

    private static final int PROGRAM = 99;

    private final AtomicLong clockNanos = new AtomicLong();
    private final DuplicateRequestCache cache = new DuplicateRequestCache(3, 1000, clockNanos::get);
    private final List<EmbeddedChannel> channels = new ArrayList<>();

    @AfterEach
    void closeChannels() {
        channels.forEach(EmbeddedChannel::finishAndReleaseAll);
    }

    /** Sends a call on a connection of its own and hands it over. */
    private EmbeddedChannel send(int xid, int procedure, int argument, Consumer<RpcCall> receiver) {
        return send(xid, OpaqueAuth.NONE, procedure, argument, receiver);
    }

    private EmbeddedChannel send(int xid, OpaqueAuth credential, int procedure, int argument, Consumer<RpcCall> receiver) {
        EmbeddedChannel channel = new EmbeddedChannel(new RpcServerHandler(new RpcProgram() {
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
                return 1;
            }

            @Override
            public void call(RpcCall call) {
                receiver.accept(call);
            }
        }));
        channels.add(channel);
        ByteBuf message = channel.alloc().buffer();
        new RpcCallHeader(xid, PROGRAM, 1, procedure, credential, OpaqueAuth.NONE).write(message);
        channel.writeInbound(message.writeInt(argument));
        return channel;
    }

    /** Executes a call that answers its argument, unless the cache knows it. */
    private boolean execute(int xid, int procedure, int argument) {
        return execute(xid, OpaqueAuth.NONE, procedure, argument);
    }

    private boolean execute(int xid, OpaqueAuth credential, int procedure, int argument) {
        boolean[] executed = new boolean[1];
        EmbeddedChannel channel = send(xid, credential, procedure, argument, call -> {
            DuplicateRequestCache.Key key = cache.keyOf(call);
            executed[0] = cache.begin(key, call);
            if (executed[0]) {
                ByteBuf results = Unpooled.buffer().writeInt(argument);
                cache.executed(key, results);
                call.reply(results);
            }
        });
        assertEquals(argument, result(channel));
        return executed[0];
    }

    private static int result(EmbeddedChannel channel) {
        channel.runPendingTasks();
        ByteBuf reply = channel.readOutbound();
        try {
            assertEquals(0, reply.getInt(20), "accept_stat");
            return reply.getInt(24);
        } finally {
            reply.release();
        }
    }

    @Test
    void shouldAnswerARepeatedCallWithTheFirstReply() {
        assertTrue(execute(1, 1, 10));
        assertFalse(execute(1, 1, 10));
        assertFalse(execute(1, 1, 10));
    }

    @Test
    void shouldTakeAnyOtherCallForANewOne() {
        assertTrue(execute(1, 1, 10));
        assertTrue(execute(2, 1, 10));
        assertTrue(execute(1, 2, 10));
        assertTrue(execute(1, 1, 11));
    }

    /** A neighbour behind the same address who could compute keys could be in the place of a call before it comes. */
    @Test
    void shouldMakeKeysThatNobodyElseCanCompute() {
        Set<DuplicateRequestCache.Key> keys = new HashSet<>();
        for (int i = 0; i < 3; i++) {
            DuplicateRequestCache other = new DuplicateRequestCache(2, 1000, () -> 0);
            send(1, 1, 10, call -> {
                keys.add(other.keyOf(call));
                assertEquals(other.keyOf(call), other.keyOf(call));
                call.reply(Unpooled.EMPTY_BUFFER);
            });
        }
        assertEquals(3, keys.size());
    }

    /** The stamp of AUTH_SYS is any number, and may be another one when a call is sent again. */
    @Test
    void shouldKnowACallAgainWhoseCredentialHasAnotherStamp() {
        assertTrue(execute(1, new AuthSys(1, "host", 10, 10, List.of()).toOpaqueAuth(), 1, 10));
        assertFalse(execute(1, new AuthSys(2, "host", 10, 10, List.of()).toOpaqueAuth(), 1, 10));
        assertTrue(execute(1, new AuthSys(2, "host", 11, 10, List.of()).toOpaqueAuth(), 1, 10));
    }

    @Test
    void shouldForgetTheOldestReplies() {
        for (int xid = 1; xid <= 4; xid++) {
            assertTrue(execute(xid, 1, xid));
        }
        assertEquals(3, cache.size());
        assertFalse(execute(4, 1, 4));
        assertTrue(execute(1, 1, 1));
    }

    @Test
    void shouldForgetRepliesThatAreTooOld() {
        assertTrue(execute(1, 1, 10));
        clockNanos.set(999_999_999);
        assertFalse(execute(1, 1, 10));
        clockNanos.set(1_000_000_000);
        assertTrue(execute(1, 1, 10));
    }

    @Test
    void shouldAnswerACallThatIsRepeatedDuringItsExecution() {
        List<RpcCall> first = new ArrayList<>();
        EmbeddedChannel firstChannel = send(1, 1, 10, first::add);
        DuplicateRequestCache.Key[] key = new DuplicateRequestCache.Key[1];
        EmbeddedChannel begun = send(1, 1, 10, call -> {
            key[0] = cache.keyOf(call);
            assertTrue(cache.begin(key[0], first.get(0)));
            assertFalse(cache.begin(key[0], call));
        });
        assertEquals(0, begun.outboundMessages().size());
        ByteBuf results = Unpooled.buffer().writeInt(77);
        cache.executed(key[0], results);
        assertEquals(77, result(begun));
        first.get(0).reply(results);
        assertEquals(77, result(firstChannel));
    }

    @Test
    void shouldForgetACallThatFailed() {
        DuplicateRequestCache.Key[] key = new DuplicateRequestCache.Key[1];
        send(1, 1, 10, call -> {
            key[0] = cache.keyOf(call);
            assertTrue(cache.begin(key[0], call));
        });
        EmbeddedChannel repeated = send(1, 1, 10, call -> assertFalse(cache.begin(key[0], call)));
        cache.failed(key[0], new IllegalStateException("broken"));
        repeated.runPendingTasks();
        ByteBuf reply = repeated.readOutbound();
        assertEquals(5, reply.getInt(20), "SYSTEM_ERR");
        reply.release();
        assertTrue(execute(1, 1, 10));
    }
}
