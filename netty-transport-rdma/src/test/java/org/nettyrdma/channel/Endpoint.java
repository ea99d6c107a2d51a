package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.util.concurrent.Future;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The last handler of a channel under test: keeps what arrives and lets the test thread wait for it. */
final class Endpoint extends ChannelInboundHandlerAdapter {

    static final long TIMEOUT_SECONDS = 30;

    private final BlockingQueue<ByteBuf> messages = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> causes = new LinkedBlockingQueue<>();
    private final CountDownLatch active = new CountDownLatch(1);
    private final CountDownLatch inactive = new CountDownLatch(1);
    private volatile RdmaChannel channel;

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = (RdmaChannel) ctx.channel();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        active.countDown();
        ctx.fireChannelActive();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        inactive.countDown();
        ctx.fireChannelInactive();
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        messages.add((ByteBuf) message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        causes.add(cause);
    }

    RdmaChannel channel() {
        return channel;
    }

    long count(RdmaChannelStatistics.Counter counter) {
        return channel.statistics().get(counter);
    }

    void awaitActive() throws InterruptedException {
        assertTrue(active.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not active: " + channel);
    }

    void awaitInactive() throws InterruptedException {
        assertTrue(inactive.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "still active: " + channel);
    }

    boolean isInactive() {
        return inactive.getCount() == 0;
    }

    /** The next message; the caller must release it. */
    ByteBuf awaitMessage() throws InterruptedException {
        ByteBuf message = messages.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(message, "no message on " + channel + ", " + causes);
        return message;
    }

    String awaitText() throws InterruptedException {
        ByteBuf message = awaitMessage();
        try {
            return message.toString(StandardCharsets.UTF_8);
        } finally {
            message.release();
        }
    }

    int messageCount() {
        return messages.size();
    }

    Throwable awaitCause() throws InterruptedException {
        Throwable cause = causes.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(cause, "nothing caught on " + channel);
        return cause;
    }

    boolean hasCause() {
        return !causes.isEmpty();
    }

    ByteBuf text(String text) {
        return ByteBufUtil.writeUtf8(channel.alloc(), text);
    }

    ChannelFuture send(String text) {
        return channel.writeAndFlush(text(text));
    }

    /** Runs something on the channel's event loop, and waits for it. */
    <T> T call(Callable<T> callable) throws Exception {
        return await(channel.eventLoop().submit(callable)).getNow();
    }

    static <T> Future<T> await(Future<T> future) throws InterruptedException {
        assertTrue(future.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not done: " + future);
        if (future.cause() != null) {
            throw new AssertionError("failed: " + future, future.cause());
        }
        return future;
    }

    static Throwable awaitFailure(Future<?> future) throws InterruptedException {
        assertTrue(future.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not done: " + future);
        assertNotNull(future.cause(), "did not fail: " + future);
        return future.cause();
    }

    /** Drops what the test did not look at. */
    void releaseMessages() {
        for (ByteBuf message = messages.poll(); message != null; message = messages.poll()) {
            message.release();
        }
    }
}
