package org.nettyrdma.codec.rpcrdma;

/**
 * The transport header of one message, as far as it matters above the codec. {@link RpcRdmaCodec} makes one of every
 * message that can be attributed to a call; of the obsolete types RDMA_MSGP is a {@link Msg}, and RDMA_DONE is dropped unless
 * the {@link LegacyProfile} asks for it.
 */
public sealed interface RpcRdmaHeader {

    /**
     * The transaction id, the same as in the RPC message.
     *
     * @return the XID; all 32 bits are significant
     */
    int xid();

    /**
     * The version word.
     *
     * @return the version, 1 unless the header is {@link Malformed} or an error that quotes the version of its call
     */
    int version();

    /**
     * The credit word: requested in calls, granted in replies.
     *
     * @return the credits as they stand on the wire, 0 to 4294967295
     */
    long credits();

    /**
     * The same header with another credit word.
     *
     * @param newCredits the credits, 0 to 4294967295
     * @return the header to send
     */
    RpcRdmaHeader withCredits(long newCredits);

    /** A header that conveys an RPC message, in the same Send or by its chunks. */
    sealed interface WithChunks extends RpcRdmaHeader {

        /**
         * The chunks.
         *
         * @return the lists, {@link ChunkLists#EMPTY} if there is none
         */
        ChunkLists chunks();
    }

    /**
     * RDMA_MSG: an RPC message follows, from which the content of the chunks has been taken out.
     *
     * @param xid     the transaction id
     * @param credits the credit word
     * @param chunks  the chunks
     */
    record Msg(int xid, long credits, ChunkLists chunks) implements WithChunks {

        @Override
        public int version() {
            return RpcRdmaLayout.VERSION;
        }

        @Override
        public Msg withCredits(long newCredits) {
            return new Msg(xid, newCredits, chunks);
        }
    }

    /**
     * RDMA_NOMSG: the RPC message is in the Position Zero Read chunk of a call or in the Reply chunk of a reply.
     *
     * @param xid     the transaction id
     * @param credits the credit word
     * @param chunks  the chunks
     */
    record NoMsg(int xid, long credits, ChunkLists chunks) implements WithChunks {

        @Override
        public int version() {
            return RpcRdmaLayout.VERSION;
        }

        @Override
        public NoMsg withCredits(long newCredits) {
            return new NoMsg(xid, newCredits, chunks);
        }
    }

    /**
     * RDMA_ERROR with ERR_VERS: the responder does not speak the version of the call.
     *
     * @param xid            the transaction id of the call
     * @param version        the version word: what the call said
     * @param credits        the credit word
     * @param lowestVersion  the lowest version that the responder speaks, an unsigned number
     * @param highestVersion the highest version that the responder speaks, an unsigned number
     */
    record VersionError(int xid, int version, long credits, long lowestVersion, long highestVersion)
            implements RpcRdmaHeader {

        @Override
        public VersionError withCredits(long newCredits) {
            return new VersionError(xid, version, newCredits, lowestVersion, highestVersion);
        }
    }

    /**
     * RDMA_ERROR with ERR_CHUNK: the responder cannot parse the header, or cannot convey the reply in what the call offered.
     *
     * @param xid     the transaction id of the call
     * @param version the version word: what the call said
     * @param credits the credit word
     */
    record ChunkError(int xid, int version, long credits) implements RpcRdmaHeader {

        @Override
        public ChunkError withCredits(long newCredits) {
            return new ChunkError(xid, version, newCredits);
        }
    }

    /**
     * RDMA_DONE, only in the {@link LegacyProfile}: the requester has fetched the Read chunks of a reply.
     *
     * @param xid     the transaction id of that reply
     * @param credits the credit word
     */
    record Done(int xid, long credits) implements RpcRdmaHeader {

        @Override
        public int version() {
            return RpcRdmaLayout.VERSION;
        }

        @Override
        public Done withCredits(long newCredits) {
            return new Done(xid, newCredits);
        }
    }

    /**
     * Received only: the fixed words could be read, the rest could not. It used a receive and a credit like any message, so
     * it takes the same way up to the chunk handler, which answers a call and fails the call that a reply belongs to.
     *
     * @param xid     the transaction id
     * @param version the version word
     * @param credits the credit word
     * @param cause   what is wrong with it
     */
    record Malformed(int xid, int version, long credits, RpcRdmaException cause) implements RpcRdmaHeader {

        @Override
        public Malformed withCredits(long newCredits) {
            return new Malformed(xid, version, newCredits, cause);
        }
    }
}
