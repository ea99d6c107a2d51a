package org.nettyrdma.codec.rpcrdma;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditStatistics;

/**
 * The connections of one {@link RpcRdma}, so that their counters can be added up. What a connection has counted stays in the
 * sums when it is gone.
 */
final class RpcRdmaConnections {

    private final Map<RdmaChannel, CreditGate> open = new ConcurrentHashMap<>();
    private final LongAdder[] closedChannels = new LongAdder[RdmaChannelStatistics.Counter.values().length];
    private final LongAdder closedRefused = new LongAdder();
    private final LongAdder closedExceeded = new LongAdder();
    private final LongAdder closedUnmatched = new LongAdder();

    RpcRdmaConnections() {
        for (int i = 0; i < closedChannels.length; i++) {
            closedChannels[i] = new LongAdder();
        }
    }

    void add(RdmaChannel channel, CreditGate gate) {
        open.put(channel, gate);
        channel.closeFuture().addListener(closed -> close(channel));
    }

    private void close(RdmaChannel channel) {
        CreditGate gate = open.get(channel);
        // Into the sums first: a counter may then be seen twice for a moment, but never runs backwards.
        for (RdmaChannelStatistics.Counter counter : RdmaChannelStatistics.Counter.values()) {
            closedChannels[counter.ordinal()].add(channel.statistics().get(counter));
        }
        CreditStatistics credits = gate.statistics();
        closedRefused.add(credits.requests().refused());
        closedUnmatched.add(credits.requests().unmatchedResponses());
        closedExceeded.add(credits.served().exceeded());
        open.remove(channel);
    }

    /** Connections that stand or are being made. */
    int size() {
        return open.size();
    }

    long channelCounter(RdmaChannelStatistics.Counter counter) {
        long sum = closedChannels[counter.ordinal()].sum();
        for (RdmaChannel channel : open.keySet()) {
            sum += channel.statistics().get(counter);
        }
        return sum;
    }

    /** The sum of a value that describes the present. */
    long credits(ToLongFunction<CreditStatistics> value) {
        long sum = 0;
        for (CreditGate gate : open.values()) {
            sum += value.applyAsLong(gate.statistics());
        }
        return sum;
    }

    long refusedRequests() {
        return closedRefused.sum() + credits(credits -> credits.requests().refused());
    }

    long unmatchedResponses() {
        return closedUnmatched.sum() + credits(credits -> credits.requests().unmatchedResponses());
    }

    long exceededCredits() {
        return closedExceeded.sum() + credits(credits -> credits.served().exceeded());
    }
}
