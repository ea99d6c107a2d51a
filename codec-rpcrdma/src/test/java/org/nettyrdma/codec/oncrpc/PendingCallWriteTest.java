package org.nettyrdma.codec.oncrpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What handlers below a client see of the promise of a call, on its thread and on others. */
class PendingCallWriteTest {

    private static final int SECONDS = 20;

    private final EventExecutorGroup group = new DefaultEventExecutorGroup(1);
    private final BlockingQueue<ChannelPromise> writes = new LinkedBlockingQueue<>();
    private final RpcClient client = new RpcClient();
    private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
        @Override
        public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
            ReferenceCountUtil.release(msg);
            writes.add(promise);
        }
    });
    private Future<ByteBuf> call;

    private ChannelPromise newWrite() throws InterruptedException {
        channel.pipeline().addLast(group, client);
        onItsThread(() -> true); // now it is in the pipeline
        call = client.call(new RpcRequest(1, 1, 1, Unpooled.buffer(4).writeInt(1)));
        return writes.poll(SECONDS, TimeUnit.SECONDS);
    }

    private <T> T onItsThread(Callable<T> what) {
        return channel.pipeline().context(client).executor().submit(what).syncUninterruptibly().getNow();
    }

    @AfterEach
    void end() {
        channel.finishAndReleaseAll();
        group.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static CompletableFuture<Void> endOf(ChannelPromise promise) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        promise.addListener((ChannelFuture write) -> {
            if (write.isSuccess()) {
                end.complete(null);
            } else {
                end.completeExceptionally(write.cause());
            }
        });
        return end.orTimeout(SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldTellOnEveryThreadThatTheWriteHasSucceeded() throws Exception {
        ChannelPromise promise = newWrite();
        CompletableFuture<Void> before = endOf(promise);
        CompletableFuture<Void> onItsThread = onItsThread(() -> endOf(promise));
        assertFalse(before.isDone() || onItsThread.isDone());
        assertTrue(promise.trySuccess());
        before.join();
        onItsThread.join();
        endOf(promise).join();
        assertTrue(promise.await(SECONDS, TimeUnit.SECONDS));
        assertTrue(onItsThread(promise::isSuccess));
        assertFalse(onItsThread(() -> promise.tryFailure(new IOException())));
        assertFalse(onItsThread(() -> promise.cancel(false)));
        assertTrue(onItsThread(promise::setUncancellable));
        assertFalse(call.isDone());
    }

    @Test
    void shouldFailTheCallWithTheWrite() throws Exception {
        ChannelPromise promise = newWrite();
        CompletableFuture<Void> before = endOf(promise);
        IOException cause = new IOException("expected");
        promise.setFailure(cause);
        assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
        assertSame(cause, assertInstanceOf(RpcConnectionException.class, call.cause()).getCause());
        assertSame(cause, failureOf(before));
        assertSame(cause, failureOf(endOf(promise)));
        assertFalse(onItsThread(promise::isSuccess));
        assertSame(cause, onItsThread(promise::cause));
    }

    @Test
    void shouldEndTheConnectionWhereItsThreadDoesNotTakeTheEndOfTheWrite() throws Exception {
        ExhaustedEventLoop exhausted = new ExhaustedEventLoop();
        channel.pipeline().addLast(exhausted, client);
        onItsThread(() -> true);
        call = client.call(new RpcRequest(1, 1, 1, Unpooled.buffer(4).writeInt(1)));
        ChannelPromise promise = writes.poll(SECONDS, TimeUnit.SECONDS);
        exhausted.refuseTasks(1);
        assertTrue(promise.trySuccess());
        assertEquals(0, exhausted.tasksToRefuse());
        assertFalse(channel.isOpen());
        assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(RpcConnectionException.class, call.cause());
        exhausted.shutdownGracefully(0, SECONDS, TimeUnit.SECONDS).syncUninterruptibly();
    }

    private static Throwable failureOf(CompletableFuture<Void> end) {
        return end.handle((nothing, cause) -> cause instanceof CompletionException wrapped ? wrapped.getCause() : cause).join();
    }

    /** As with a codec that works on the event loop of the channel, and a client that has an executor of its own. */
    @Test
    void shouldBeginOrBeCancelledButNeverBothOnTwoThreads() throws Exception {
        ChannelPromise promise = newWrite();
        for (int i = 0; i < 2000; i++) {
            ChannelPromise write = promise;
            CyclicBarrier together = new CyclicBarrier(2);
            Future<Boolean> cancelled = channel.pipeline().context(client).executor().submit(() -> {
                together.await(SECONDS, TimeUnit.SECONDS);
                return write.cancel(false);
            });
            together.await(SECONDS, TimeUnit.SECONDS);
            boolean begun = write.setUncancellable();
            assertEquals(!begun, cancelled.get(SECONDS, TimeUnit.SECONDS));
            assertEquals(begun, write.setUncancellable(), "it stays so");
            write.tryFailure(new IOException("expected"));
            assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
            assertEquals(begun, assertInstanceOf(RpcConnectionException.class, call.cause()).mayHaveBeenSent());
            call = client.call(new RpcRequest(1, 1, 1, Unpooled.buffer(4).writeInt(1)));
            promise = writes.poll(SECONDS, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldBeCancelledOnItsThreadOnlyAndNotOnceItHasBegun() throws Exception {
        ChannelPromise promise = newWrite();
        assertFalse(promise.cancel(false), "another thread cannot know whether it has begun");
        assertTrue(onItsThread(promise::isCancellable));
        assertTrue(onItsThread(() -> promise.cancel(false)));
        assertTrue(onItsThread(promise::isCancelled));
        assertFalse(onItsThread(promise::setUncancellable));
        assertTrue(call.await(SECONDS, TimeUnit.SECONDS));
        assertInstanceOf(RpcConnectionException.class, call.cause());

        call = client.call(new RpcRequest(1, 1, 1, Unpooled.buffer(4).writeInt(1)));
        ChannelPromise begun = writes.poll(SECONDS, TimeUnit.SECONDS);
        assertTrue(onItsThread(begun::setUncancellable));
        assertFalse(onItsThread(() -> begun.cancel(false)));
        assertFalse(onItsThread(begun::isCancelled));
        assertTrue(call.cancel(false)); // and is not reported to the write any more
        assertEquals(0, onItsThread(writes::size));
    }
}
