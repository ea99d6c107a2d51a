package org.nettyrdma.codec.rpcrdma.legacy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.nettyrdma.channel.RdmaChannel;
import org.nettyrdma.channel.RdmaChannelOption;
import org.nettyrdma.codec.oncrpc.Xdr;
import org.nettyrdma.codec.oncrpc.XdrException;
import org.nettyrdma.codec.rpcrdma.RpcRdmaPrivateData;
import org.nettyrdma.codec.rpcrdma.connection.NegotiatedConnection;

/**
 * The Connection Configuration Protocol of the oldest form of version 1 (draft-ietf-nfsv4-rpcrdma-02, section 6), with which
 * peers without connection private data tell each other the size of their receive buffers. It is an RPC program on the
 * connection that it configures, to be called before any other: {@link ConnectionConfigurationClient} calls it,
 * {@link ConnectionConfigurationProgram} serves it.
 *
 * <p>The draft does not say whether sizes are those of RPC messages or of Sends. Here they are those of Sends, header included,
 * because receive buffers must hold whole Sends. A peer that means the RPC message alone has more room than is used.
 */
final class ConnectionConfiguration {

    /** Number of the program; the draft has none yet, this one was assigned to the protocol later (RFC 5666, section 6). */
    static final int PROGRAM = 100417;

    /** The one version of the program. */
    static final int VERSION = 1;

    /** The one procedure, {@code CONF_RDMA}, apart from NULL. */
    static final int CONFIGURE = 1;

    /**
     * The size that every peer can send and receive before it is configured, in bytes (draft-ietf-nfsv4-rpcrdma-02, section 6.1).
     */
    static final int LEAST_SEND_BYTES = 1024;

    /** The length of arguments and results alike. */
    static final int ENCODED_BYTES = 3 * Integer.BYTES;
    private static final long MAX_WORD = 0xFFFF_FFFFL;

    private ConnectionConfiguration() {
    }

    /**
     * The request of a client, {@code config_rdma_req}.
     *
     * @param maxCallSendBytes  {@code maxcall_sendsize}: the largest Send that the client wants to make; 1024 to 4294967295
     * @param maxReplySendBytes {@code maxreply_sendsize}: the largest Send that the client can receive; 1024 to 4294967295
     * @param maxReads          {@code maxrdmaread}: RDMA Reads that the client can serve at once; 0 to 4294967295, where 0 says
     *                          that it serves none
     */
    public record Request(long maxCallSendBytes, long maxReplySendBytes, long maxReads) {

        /**
         * Checks the fields.
         *
         * @param maxCallSendBytes  the largest Send of the client
         * @param maxReplySendBytes the largest Send to the client
         * @param maxReads          RDMA Reads that the client serves
         * @throws XdrException if one is out of its range; the message names it
         */
        public Request {
            check(maxCallSendBytes, LEAST_SEND_BYTES, "maxcall_sendsize");
            check(maxReplySendBytes, LEAST_SEND_BYTES, "maxreply_sendsize");
            check(maxReads, 0, "maxrdmaread");
        }

        /**
         * Reads the arguments of a call.
         *
         * @param in the arguments, read to their end
         * @return what they say
         * @throws XdrException if they have another length than they should, or a field is out of its range
         */
        public static Request read(ByteBuf in) {
            requireLength(in, "config_rdma_req");
            return new Request(in.readUnsignedInt(), in.readUnsignedInt(), in.readUnsignedInt());
        }

        /**
         * Writes the arguments of a call.
         *
         * @param out gets them appended
         */
        public void write(ByteBuf out) {
            Xdr.writeUnsignedInt(out, maxCallSendBytes);
            Xdr.writeUnsignedInt(out, maxReplySendBytes);
            Xdr.writeUnsignedInt(out, maxReads);
        }
    }

    /**
     * The answer of a server, {@code config_rdma_reply}.
     *
     * @param maxCallSendBytes {@code maxcall_sendsize}: the largest Send that the server can receive, whatever the client asked
     *                         for; 1024 to 4294967295
     * @param alignBytes       {@code align}: what the server would like opaque data to be aligned to in its receive buffers; 0 to
     *                         4294967295
     * @param maxReads         {@code maxrdmaread}: RDMA Reads that the server can serve at once; 0 to 4294967295, where 0 says
     *                         that it serves none
     */
    public record Reply(long maxCallSendBytes, long alignBytes, long maxReads) {

        /**
         * Checks the fields.
         *
         * @param maxCallSendBytes the largest Send to the server
         * @param alignBytes       alignment of opaque data
         * @param maxReads         RDMA Reads that the server serves
         * @throws XdrException if one is out of its range; the message names it
         */
        public Reply {
            check(maxCallSendBytes, LEAST_SEND_BYTES, "maxcall_sendsize");
            check(alignBytes, 0, "align");
            check(maxReads, 0, "maxrdmaread");
        }

        /**
         * Reads the results of a call.
         *
         * @param in the results, read to their end
         * @return what they say
         * @throws XdrException if they have another length than they should, or a field is out of its range
         */
        public static Reply read(ByteBuf in) {
            requireLength(in, "config_rdma_reply");
            return new Reply(in.readUnsignedInt(), in.readUnsignedInt(), in.readUnsignedInt());
        }

        /**
         * Writes the results of a call.
         *
         * @param out gets them appended
         */
        public void write(ByteBuf out) {
            Xdr.writeUnsignedInt(out, maxCallSendBytes);
            Xdr.writeUnsignedInt(out, alignBytes);
            Xdr.writeUnsignedInt(out, maxReads);
        }
    }

    /** What this side announces by private data too, so that the two can never differ. */
    static RpcRdmaPrivateData sizesOf(RdmaChannel channel) {
        return RpcRdmaPrivateData.parse(Unpooled.wrappedBuffer(channel.config().getOption(RdmaChannelOption.PRIVATE_DATA)));
    }

    /** How many RDMA Reads this side serves at once. */
    static int readsOf(RdmaChannel channel) {
        return channel.config().getOption(RdmaChannelOption.INBOUND_READ_DEPTH);
    }

    /**
     * Lets what the peer has said take effect, if the pipeline is one of RpcRdma. Any thread.
     *
     * @param peerReceiveBytes the largest Send that the peer can receive, 1024 or more
     * @param peerServesReads  whether RDMA Reads of the peer's memory may be used
     */
    static void apply(RdmaChannel channel, long peerReceiveBytes, boolean peerServesReads) {
        NegotiatedConnection connection = NegotiatedConnection.of(channel);
        if (connection == null) {
            return;
        }
        int sendBytes = (int) Math.min(sizesOf(channel).sendBytes(), peerReceiveBytes);
        if (channel.eventLoop().inEventLoop()) {
            connection.configure(sendBytes, peerServesReads);
        } else {
            channel.eventLoop().execute(() -> connection.configure(sendBytes, peerServesReads));
        }
    }

    private static void requireLength(ByteBuf in, String field) {
        if (in.readableBytes() != ENCODED_BYTES) {
            throw new XdrException(field + ": " + in.readableBytes() + " bytes (expected: " + ENCODED_BYTES + ')');
        }
    }

    private static void check(long value, long least, String field) {
        if (value < least || value > MAX_WORD) {
            throw new XdrException(field + ": " + value + " (expected: " + least + ".." + MAX_WORD + ')');
        }
    }
}
