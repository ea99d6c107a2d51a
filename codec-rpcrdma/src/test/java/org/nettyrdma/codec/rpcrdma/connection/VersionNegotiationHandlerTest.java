package org.nettyrdma.codec.rpcrdma.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.VersionPolicy;
import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.handler.credit.CreditGate;

/** Calls that wait for the version, above a handler that fails the writes as the test says. */
class VersionNegotiationHandlerTest {

    /** What it takes to fail one call after the other, but not one within the other. */
    private static final long STACK_BYTES = 256 << 10;

    private final Queue<ChannelPromise> writes = new ArrayDeque<>();
    private boolean refusing;
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            if (refusing) {
                promise.setFailure(new IllegalStateException("refused"));
            } else {
                writes.add(promise);
            }
        }
    }, new VersionNegotiationHandler(new NegotiatedConnection(new RdmaChannel(), false, VersionPolicy.V2_ONLY,
            RpcRdmaPrivateData.NONE, 4096, PropertySet.EMPTY), new ChunkCounters()));
    private final List<ByteBuf> calls = new ArrayList<>();
    private final List<ChannelFuture> futures = new ArrayList<>();

    /** One that goes out, and as many as may wait. */
    private void call() {
        for (int xid = 0; xid <= CreditGate.DEFAULT_MAX_WAITING; xid++) {
            ByteBuf call = Unpooled.buffer().writeInt(xid).writeInt(0).writeZero(32);
            calls.add(call);
            futures.add(channel.write(call));
        }
        assertEquals(1, writes.size());
    }

    private void requireFailed(Class<? extends Throwable> cause) {
        for (ChannelFuture future : futures) {
            assertTrue(future.isDone());
            assertInstanceOf(cause, future.cause());
        }
        calls.forEach(call -> assertEquals(0, call.refCnt()));
    }

    private static void onSmallStack(Runnable test) throws Exception {
        FutureTask<Void> task = new FutureTask<>(test, null);
        new Thread(null, task, "small stack", STACK_BYTES).start();
        task.get(60, TimeUnit.SECONDS);
    }

    @Test
    void shouldFailCallAfterCallWhereNoneCanBeWritten() throws Exception {
        call();
        refusing = true;
        onSmallStack(() -> writes.remove().setFailure(new IllegalStateException("refused")));
        requireFailed(IllegalStateException.class);
        assertTrue(channel.isWritable());
        refusing = false;
        calls.add(Unpooled.buffer().writeInt(1).writeInt(0).writeZero(32));
        channel.write(calls.get(calls.size() - 1));
        assertEquals(1, writes.size(), "the next call goes out");
        channel.finishAndReleaseAll();
    }

    @Test
    void shouldFailAllCallsThatWaitWithTheLossOfTheConnection() throws Exception {
        call();
        channel.unsafe().closeForcibly(); // so that the first call's write fails before the pipeline is told
        onSmallStack(() -> writes.remove().setFailure(new ClosedChannelException()));
        requireFailed(ClosedChannelException.class);
    }
}
