package org.nettyrdma.codec.rpcrdma;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

/**
 * Ends a connection whose peer lets everything lie: that does not answer the RDMA Reads of its call's chunks, or takes
 * neither the RDMA Writes nor the Send of a reply. All of these stay in the channel's outbound buffer until the device has
 * completed them, so it is enough to look there: not empty, and nothing completed since. Stands next to the channel, so that
 * it sees every flush. All methods run on the event loop.
 */
final class TransferTimeoutHandler extends ChannelDuplexHandler {

    /** How often is looked within the time-out; a stall is found by a fraction of this late. */
    private static final int CHECKS = 4;

    private final long timeoutMillis;
    private final ChunkStatistics statistics;
    private ChannelHandlerContext ctx;
    private ScheduledFuture<?> timer;
    private long completed;
    private int checksWithoutProgress;

    /**
     * @param timeoutMillis how long nothing may be completed, more than 0
     */
    TransferTimeoutHandler(long timeoutMillis, ChunkStatistics statistics) {
        this.timeoutMillis = timeoutMillis;
        this.statistics = statistics;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext context) {
        ctx = context;
    }

    @Override
    public void flush(ChannelHandlerContext context) {
        context.flush();
        if (timer == null && outstanding() > 0) {
            completed = completedNow();
            checksWithoutProgress = 0;
            armTimer();
        }
    }

    private void armTimer() {
        timer = ctx.executor().schedule(this::check, TimeUnit.MILLISECONDS.toNanos(timeoutMillis) / CHECKS,
                TimeUnit.NANOSECONDS);
    }

    private void check() {
        timer = null;
        int outstanding = outstanding();
        if (outstanding == 0) {
            return; // the next flush arms the timer again
        }
        long now = completedNow();
        checksWithoutProgress = now == completed ? checksWithoutProgress + 1 : 0;
        completed = now;
        if (checksWithoutProgress < CHECKS) {
            armTimer();
            return;
        }
        statistics.increment(Counter.STALLED_CONNECTIONS);
        ctx.fireExceptionCaught(RpcRdmaException.connection(
                "none of %d transfers has moved for %d ms (limit: transferTimeoutMillis)", outstanding, timeoutMillis));
        ctx.close();
    }

    /** What was flushed and the device has not completed. */
    private int outstanding() {
        ChannelOutboundBuffer outbound = ctx.channel().unsafe().outboundBuffer(); // null once the channel is closed
        return outbound == null ? 0 : outbound.size();
    }

    private long completedNow() {
        RdmaChannelStatistics counters = ((RdmaChannel) ctx.channel()).statistics();
        return counters.get(RdmaChannelStatistics.Counter.SENDS) + counters.get(RdmaChannelStatistics.Counter.WRITES)
                + counters.get(RdmaChannelStatistics.Counter.READS);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        disarm();
        context.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        disarm();
    }

    private void disarm() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }
}
