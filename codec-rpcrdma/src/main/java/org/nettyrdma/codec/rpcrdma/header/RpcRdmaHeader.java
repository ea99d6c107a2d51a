package org.nettyrdma.codec.rpcrdma.header;

import java.util.Objects;
import org.nettyrdma.codec.rpcrdma.RpcRdmaException;
import org.nettyrdma.codec.rpcrdma.format.HeaderLayout;
import org.nettyrdma.codec.rpcrdma.format.RpcRdmaCodec;
import org.nettyrdma.codec.rpcrdma.format.VersionTwoLayout;

/**
 * The transport header of one message, of either version, as the handlers above the codec see it. {@link RpcRdmaCodec} makes a
 * header of every message that can be attributed to a call. Of the obsolete types of version 1, RDMA_MSGP becomes a {@link Msg},
 * and RDMA_DONE is dropped by default.
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
     * @return the version, 1 or 2 unless the header is {@link Malformed} or an error that quotes the version of its call
     */
    int version();

    /**
     * The credit word: requested in calls, granted in replies.
     *
     * @return the credits as they stand on the wire, 0 to 4294967295
     */
    long credits();

    /**
     * The flag word of version 2 (version-two-08, section 3.2), as it was received. Of a header that is to be sent it holds
     * the flags of extensions, which must be registered with {@link HeaderExtensions}; the codec adds RPCRDMA2_F_RESPONSE to
     * every message in the role of a response and takes it away from every request.
     *
     * @return the bits, {@link HeaderFlag} names them; 0 in version 1, which has no such word
     */
    default int flags() {
        return 0;
    }

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

    /** A header of version 2 that belongs to the connection or to an extension and not to a call. */
    sealed interface Control extends RpcRdmaHeader {

        @Override
        default int version() {
            return VersionTwoLayout.VERSION;
        }
    }

    /**
     * RDMA_MSG, RDMA2_MSG: an RPC message follows, from which the content of the chunks has been taken out.
     *
     * @param xid     the transaction id
     * @param version 1 or 2
     * @param credits the credit word
     * @param flags   the flag word, 0 in version 1
     * @param chunks  the chunks
     */
    record Msg(int xid, int version, long credits, int flags, ChunkLists chunks) implements WithChunks {

        /**
         * Creates a header of version 1.
         *
         * @param xid     the transaction id
         * @param credits the credit word
         * @param chunks  the chunks
         */
        public Msg(int xid, long credits, ChunkLists chunks) {
            this(xid, HeaderLayout.VERSION, credits, 0, chunks);
        }

        @Override
        public Msg withCredits(long newCredits) {
            return new Msg(xid, version, newCredits, flags, chunks);
        }
    }

    /**
     * RDMA_NOMSG, RDMA2_NOMSG: the RPC message is in the Position Zero Read chunk of a call or in the Reply chunk of a reply.
     *
     * @param xid     the transaction id
     * @param version 1 or 2
     * @param credits the credit word
     * @param flags   the flag word, 0 in version 1
     * @param chunks  the chunks
     */
    record NoMsg(int xid, int version, long credits, int flags, ChunkLists chunks) implements WithChunks {

        /**
         * Creates a header of version 1.
         *
         * @param xid     the transaction id
         * @param credits the credit word
         * @param chunks  the chunks
         */
        public NoMsg(int xid, long credits, ChunkLists chunks) {
            this(xid, HeaderLayout.VERSION, credits, 0, chunks);
        }

        @Override
        public NoMsg withCredits(long newCredits) {
            return new NoMsg(xid, version, newCredits, flags, chunks);
        }
    }

    /**
     * RDMA_ERROR with ERR_VERS, RDMA2_ERROR with RDMA2_ERR_VERS: the responder does not speak the version of the call. It is
     * always sent in the layout of version 1, whatever its version word says: every responder without version 2 does so, and the
     * layout of an unknown version is not known. Both layouts are read.
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
     * Version 1 only.
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
     * RDMA2_ERROR with any code but RDMA2_ERR_VERS (version-two-08, section 5.3.3): the responder refuses a message. The
     * receiver must not use the credit word.
     *
     * @param xid     the transaction id of the message that is refused
     * @param credits the credit word
     * @param flags   the flag word
     * @param error   why it is refused
     */
    record TransportError(int xid, long credits, int flags, RpcRdmaError error) implements RpcRdmaHeader {

        /**
         * Checks the error.
         *
         * @param xid     the transaction id of the message that is refused
         * @param credits the credit word
         * @param flags   the flag word
         * @param error   why it is refused
         * @throws IllegalArgumentException if the error is {@link RpcRdmaError.Versions}, for which there is
         *                                  {@link VersionError}
         */
        public TransportError {
            if (error instanceof RpcRdmaError.Versions) {
                throw new IllegalArgumentException("error: " + error + " (expected: any other; use VersionError)");
            }
            Objects.requireNonNull(error, "error");
        }

        /**
         * Creates a header with no flag but RPCRDMA2_F_RESPONSE, which every error has.
         *
         * @param xid     the transaction id of the message that is refused
         * @param credits the credit word
         * @param error   why it is refused
         */
        public TransportError(int xid, long credits, RpcRdmaError error) {
            this(xid, credits, VersionTwoLayout.F_RESPONSE, error);
        }

        @Override
        public int version() {
            return VersionTwoLayout.VERSION;
        }

        @Override
        public TransportError withCredits(long newCredits) {
            return new TransportError(xid, newCredits, flags, error);
        }
    }

    /**
     * RDMA2_CONNPROP: tells the peer the transport properties of this side (version-two-08, section 5.3.4).
     *
     * @param xid        a number of the sender's choice
     * @param credits    the credit word
     * @param flags      the flag word
     * @param properties the properties; those that are not in it have their default values
     */
    record ConnectionProperties(int xid, long credits, int flags, PropertySet properties) implements Control {

        @Override
        public ConnectionProperties withCredits(long newCredits) {
            return new ConnectionProperties(xid, newCredits, flags, properties);
        }
    }

    /**
     * A header of an OPTIONAL type that was registered with {@link HeaderExtensions} (version-two-08, section 9.1).
     *
     * @param <T>     what the type's header is parsed to
     * @param xid     the transaction id, or a number that the extension defines
     * @param credits the credit word
     * @param flags   the flag word
     * @param type    the header type
     * @param value   what stands behind the prefix
     */
    record Extension<T>(int xid, long credits, int flags, HeaderType<T> type, T value) implements Control {

        @Override
        public Extension<T> withCredits(long newCredits) {
            return new Extension<>(xid, newCredits, flags, type, value);
        }
    }

    /**
     * RDMA_DONE, obsolete (RFC 8166, section 4.6) and dropped by default: the requester has fetched the Read chunks of a reply.
     *
     * @param xid     the transaction id of that reply
     * @param credits the credit word
     */
    record Done(int xid, long credits) implements RpcRdmaHeader {

        @Override
        public int version() {
            return HeaderLayout.VERSION;
        }

        @Override
        public Done withCredits(long newCredits) {
            return new Done(xid, newCredits);
        }
    }

    /**
     * Received only: the fixed words could be read, the rest could not. The message used a receive and a credit like any other.
     * So it takes the same way up to the chunk handler, which answers a malformed call, and fails the call of a malformed reply.
     *
     * @param xid     the transaction id
     * @param version the version word
     * @param credits the credit word
     * @param granted whether a requester may take the credit word for a grant: not that of RDMA2_ERROR (version-two-08, section
     *                5.3.3), and nothing that a client of version 2 receives before a valid reply (version-two-08, section 7)
     * @param cause   what is wrong with it
     */
    record Malformed(int xid, int version, long credits, boolean granted, RpcRdmaException cause) implements RpcRdmaHeader {

        @Override
        public Malformed withCredits(long newCredits) {
            return new Malformed(xid, version, newCredits, granted, cause);
        }
    }
}
