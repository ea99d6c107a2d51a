package org.nettyrdma.codec.rpcrdma.requester;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.EventExecutor;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.oncrpc.MemoryBudget;
import org.nettyrdma.codec.oncrpc.OpaqueAuth;
import org.nettyrdma.codec.oncrpc.RpcCallHeader;
import org.nettyrdma.codec.rpcrdma.PeerPolicy;
import org.nettyrdma.codec.rpcrdma.ResourceLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaLimits;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.shared.BindingTable;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.ConnectionParts;

/** Calls that wait for memory on an event loop that has none for a timer. */
class OpenEndedRequestsTest {

    private static final int CONNECTION_BYTES = 100_000;

    private final ChannelInboundHandlerAdapter place = new ChannelInboundHandlerAdapter();
    private final EmbeddedChannel channel = new EmbeddedChannel(place);
    private final Queue<Runnable> timers = new ArrayDeque<>();
    private int timersToRefuse;
    private RequesterCallTable calls;
    private RequestSender sender;

    @BeforeEach
    void useUpMemory() {
        ChannelHandlerContext ctx = refusing(channel.pipeline().context(place));
        ConnectionParts parts = new ConnectionParts(RpcRdmaLimits.DEFAULT,
                ResourceLimits.DEFAULT.withMaxConnectionBytes(CONNECTION_BYTES), new MemoryBudget(1 << 30),
                new BindingTable(List.of()), new ChunkCounters(), new NegotiatedConnection(new RdmaChannel(), false,
                VersionPolicy.V1_ONLY, RpcRdmaPrivateData.NONE, 4096, PropertySet.EMPTY));
        calls = new RequesterCallTable(ctx, parts, xid -> { });
        sender = new RequestSender(ctx, parts, PeerPolicy.CONSERVATIVE, calls);
        assertTrue(calls.tryAdmit(1));
    }

    @AfterEach
    void close() {
        calls.close(() -> { });
        channel.finishAndReleaseAll();
    }

    private ChannelHandlerContext refusing(ChannelHandlerContext ctx) {
        EventExecutor executor = instead(EventExecutor.class, (proxy, method, arguments) -> {
            if (!method.getName().equals("schedule")) {
                return method.invoke(ctx.executor(), arguments);
            }
            if (timersToRefuse > 0) {
                timersToRefuse--;
                throw new OutOfMemoryError("expected");
            }
            timers.add((Runnable) arguments[0]);
            return null;
        });
        return instead(ChannelHandlerContext.class, (proxy, method, arguments) ->
                method.getName().equals("executor") ? executor : method.invoke(ctx, arguments));
    }

    private static <T> T instead(Class<T> type, InvocationHandler handler) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private static ByteBuf call(int xid) {
        ByteBuf call = Unpooled.buffer();
        new RpcCallHeader(xid, 7, 1, 1, OpaqueAuth.NONE, OpaqueAuth.NONE).write(call);
        return call;
    }

    private ChannelPromise send(ByteBuf call) {
        ChannelPromise promise = channel.newPromise();
        sender.write(call, call, promise);
        return promise;
    }

    @Test
    void shouldNotLetACallWaitThatCanHaveNoTimer() {
        timersToRefuse = 1;
        ByteBuf call = call(1);
        ChannelPromise promise = send(call);
        assertInstanceOf(OutOfMemoryError.class, promise.cause());
        assertEquals(0, call.refCnt());
        assertTrue(channel.isWritable(), "no call waits for memory");

        ChannelPromise next = send(call(2));
        assertFalse(next.isDone());
        assertFalse(channel.isWritable());
        assertEquals(1, timers.size());
    }

    /** The first of the two to be answered would get the reply of the other, or none. */
    @Test
    void shouldKeepTheXidInUseOfACallThatIsBeingSentAgain() {
        ChannelPromise again = calls.sendingAgain(1);
        ByteBuf call = call(1);
        sender.write(call, call, again);
        assertFalse(again.isDone(), "it waits for memory");

        assertInstanceOf(IllegalStateException.class, send(call(1)).cause());
        assertFalse(send(call(2)).isDone());
        calls.abandon(1);
        assertTrue(again.isCancelled());
        assertFalse(send(call(1)).isDone());
    }

    @Test
    void shouldNotLetACallWaitThatCanHaveNoFurtherTimer() {
        ByteBuf call = call(1);
        ChannelPromise promise = send(call);
        timers.remove().run();
        assertFalse(promise.isDone(), "it is not time yet");
        timersToRefuse = 1;
        timers.remove().run();
        assertEquals(0, timersToRefuse);
        assertTrue(promise.isDone(), "it was sent, which fails here");
        assertEquals(0, call.refCnt());
        assertTrue(channel.isWritable(), "no call waits for memory");
    }

    /** Each of them would set the next one as long as there is a call that waits. */
    @Test
    void shouldSetOneTimerForACallThatIsMadeWhenAnotherFails() {
        ChannelPromise first = send(call(1));
        first.addListener(failed -> assertFalse(send(call(2)).isDone(), "it waits for memory"));
        timersToRefuse = 1;
        timers.remove().run();
        assertTrue(first.isDone(), "it was sent, which fails here");
        assertEquals(1, timers.size());
        timers.remove().run();
        assertEquals(1, timers.size(), "it is not time yet");
    }
}
