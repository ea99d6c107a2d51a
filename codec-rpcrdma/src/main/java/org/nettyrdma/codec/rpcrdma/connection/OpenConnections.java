package org.nettyrdma.codec.rpcrdma.connection;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditStatistics;

/**
 * The connections of one {@link RpcRdma}, so that their counters can be added up. What a connection has counted stays in the
 * sums when it is gone.
 */
public final class OpenConnections {

    private final Map<RdmaChannel, CreditGate> open = new ConcurrentHashMap<>();
    /** Those whose counters may change: the open ones, and those of which the device has something. */
    private final Set<RdmaChannel> counting = ConcurrentHashMap.newKeySet();
    private final LongAdder[] closedChannels = new LongAdder[RdmaChannelStatistics.Counter.values().length];
    private final LongAdder closedRefused = new LongAdder();
    private final LongAdder closedExceeded = new LongAdder();
    private final LongAdder closedUnmatched = new LongAdder();
    private final LongAdder closedWaits = new LongAdder();
    private final LongAdder closedWaitedNanos = new LongAdder();

    public OpenConnections() {
        for (int i = 0; i < closedChannels.length; i++) {
            closedChannels[i] = new LongAdder();
        }
    }

    public void add(RdmaChannel channel, CreditGate gate) {
        open.put(channel, gate);
        counting.add(channel);
        channel.closeFuture().addListener(closed -> close(channel));
        channel.releaseFuture().addListener(released -> released(channel));
    }

    private void close(RdmaChannel channel) {
        // Into the sums first: a counter may then be seen twice for a moment, but never runs backwards.
        CreditStatistics credits = open.get(channel).statistics();
        closedRefused.add(credits.requests().refused());
        closedUnmatched.add(credits.requests().unmatchedResponses());
        closedWaits.add(credits.requests().waits());
        closedWaitedNanos.add(credits.requests().waitedNanos());
        closedExceeded.add(credits.served().exceeded());
        open.remove(channel);
    }

    private void released(RdmaChannel channel) {
        for (RdmaChannelStatistics.Counter counter : RdmaChannelStatistics.Counter.values()) {
            closedChannels[counter.ordinal()].add(channel.statistics().get(counter));
        }
        counting.remove(channel);
    }

    /** Connections that stand or are being made. */
    public int size() {
        return open.size();
    }

    public long channelCounter(RdmaChannelStatistics.Counter counter) {
        long sum = closedChannels[counter.ordinal()].sum();
        for (RdmaChannel channel : counting) {
            sum += channel.statistics().get(counter);
        }
        return sum;
    }

    /** The sum of a value that describes the present. */
    public long credits(ToLongFunction<CreditStatistics> value) {
        long sum = 0;
        for (CreditGate gate : open.values()) {
            sum += value.applyAsLong(gate.statistics());
        }
        return sum;
    }

    public long refusedRequests() {
        return closedRefused.sum() + credits(credits -> credits.requests().refused());
    }

    public long unmatchedResponses() {
        return closedUnmatched.sum() + credits(credits -> credits.requests().unmatchedResponses());
    }

    /** How many calls have waited for a credit. */
    public long creditWaits() {
        return closedWaits.sum() + credits(credits -> credits.requests().waits());
    }

    /** How long they have. */
    public long creditWaitedNanos() {
        return closedWaitedNanos.sum() + credits(credits -> credits.requests().waitedNanos());
    }

    public long exceededCredits() {
        return closedExceeded.sum() + credits(credits -> credits.served().exceeded());
    }
}
