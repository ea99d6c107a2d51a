package org.nettyrdma.codec.oncrpc;

import static io.netty.util.internal.ObjectUtil.checkPositive;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a connection on which nothing moves and no call is in progress, with one line in the log. One handler per channel, next
 * to the channel. A batch of reads costs one write of a field.
 *
 * <p>Two things count as movement: bytes that arrive, and written bytes that the peer takes. So a peer that does not take its
 * answers is idle, too. A connection that is not read, because {@code AUTO_READ} is off, is not idle. The handler looks four
 * times in each time-out. So a connection is closed when it has been idle for the time-out, or up to a quarter longer. Clients
 * connect again for their next call.
 */
public final class IdleConnectionHandler extends ChannelInboundHandlerAdapter {

    private static final Logger LOGGER = LoggerFactory.getLogger(IdleConnectionHandler.class);

    private static final int CHECKS = 4;

    private final long timeoutMillis;
    private final BooleanSupplier callsInProgress;
    private ScheduledFuture<?> timer;
    private boolean hasReceived;
    private long outstandingBytes;
    private int outstandingMessages;
    private int idleChecks;

    /**
     * Creates the handler of one connection.
     *
     * @param timeoutMillis   how long a connection may be idle, in milliseconds, more than 0. Too small a value shows as
     *                        connections that are made again and again
     * @param callsInProgress asked on the event loop whether calls are in progress, in either direction
     * @throws IllegalArgumentException if the time-out is not positive
     */
    public IdleConnectionHandler(long timeoutMillis, BooleanSupplier callsInProgress) {
        this.timeoutMillis = checkPositive(timeoutMillis, "timeoutMillis");
        this.callsInProgress = Objects.requireNonNull(callsInProgress, "callsInProgress");
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            arm(ctx);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (timer == null) {
            arm(ctx);
        }
        ctx.fireChannelActive();
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        hasReceived = true;
        ctx.fireChannelReadComplete();
    }

    /** One timer for all checks: for another there might be no memory, and none would follow. */
    private void arm(ChannelHandlerContext ctx) {
        long periodNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis) / CHECKS;
        timer = ctx.executor().scheduleWithFixedDelay(() -> check(ctx), periodNanos, periodNanos, TimeUnit.NANOSECONDS);
    }

    private void check(ChannelHandlerContext ctx) {
        boolean moved = hasReceived | hasSent(ctx);
        hasReceived = false;
        idleChecks = moved || !ctx.channel().config().isAutoRead() || callsInProgress.getAsBoolean() ? 0 : idleChecks + 1;
        if (idleChecks < CHECKS) {
            return;
        }
        disarm();
        PeerLog.info(LOGGER, ctx.channel(), "has been idle for {} ms and is closed", timeoutMillis);
        if (outstandingMessages > 0) {
            ResetClose.close(ctx.channel()); // the peer has taken nothing all that time
        } else {
            ctx.close();
        }
    }

    /** Whether what was written and is not sent has changed. */
    private boolean hasSent(ChannelHandlerContext ctx) {
        ChannelOutboundBuffer outbound = ctx.channel().unsafe().outboundBuffer();
        long bytes = outbound == null ? 0 : outbound.totalPendingWriteBytes() - outbound.currentProgress();
        int messages = outbound == null ? 0 : outbound.size();
        boolean changed = bytes != outstandingBytes || messages != outstandingMessages;
        outstandingBytes = bytes;
        outstandingMessages = messages;
        return changed;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        disarm();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        disarm();
    }

    private void disarm() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
