package org.nettyrdma.example.nfs;

import java.util.HashSet;
import java.util.Set;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;

/**
 * The bytes that one provider has moved for this side, on connections that stand and on those that have ended. Safe for use from
 * any thread.
 */
final class ProviderTraffic {

    private final Set<RdmaChannel> open = new HashSet<>();
    private long endedSent;
    private long endedReceived;

    /** Counts with all that the channel has moved already. */
    synchronized void add(RdmaChannel channel) {
        open.add(channel);
        channel.releaseFuture().addListener(future -> ended(channel));
    }

    private synchronized void ended(RdmaChannel channel) {
        open.remove(channel);
        endedSent += sent(channel);
        endedReceived += received(channel);
    }

    /** By Sends and RDMA Writes of this side. */
    synchronized long sentBytes() {
        return endedSent + open.stream().mapToLong(ProviderTraffic::sent).sum();
    }

    /** By Sends of peers and RDMA Reads of this side. */
    synchronized long receivedBytes() {
        return endedReceived + open.stream().mapToLong(ProviderTraffic::received).sum();
    }

    private static long sent(RdmaChannel channel) {
        return channel.statistics().get(Counter.SENT_BYTES) + channel.statistics().get(Counter.WRITTEN_BYTES);
    }

    private static long received(RdmaChannel channel) {
        return channel.statistics().get(Counter.RECEIVED_BYTES) + channel.statistics().get(Counter.READ_BYTES);
    }
}
