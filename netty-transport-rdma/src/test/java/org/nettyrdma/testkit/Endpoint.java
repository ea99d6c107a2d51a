package org.nettyrdma.testkit;

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
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;

/** The last handler of a channel under test: keeps what arrives and lets the test thread wait for it. */
public final class Endpoint extends ChannelInboundHandlerAdapter {

    /** How long to wait for anything. */
    public static final long TIMEOUT_SECONDS = 30;

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

    /**
     * The channel that this handler is in.
     *
     * @return the channel
     */
    public RdmaChannel channel() {
        return channel;
    }

    /**
     * One of the counters of the channel.
     *
     * @param counter which
     * @return its value
     */
    public long count(RdmaChannelStatistics.Counter counter) {
        return channel.statistics().get(counter);
    }

    /**
     * Waits until the channel is active.
     *
     * @throws InterruptedException if the test is interrupted
     */
    public void awaitActive() throws InterruptedException {
        assertTrue(active.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not active: " + channel);
    }

    /**
     * Waits until the channel is inactive.
     *
     * @throws InterruptedException if the test is interrupted
     */
    public void awaitInactive() throws InterruptedException {
        assertTrue(inactive.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "still active: " + channel);
    }

    /**
     * Whether the channel was active and is not any more.
     *
     * @return {@code true} if so
     */
    public boolean isInactive() {
        return inactive.getCount() == 0;
    }

    /**
     * The next message.
     *
     * @return the message, which the caller must release
     * @throws InterruptedException if the test is interrupted
     */
    public ByteBuf awaitMessage() throws InterruptedException {
        ByteBuf message = messages.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(message, "no message on " + channel + ", " + causes);
        return message;
    }

    /**
     * The next message, as text.
     *
     * @return its bytes, read as UTF-8
     * @throws InterruptedException if the test is interrupted
     */
    public String awaitText() throws InterruptedException {
        ByteBuf message = awaitMessage();
        try {
            return message.toString(StandardCharsets.UTF_8);
        } finally {
            message.release();
        }
    }

    /**
     * How many messages have arrived that nobody has taken.
     *
     * @return their number
     */
    public int messageCount() {
        return messages.size();
    }

    /**
     * The next exception that the channel has caught.
     *
     * @return the exception
     * @throws InterruptedException if the test is interrupted
     */
    public Throwable awaitCause() throws InterruptedException {
        Throwable cause = causes.poll(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        assertNotNull(cause, "nothing caught on " + channel);
        return cause;
    }

    /**
     * Whether the channel has caught an exception that nobody has taken.
     *
     * @return {@code true} if so
     */
    public boolean hasCause() {
        return !causes.isEmpty();
    }

    /**
     * A message in memory of the channel.
     *
     * @param text what it says
     * @return the message, which the caller must write or release
     */
    public ByteBuf text(String text) {
        return ByteBufUtil.writeUtf8(channel.alloc(), text);
    }

    /**
     * Sends a text.
     *
     * @param text what to send
     * @return the future of the write
     */
    public ChannelFuture send(String text) {
        return channel.writeAndFlush(text(text));
    }

    /**
     * Runs something on the channel's event loop, and waits for it.
     *
     * @param callable what to run
     * @param <T>      the type of its result
     * @return its result
     * @throws Exception of the callable
     */
    public <T> T call(Callable<T> callable) throws Exception {
        return await(channel.eventLoop().submit(callable)).getNow();
    }

    /**
     * Waits for the success of a future.
     *
     * @param future what to wait for
     * @param <T>    the type of its result
     * @return the future
     * @throws InterruptedException if the test is interrupted
     */
    public static <T> Future<T> await(Future<T> future) throws InterruptedException {
        assertTrue(future.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not done: " + future);
        if (future.cause() != null) {
            throw new AssertionError("failed: " + future, future.cause());
        }
        return future;
    }

    /**
     * Waits for the failure of a future.
     *
     * @param future what to wait for
     * @return the cause
     * @throws InterruptedException if the test is interrupted
     */
    public static Throwable awaitFailure(Future<?> future) throws InterruptedException {
        assertTrue(future.await(TIMEOUT_SECONDS, TimeUnit.SECONDS), "not done: " + future);
        assertNotNull(future.cause(), "did not fail: " + future);
        return future.cause();
    }

    /** Drops what the test did not look at. */
    public void releaseMessages() {
        for (ByteBuf message = messages.poll(); message != null; message = messages.poll()) {
            message.release();
        }
    }
}
