package org.nettyrdma.codec.rpcrdma.connection;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.StampedLock;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditStatistics;

/**
 * The connections of one {@link RpcRdma}, so that their counters can be added up. What a connection has counted stays in the
 * sums when it is gone, and a sum never runs backwards.
 */
public final class OpenConnections {

    private final Map<RdmaChannel, CreditGate> open = new ConcurrentHashMap<>();
    /** Those whose counters may change: the open ones, and those of which the device has something. */
    private final Set<RdmaChannel> counting = ConcurrentHashMap.newKeySet();
    /** Held while a connection moves from these two to the sums below: it would count twice or not at all for who reads then. */
    private final StampedLock moving = new StampedLock();
    private final long[] closedChannels = new long[RdmaChannelStatistics.Counter.values().length];
    private long closedRefused;
    private long closedExceeded;
    private long closedUnmatched;
    private long closedWaits;
    private long closedWaitedNanos;

    public void add(RdmaChannel channel, CreditGate gate) {
        open.put(channel, gate);
        counting.add(channel);
        channel.closeFuture().addListener(closed -> close(channel));
        channel.releaseFuture().addListener(released -> released(channel));
    }

    private void close(RdmaChannel channel) {
        long stamp = moving.writeLock();
        try {
            CreditStatistics credits = open.remove(channel).statistics();
            closedRefused += credits.requests().refused();
            closedUnmatched += credits.requests().unmatchedResponses();
            closedWaits += credits.requests().waits();
            closedWaitedNanos += credits.requests().waitedNanos();
            closedExceeded += credits.served().exceeded();
        } finally {
            moving.unlockWrite(stamp);
        }
    }

    private void released(RdmaChannel channel) {
        long stamp = moving.writeLock();
        try {
            counting.remove(channel);
            for (RdmaChannelStatistics.Counter counter : RdmaChannelStatistics.Counter.values()) {
                closedChannels[counter.ordinal()] += channel.statistics().get(counter);
            }
        } finally {
            moving.unlockWrite(stamp);
        }
    }

    /** Connections that stand or are being made. */
    public int size() {
        return open.size();
    }

    public long channelCounter(RdmaChannelStatistics.Counter counter) {
        return steady(() -> {
            long sum = closedChannels[counter.ordinal()];
            for (RdmaChannel channel : counting) {
                sum += channel.statistics().get(counter);
            }
            return sum;
        });
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
        return steady(() -> closedRefused + credits(credits -> credits.requests().refused()));
    }

    public long unmatchedResponses() {
        return steady(() -> closedUnmatched + credits(credits -> credits.requests().unmatchedResponses()));
    }

    /** How many calls have waited for a credit. */
    public long creditWaits() {
        return steady(() -> closedWaits + credits(credits -> credits.requests().waits()));
    }

    /** How long they have. */
    public long creditWaitedNanos() {
        return steady(() -> closedWaitedNanos + credits(credits -> credits.requests().waitedNanos()));
    }

    public long exceededCredits() {
        return steady(() -> closedExceeded + credits(credits -> credits.served().exceeded()));
    }

    /** A sum during which no connection moves. Event loops wait for it only where one has moved while it was first taken. */
    private long steady(LongSupplier sum) {
        long stamp = moving.tryOptimisticRead();
        long value = sum.getAsLong();
        if (moving.validate(stamp)) {
            return value;
        }
        stamp = moving.readLock();
        try {
            return sum.getAsLong();
        } finally {
            moving.unlockRead(stamp);
        }
    }
}
