package org.nettyrdma.codec.rpcrdma;

/**
 * How large a Send may be in each direction of one connection, header and body together. The only place where a size is
 * compared with it. In version 1 1024 to 65536 bytes, and 1024 where the peer did not tell (RFC 8797); for version 2 see
 * {@link RpcRdmaConnection}.
 *
 * @param sendBytes    largest Send from here to the peer
 * @param receiveBytes largest Send from the peer to here
 * @param version      whose headers count into these sizes
 */
public record InlineThreshold(int sendBytes, int receiveBytes, RpcRdmaVersion version) {

    /**
     * For version 1.
     *
     * @param sendBytes    largest Send from here to the peer
     * @param receiveBytes largest Send from the peer to here
     */
    public InlineThreshold(int sendBytes, int receiveBytes) {
        this(sendBytes, receiveBytes, RpcRdmaVersion.ONE);
    }

    /** The smaller one of what each side is prepared for, in each direction. */
    static InlineThreshold of(RpcRdmaPrivateData own, RpcRdmaPrivateData peer) {
        return new InlineThreshold(Math.min(own.sendBytes(), peer.receiveBytes()),
                Math.min(own.receiveBytes(), peer.sendBytes()));
    }

    /** Whether a message with these chunks and this much of the RPC message inline can be sent to the peer. */
    boolean fitsSend(ChunkLists chunks, long bodyBytes) {
        return version.headerLength(chunks) + bodyBytes <= sendBytes;
    }

    /** Whether the peer can send a message with a header and a body of these lengths. */
    boolean fitsReceive(int headerBytes, long bodyBytes) {
        return headerBytes + bodyBytes <= receiveBytes;
    }
}
