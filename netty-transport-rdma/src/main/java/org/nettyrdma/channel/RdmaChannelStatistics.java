package org.nettyrdma.channel;

import java.util.StringJoiner;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counters of one channel since its creation. The channel's event loop writes them. Any thread may read them; a value may lag
 * behind by a moment. They never decrease. They do not change after {@link RdmaChannel#releaseFuture}: what the device returns at
 * the end of a connection is counted after the channel is closed.
 */
public final class RdmaChannelStatistics {

    /** What is counted. */
    public enum Counter {
        /** Sends that the provider has completed. */
        SENDS("Sends completed"),
        /** Bytes of the Sends that the provider has completed. */
        SENT_BYTES("bytes of completed Sends"),
        /** Messages that arrived in a posted receive. */
        RECEIVES("messages received"),
        /** Bytes of the messages that arrived. */
        RECEIVED_BYTES("bytes of received messages"),
        /** RDMA Writes that the provider has completed. */
        WRITES("RDMA Writes completed"),
        /** Bytes of the RDMA Writes that the provider has completed. */
        WRITTEN_BYTES("bytes of completed RDMA Writes"),
        /** RDMA Reads that the provider has completed. */
        READS("RDMA Reads completed"),
        /** Bytes that arrived by RDMA Reads. */
        READ_BYTES("bytes of completed RDMA Reads"),
        /** Bytes copied because a message or a sink was not in registered memory, or in too many pieces. */
        COPIED_BYTES("bytes copied because their memory was not registered or in too many pieces"),
        /** Bytes of a stream copied out of the memory that the peer can write to, which are all that were read. */
        RECEIVED_COPIED_BYTES("bytes of a stream copied out of the receive ring"),
        /** Times that a flush found the send queue full and left messages waiting; normal under load. */
        FULL_SEND_QUEUES("flushes that found the send queue full"),
        /** Messages that arrived while no read was wanted; many of them say that the application is slower than the peer. */
        RECEIVES_HELD_BACK("messages that arrived while no read was wanted"),
        /**
         * Times that no message of the peer was passed on because the peer had not taken earlier messages, see
         * {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES}.
         */
        OUTBOUND_LIMIT_REACHED("times that nothing was passed on until messages sent were completed"),
        /** Pieces of memory exposed to the peer. */
        EXPOSURES("pieces of memory exposed to the peer"),
        /** Exposed memory that a Send with Invalidate of the peer withdrew. */
        REMOTE_INVALIDATIONS_RECEIVED("exposures withdrawn by the peer"),
        /** Sends with Invalidate that the provider has completed. */
        REMOTE_INVALIDATIONS_SENT("Sends with Invalidate completed"),
        /** Exposed memory that this side withdrew, the end of the connection not counted. */
        LOCAL_INVALIDATIONS("exposures withdrawn by this side"),
        /** Work requests that were not done because the connection ended, posted receives included. */
        FLUSHED_WORK_REQUESTS("work requests flushed at the end of the connection"),
        /**
         * Buffers never given back because the device did not return them within the close time-out; each is lost memory,
         * and says that the provider is at fault.
         */
        BUFFERS_LEAKED_ON_PURPOSE("buffers given up because the device did not return them");

        private final String description;

        Counter(String description) {
            this.description = description;
        }

        /**
         * A short description of the counter.
         *
         * @return the description, for people
         */
        public String description() {
            return description;
        }
    }

    private static final int COUNTERS = Counter.values().length;

    private final AtomicLongArray values = new AtomicLongArray(COUNTERS);

    RdmaChannelStatistics() {
    }

    /**
     * Reads a counter.
     *
     * @param counter which
     * @return its value, not negative
     */
    public long get(Counter counter) {
        return values.getOpaque(counter.ordinal());
    }

    /** Event loop only: with a single writer the sum needs no atomic instruction. */
    void add(Counter counter, long amount) {
        int index = counter.ordinal();
        values.setOpaque(index, values.getPlain(index) + amount);
    }

    void increment(Counter counter) {
        add(counter, 1);
    }

    @Override
    public String toString() {
        StringJoiner joiner = new StringJoiner(", ", "RdmaChannelStatistics(", ")");
        for (Counter counter : Counter.values()) {
            joiner.add(counter + "=" + get(counter));
        }
        return joiner.toString();
    }
}
