package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.channel.ChannelOutboundBuffer;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.oncrpc.transport.ProgressSamples;
import org.nettyrdma.codec.oncrpc.transport.ProgressWatch;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.shared.ChunkCounters;
import org.nettyrdma.codec.rpcrdma.shared.RpcRdmaFailures;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a connection whose peer lets things lie: that does not answer the RDMA Reads of its call's chunks, or takes
 * neither the RDMA Writes nor the Send of a reply, or does so more slowly than {@link TransferLimits} allow; and one whose
 * server takes neither calls nor the answers to what it sends of itself. All of these stay in the
 * channel's outbound buffer until the device has completed them, in order, so it is enough to look there now and then, at each
 * of the {@link TransferRounds}. All methods run on the event loop.
 */
public final class TransferTimeout implements ProgressWatch.Source {

    private static final Logger LOGGER = LoggerFactory.getLogger(TransferTimeout.class);

    private final RdmaChannel channel;
    private final TransferRounds rounds;
    private final ChunkCounters statistics;
    private final boolean logs;
    private final Runnable look = this::look;
    private final RdmaChannelStatistics counters;
    private final ProgressSamples samples;

    private TransferTimeout(RdmaChannel channel, TransferRounds rounds, ChunkCounters statistics, boolean logs) {
        this.channel = channel;
        this.rounds = rounds;
        this.statistics = statistics;
        this.logs = logs;
        counters = channel.statistics();
        samples = new ProgressSamples(this, rounds.limits());
    }

    /**
     * Watches a channel until it is closed.
     *
     * @param rounds what lets it look
     * @param logs   whether the end is told to the log: where programs are served their handler does that with all that is fired
     */
    public static void watch(RdmaChannel channel, TransferRounds rounds, ChunkCounters statistics, boolean logs) {
        TransferTimeout timeout = new TransferTimeout(channel, rounds, statistics, logs);
        rounds.join(channel.eventLoop(), timeout.look);
        channel.closeFuture().addListener(future -> timeout.leave());
    }

    private void leave() {
        rounds.leave(channel.eventLoop(), look);
    }

    private void look() {
        if (channel.isActive() && samples.look()) {
            leave(); // it is told once
            stalled();
        }
    }

    private void stalled() {
        statistics.increment(Counter.STALLED_CONNECTIONS);
        RpcRdmaException reason = RpcRdmaFailures.connection(
                "%d transfers have moved too little for %d ms (limits: transferTimeoutMillis, and minTransferBytesPerSecond of "
                        + "%d)",
                outstanding(), rounds.limits().timeoutMillis(), rounds.limits().minBytesPerSecond());
        if (logs) {
            PeerLog.warn(LOGGER, channel, "closing, {}", reason);
        }
        channel.pipeline().fireExceptionCaught(reason);
        channel.unsafe().close(channel.unsafe().voidPromise()); // its peer takes nothing, so nothing is said to it before
    }

    /** What was flushed and the device has not completed. */
    private int outstanding() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer(); // null once the channel is closed
        return outbound == null ? 0 : outbound.size();
    }

    @Override
    public long begun() {
        return ended() + outstanding();
    }

    @Override
    public long ended() {
        return counters.get(RdmaChannelStatistics.Counter.SENDS) + counters.get(RdmaChannelStatistics.Counter.WRITES)
                + counters.get(RdmaChannelStatistics.Counter.READS);
    }

    @Override
    public long bytes() {
        return counters.get(RdmaChannelStatistics.Counter.SENT_BYTES) + counters.get(RdmaChannelStatistics.Counter.WRITTEN_BYTES)
                + counters.get(RdmaChannelStatistics.Counter.READ_BYTES);
    }
}
