package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.channel.ChannelOutboundBuffer;
import java.util.function.BooleanSupplier;
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
 * Ends a connection whose peer does its part more slowly than {@link TransferLimits} allow, or not at all. A client has to answer
 * the RDMA Reads of its call's chunks, and to take the RDMA Writes and the Send of a reply. A server has to take calls, and the
 * answers to what it sends of itself. All of these stay in the channel's outbound buffer until the device has completed them, in
 * order. So it is enough to look there now and then, at each of the {@link TransferRounds}. All methods run on the event loop.
 *
 * <p>While memory is gone it ends, after a second already, a connection that holds some and moves too little. Completions do not
 * tell that so soon: a Read of 1 MiB is complete after a minute at the least rate. So it needs a device that tells more.
 */
public final class TransferTimeout implements ProgressWatch.Source {

    private static final Logger LOGGER = LoggerFactory.getLogger(TransferTimeout.class);

    private final RdmaChannel channel;
    private final TransferRounds rounds;
    private final ChunkCounters statistics;
    private final boolean logs;
    private final BooleanSupplier holdsMemory;
    private final TransferRounds.Look look = this::look;
    private final RdmaChannelStatistics counters;
    private final ProgressSamples samples;
    /**
     * Of moments at which memory was gone; {@code null} before the first. Older ones may stay: what moved too little since then
     * did so in the last second, too.
     */
    private ProgressSamples contendedSamples;

    private TransferTimeout(RdmaChannel channel, TransferRounds rounds, ChunkCounters statistics, boolean logs,
                            BooleanSupplier holdsMemory) {
        this.channel = channel;
        this.rounds = rounds;
        this.statistics = statistics;
        this.logs = logs;
        this.holdsMemory = holdsMemory;
        counters = channel.statistics();
        samples = new ProgressSamples(this, rounds.limits());
    }

    /**
     * Watches a channel until it is closed.
     *
     * @param rounds      what lets it look
     * @param logs        whether the end is told to the log: where programs are served their handler does that with all that is
     *                    fired
     * @param holdsMemory whether the connection has memory that others may wait for
     */
    public static void watch(RdmaChannel channel, TransferRounds rounds, ChunkCounters statistics, boolean logs,
                             BooleanSupplier holdsMemory) {
        TransferTimeout timeout = new TransferTimeout(channel, rounds, statistics, logs, holdsMemory);
        rounds.join(channel.eventLoop(), timeout.look);
        channel.closeFuture().addListener(future -> timeout.leave());
    }

    private void leave() {
        rounds.leave(channel.eventLoop(), look);
    }

    private void look(boolean memoryIsGone) {
        if (channel.isActive() && (memoryIsGone ? holdsUpOthers() : samples.look())) {
            leave(); // it is told once
            stalled(memoryIsGone ? rounds.contendedLimits() : rounds.limits(),
                    memoryIsGone ? " while others wait for the memory that they have" : "");
        }
    }

    private boolean holdsUpOthers() {
        if (!holdsMemory.getAsBoolean() || channel.movedBytes() < 0) {
            return false;
        }
        if (contendedSamples == null) {
            contendedSamples = new ProgressSamples(new Moving(), rounds.contendedLimits());
        }
        return contendedSamples.look();
    }

    private void stalled(TransferLimits limits, String meanwhile) {
        statistics.increment(Counter.STALLED_CONNECTIONS);
        RpcRdmaException reason = RpcRdmaFailures.connection(
                "%d transfers have moved too little for %d ms%s (limits: transferTimeoutMillis, and minTransferBytesPerSecond of "
                        + "%d)",
                outstanding(), limits.timeoutMillis(), meanwhile, limits.minBytesPerSecond());
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

    /** The same with what has moved of transfers that are not complete. */
    private final class Moving implements ProgressWatch.Source {

        @Override
        public long begun() {
            return TransferTimeout.this.begun();
        }

        @Override
        public long ended() {
            return TransferTimeout.this.ended();
        }

        @Override
        public long bytes() {
            return channel.movedBytes();
        }
    }
}
