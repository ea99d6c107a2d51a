package org.nettyrdma.codec.rpcrdma.connection;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.StampedLock;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics;
import org.nettyrdma.codec.rpcrdma.RpcRdma;
import org.nettyrdma.handler.credit.CreditGate;
import org.nettyrdma.handler.credit.CreditStatistics;
import org.nettyrdma.handler.credit.CreditStatistics.Requests;
import org.nettyrdma.handler.credit.CreditStatistics.Served;

/**
 * The connections of one {@link RpcRdma}, so that their counters can be added up. What a connection has counted stays in the
 * sums when it is gone, and a sum never runs backwards.
 */
public final class OpenConnections {

    /** Turns of the event loop after the release of a channel in which its handlers may still be told of the end, and count. */
    private static final int LAST_TURNS = 3;

    private static final RdmaChannelStatistics.Counter[] CHANNEL_COUNTERS = RdmaChannelStatistics.Counter.values();

    /**
     * Those whose counters may change: the open ones, and those of which device or handlers have something. The open ones have no
     * map of their own: a connection is added and taken out once, and meters are read seldom.
     */
    private final Map<RdmaChannel, CreditGate> counting = new ConcurrentHashMap<>();
    /** Held while a connection moves from there to the sums below: it would count twice or not at all for who reads then. */
    private final StampedLock moving = new StampedLock();
    private final long[] endedChannels = new long[CHANNEL_COUNTERS.length];
    /** The counters; what describes the present is 0. */
    private CreditStatistics endedCredits = new CreditStatistics(new Requests(0, 0, 0, 0, 0, 0, 0, 0, 0, 0), new Served(0, 0, 0));

    public void add(RdmaChannel channel, CreditGate gate) {
        counting.put(channel, gate);
        channel.releaseFuture().addListener(released -> released(channel, LAST_TURNS));
    }

    /** May be told twice: a task that could not wake the event loop is in its queue all the same. */
    void released(RdmaChannel channel, int turns) {
        if (turns > 0 && channel.isRegistered()) {
            try {
                channel.eventLoop().execute(() -> released(channel, turns - 1));
                return;
            } catch (RuntimeException | Error e) { // no memory for the queue, for instance: nobody may look again
            }
        }
        long stamp = moving.writeLock();
        try {
            CreditGate gate = counting.get(channel);
            if (gate != null) {
                endedCredits = sum(endedCredits, gate.statistics()); // takes memory, and nothing behind it does
                for (RdmaChannelStatistics.Counter counter : CHANNEL_COUNTERS) {
                    endedChannels[counter.ordinal()] += channel.statistics().get(counter);
                }
                counting.remove(channel);
            }
        } finally {
            moving.unlockWrite(stamp);
        }
    }

    private static CreditStatistics sum(CreditStatistics ended, CreditStatistics more) {
        Requests requests = ended.requests();
        Requests others = more.requests();
        return new CreditStatistics(new Requests(0, 0, 0, 0, requests.refused() + others.refused(),
                requests.unmatchedResponses() + others.unmatchedResponses(), requests.grantsOfZero() + others.grantsOfZero(),
                requests.grantsAboveMaximum() + others.grantsAboveMaximum(), requests.waits() + others.waits(),
                requests.waitedNanos() + others.waitedNanos()),
                new Served(0, 0, ended.served().exceeded() + more.served().exceeded()));
    }

    /** Connections that stand or are being made. */
    public int size() {
        int size = 0;
        for (RdmaChannel channel : counting.keySet()) {
            size += channel.isOpen() ? 1 : 0;
        }
        return size;
    }

    public long channelCounter(RdmaChannelStatistics.Counter counter) {
        return steady(() -> {
            long sum = endedChannels[counter.ordinal()];
            for (RdmaChannel channel : counting.keySet()) {
                sum += channel.statistics().get(counter);
            }
            return sum;
        });
    }

    /** The sum of a value that describes the present. */
    public long credits(ToLongFunction<CreditStatistics> value) {
        return sum(value, true);
    }

    /** The sum of a value that only grows. */
    public long creditCounter(ToLongFunction<CreditStatistics> counter) {
        return steady(() -> counter.applyAsLong(endedCredits) + sum(counter, false));
    }

    private long sum(ToLongFunction<CreditStatistics> value, boolean ofOpen) {
        long sum = 0;
        for (Map.Entry<RdmaChannel, CreditGate> each : counting.entrySet()) {
            if (!ofOpen || each.getKey().isOpen()) {
                sum += value.applyAsLong(each.getValue().statistics());
            }
        }
        return sum;
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
