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
        SENDS("sends", "Sends completed"),
        /** Bytes of the Sends that the provider has completed. */
        SENT_BYTES("bytes", "bytes of completed Sends"),
        /** Messages that arrived in a posted receive. */
        RECEIVES("receives", "messages received"),
        /** Bytes of the messages that arrived. */
        RECEIVED_BYTES("bytes", "bytes of received messages"),
        /** RDMA Writes that the provider has completed. */
        WRITES("writes", "RDMA Writes completed"),
        /** Bytes of the RDMA Writes that the provider has completed. */
        WRITTEN_BYTES("bytes", "bytes of completed RDMA Writes"),
        /** RDMA Reads that the provider has completed. */
        READS("reads", "RDMA Reads completed"),
        /** Bytes that arrived by RDMA Reads. */
        READ_BYTES("bytes", "bytes of completed RDMA Reads"),
        /** Bytes copied because a message or a sink was not in registered memory, or in too many pieces. */
        COPIED_BYTES("bytes", "bytes copied because their memory was not registered or in too many pieces"),
        /** Bytes of a stream copied out of the memory that the peer can write to; the others were read where they are. */
        RECEIVED_COPIED_BYTES("bytes", "bytes of a stream copied out of the receive ring"),
        /** Times that a flush found the send queue full and left messages waiting; normal under load. */
        FULL_SEND_QUEUES("flushes", "flushes that found the send queue full"),
        /** Messages that arrived while no read was wanted; many of them say that the application is slower than the peer. */
        RECEIVES_HELD_BACK("messages", "messages that arrived while no read was wanted"),
        /**
         * Times that no message of the peer was passed on because the peer had not taken earlier messages, see
         * {@link RdmaChannelOption#MAX_OUTBOUND_MESSAGES}.
         */
        OUTBOUND_LIMIT_REACHED("turns", "times that nothing was passed on until messages sent were completed"),
        /** Pieces of memory exposed to the peer. */
        EXPOSURES("exposures", "pieces of memory exposed to the peer"),
        /** Exposed memory that a Send with Invalidate of the peer withdrew. */
        REMOTE_INVALIDATIONS_RECEIVED("exposures", "exposures withdrawn by the peer"),
        /** Sends with Invalidate that the provider has completed. */
        REMOTE_INVALIDATIONS_SENT("sends", "Sends with Invalidate completed"),
        /** Exposed memory that this side withdrew, the end of the connection not counted. */
        LOCAL_INVALIDATIONS("exposures", "exposures withdrawn by this side"),
        /** Work requests that were not done because the connection ended, posted receives included. */
        FLUSHED_WORK_REQUESTS("requests", "work requests flushed at the end of the connection"),
        /**
         * Buffers never given back because the device did not return them within the close time-out; each is lost memory,
         * and says that the provider is at fault.
         */
        BUFFERS_LEAKED_ON_PURPOSE("buffers", "buffers given up because the device did not return them");

        private final String baseUnit;
        private final String description;

        Counter(String baseUnit, String description) {
            this.baseUnit = baseUnit;
            this.description = description;
        }

        /**
         * What one is.
         *
         * @return a plural noun in lower case, for example {@code "bytes"}
         */
        public String baseUnit() {
            return baseUnit;
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

    private static final int COUNTERS = Counter.values().length; // which takes a copy of them each time

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
