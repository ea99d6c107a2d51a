package org.nettyrdma.codec.oncrpc.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallbackPromiseTest {

    private final ChannelInboundHandlerAdapter place = new ChannelInboundHandlerAdapter();
    private final EmbeddedChannel channel = new EmbeddedChannel(place);
    private final ChannelHandlerContext ctx = channel.pipeline().context(place);
    private final List<Throwable> ends = new ArrayList<>();
    private final CallbackPromise promise = new CallbackPromise(ctx) {
        @Override
        protected void written(Throwable cause) {
            ends.add(cause);
        }
    };

    @Test
    void shouldTellTheEndOfEachWrite() {
        ctx.write(Unpooled.EMPTY_BUFFER, promise);
        ctx.write(Unpooled.EMPTY_BUFFER, promise);
        assertEquals(List.of(), ends);
        ctx.flush();
        assertEquals(Arrays.asList(null, null), ends);

        channel.close();
        ctx.write(Unpooled.EMPTY_BUFFER, promise);
        assertTrue(ends.get(2) instanceof ClosedChannelException);
        channel.releaseOutbound();
    }

    @Test
    void shouldSayThatItHasToldTheEnd() {
        IOException cause = new IOException();
        assertTrue(promise.trySuccess());
        assertTrue(promise.tryFailure(cause));
        assertSame(promise, promise.setSuccess());
        assertSame(promise, promise.setFailure(cause));
        assertEquals(Arrays.asList(null, cause, null, cause), ends);
    }

    @Test
    void shouldNeverBeDoneNorCancelled() {
        assertFalse(promise.cancel(false));
        assertTrue(promise.setUncancellable());
        promise.setSuccess();
        assertFalse(promise.isDone());
        assertFalse(promise.isSuccess());
        assertFalse(promise.isCancelled());
        assertNull(promise.cause());
    }

    @Test
    void shouldTakeNoListenerButMakePromisesThatDo() {
        assertTrue(promise.isVoid());
        assertThrows(IllegalStateException.class, () -> promise.addListener(write -> { }));
        assertThrows(IllegalStateException.class, promise::sync);

        List<Boolean> heard = new ArrayList<>();
        ChannelPromise own = promise.unvoid();
        own.addListener(write -> heard.add(write.isSuccess()));
        ctx.writeAndFlush(Unpooled.EMPTY_BUFFER, own);
        IOException cause = new IOException();
        promise.unvoid().setFailure(cause);

        assertFalse(own.isVoid());
        assertEquals(List.of(true), heard);
        assertEquals(Arrays.asList(null, cause), ends);
        channel.releaseOutbound();
    }

    @Test
    void shouldTellTheEndOnTheEventLoop() throws InterruptedException {
        Thread other = new Thread(() -> promise.setFailure(new IOException()));
        other.start();
        other.join();
        channel.runPendingTasks();
        assertEquals(1, ends.size());
    }

    /** What ends a write is the outbound buffer, which has others to end. */
    @Test
    void shouldKeepToItselfWhatIsThrownAtTheEndOfAWrite() {
        CallbackPromise failing = new CallbackPromise(ctx) {
            @Override
            protected void written(Throwable cause) {
                ends.add(cause);
                throw new IllegalStateException("of the application");
            }
        };
        ctx.write(Unpooled.EMPTY_BUFFER, failing);
        ctx.write(Unpooled.EMPTY_BUFFER, failing);
        ctx.flush();
        assertEquals(Arrays.asList(null, null), ends);
        assertTrue(channel.isOpen());
        channel.checkException();
        channel.releaseOutbound();
    }
}
