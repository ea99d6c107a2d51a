package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.legacy.LegacyProfile;

/**
 * Counts messages, chunks and errors over all connections of one {@link RpcRdma}. Counters only grow. Any thread may read them. A
 * reader sees a recent value of each counter, not a snapshot of all.
 */
public interface ChunkStatistics {

    /**
     * The counters. A requester counts the calls that are ready to be sent, also those that are given up while they wait for a
     * credit then, and the replies that it receives. A responder counts the calls that it receives and the replies that it sends.
     */
    enum Counter {
        /** Calls that travelled in one Send. */
        CALLS_INLINE("calls", "Calls that travelled in one Send"),
        /** Calls with at least one DDP-eligible argument in a Read chunk. */
        CALLS_WITH_READ_CHUNK("calls", "Calls with a DDP-eligible argument in a Read chunk"),
        /** Calls whose whole message travelled in a Position Zero Read chunk. */
        LONG_CALLS("calls", "Calls whose whole message travelled in a Position Zero Read chunk"),
        /** Replies that travelled in one Send. */
        REPLIES_INLINE("replies", "Replies that travelled in one Send"),
        /** Replies with at least one DDP-eligible result in a Write chunk. */
        REPLIES_WITH_WRITE_CHUNK("replies", "Replies with a DDP-eligible result in a Write chunk"),
        /** Replies whose whole message, placed results apart, travelled in the Reply chunk. */
        LONG_REPLIES("replies", "Replies that travelled in a Reply chunk"),
        /** Replies of which at least a part travelled in Read chunks; only in the {@link LegacyProfile}. */
        REPLIES_WITH_READ_CHUNK("replies", "Replies that the requester fetched from Read chunks"),
        /** Bytes of Read chunks, fetched by RDMA Read. */
        READ_CHUNK_BYTES("bytes", "Bytes of Read chunks"),
        /** Bytes written into Write chunks. */
        WRITE_CHUNK_BYTES("bytes", "Bytes written into Write chunks"),
        /** Bytes written into Reply chunks. */
        REPLY_CHUNK_BYTES("bytes", "Bytes written into Reply chunks"),
        /** Bytes copied into registered memory before they could be exposed; allocate with the channel's allocator. */
        COPIED_BYTES("bytes", "Bytes copied because they were not in registered memory"),
        /** Pieces of memory exposed to the peer. */
        EXPOSURES("exposures", "Pieces of memory exposed to the peer"),
        /** Replies that went by Send with Invalidate. */
        REMOTE_INVALIDATIONS("replies", "Replies that invalidated a steering tag of the requester"),
        /** Replies to calls with exposed memory that went by a plain Send, so that the requester withdraws all of it itself. */
        REPLIES_WITHOUT_INVALIDATION("replies", "Replies to calls with exposed memory that invalidated none of it"),
        /** Pieces of exposed memory that this side withdrew itself, since no reply had. */
        LOCAL_INVALIDATIONS("exposures", "Pieces of exposed memory that this side withdrew itself"),
        /** Received calls whose {@code rdma_inv_handle} stands in none of their segments; answered without an invalidation. */
        UNLISTED_HANDLES_IGNORED("calls", "Calls that named a handle to invalidate which they did not list"),
        /** Calls that were refused and sent again, once each, within the limits that the error of the responder told. */
        CALLS_SENT_AGAIN("calls", "Calls that were sent again within the limits of the responder"),
        /** Calls refused because of their version, with ERR_VERS. */
        VERSION_ERRORS("errors", "Calls refused with ERR_VERS"),
        /**
         * Calls refused with ERR_CHUNK, or in version 2 with any error but RDMA2_ERR_VERS: a bad header, or a reply that did not
         * fit into what the call offered.
         */
        CHUNK_ERRORS("errors", "Calls refused with ERR_CHUNK or a transport error of version 2"),
        /** Received messages that could not be parsed beyond their fixed words. */
        MALFORMED_MESSAGES("messages", "Received messages with a malformed header"),
        /** Received messages of version 2 with a flag that nobody has registered, which was ignored. */
        UNKNOWN_FLAGS_IGNORED("messages", "Received messages with an unknown flag"),
        /** Received calls with a Read chunk where their binding allows none; answered with GARBAGE_ARGS. */
        BINDING_VIOLATIONS("calls", "Calls with a Read chunk where their binding allows none"),
        /** Received messages too short to be attributed to a call; dropped. */
        SHORT_MESSAGES_DROPPED("messages", "Received messages too short for a header"),
        /** Messages of the obsolete type RDMA_DONE that ended a reply with Read chunks; only in the {@link LegacyProfile}. */
        DONE_MESSAGES("messages", "Messages of type RDMA_DONE that ended a reply with Read chunks"),
        /** Replies with Read chunks whose memory was withdrawn because no RDMA_DONE came in time. */
        DONE_TIMEOUTS("replies", "Replies with Read chunks withdrawn for want of RDMA_DONE"),
        /** Received messages of the obsolete type RDMA_DONE that belong to no reply with Read chunks; dropped. */
        DONE_MESSAGES_DROPPED("messages", "Received messages of type RDMA_DONE that belong to no reply"),
        /**
         * Received messages of a direction that is not served: replies and errors at a server, dropped; calls at a client,
         * refused.
         */
        STRAY_MESSAGES_DROPPED("messages", "Received messages of a direction that is not served"),
        /** Replies to no outstanding call, or to one that was given up and whose memory was withdrawn; dropped. */
        UNKNOWN_REPLIES_DROPPED("replies", "Replies to no outstanding call"),
        /** Calls from server to client, sent or received. */
        REVERSE_CALLS("calls", "Calls from server to client"),
        /** Replies from client to server, sent or received. */
        REVERSE_REPLIES("replies", "Replies from client to server"),
        /** Calls from server to client, and replies to them, that did not fit into one Send: not sent. */
        REVERSE_MESSAGES_TOO_LARGE("messages", "Messages of the reverse direction that did not fit into one Send"),
        /** Calls that waited for memory before they were carried out; see {@link ResourceLimits}. */
        CALLS_HELD_BACK("calls", "Calls that waited for memory"),
        /** Calls whose caller has given up while the peer could still access their memory. */
        CALLS_ABANDONED("calls", "Calls that were given up while they exposed memory"),
        /** Of {@link #CALLS_ABANDONED}, those whose memory did not stay open; see {@link ResourceLimits#maxAbandonedBytes}. */
        ABANDONED_CALLS_WITHDRAWN("calls", "Calls that were given up and whose memory was withdrawn before their reply"),
        /** Connections closed because their transfers made no progress for too long. */
        STALLED_CONNECTIONS("connections", "Connections closed because a transfer made no progress"),
        /**
         * Connections that went on in version 1 because the server has refused version 2; see {@link VersionPolicy#PREFER_V2}.
         */
        VERSION_FALLBACKS("connections", "Connections that fell back to version 1"),
        /** Connections lost before the server had answered a call of version 2; the next ones begin with version 1. */
        VERSION_OFFERS_LOST("connections", "Connections lost before version 2 was answered"),
        /** Connections that began with version 1 because of an earlier one in {@link #VERSION_OFFERS_LOST}. */
        VERSION_FALLBACKS_REMEMBERED("connections", "Connections that began with version 1 because of earlier ones");

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
         * What the number means.
         *
         * @return one sentence without a full stop
         */
        public String description() {
            return description;
        }
    }

    /**
     * Reads a counter. Any thread.
     *
     * @param counter which one
     * @return its value
     */
    long get(Counter counter);
}
