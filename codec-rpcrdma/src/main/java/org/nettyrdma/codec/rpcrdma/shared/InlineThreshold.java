package org.nettyrdma.codec.rpcrdma.shared;

import org.nettyrdma.codec.rpcrdma.ConnectionTerms;
import org.nettyrdma.codec.rpcrdma.header.ChunkLists;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/**
 * How large a Send may be in each direction of one connection, header and body together.
 * In version 1 the threshold is 1024 to 262144 bytes, and 1024 if the peer sent no private data (RFC 8797). For version 2 see
 * {@link ConnectionTerms}.
 *
 * @param sendBytes    largest Send from here to the peer
 * @param receiveBytes largest Send from the peer to here
 * @param version the version whose headers are part of these sizes
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

    /**
     * That of a connection whose sides have told what they send.
     *
     * @param terms the terms of the connection
     * @return its sizes
     */
    public static InlineThreshold of(ConnectionTerms terms) {
        return new InlineThreshold(terms.sendBytes(), terms.receiveBytes(), terms.version());
    }

    /**
     * Whether a message with these chunks and this much of the RPC message inline can be sent to the peer.
     *
     * @param chunks the chunks of the message
     * @param bodyBytes how much of the RPC message is inline
     * @return {@code true} if it fits one Send
     */
    public boolean fitsSend(ChunkLists chunks, long bodyBytes) {
        return version.headerLength(chunks) + bodyBytes <= sendBytes;
    }

    /**
     * Whether the peer can send a message with a header and a body of these lengths.
     *
     * @param headerBytes length of the header
     * @param bodyBytes how much of the RPC message is inline
     * @return {@code true} if it fits one receive
     */
    public boolean fitsReceive(int headerBytes, long bodyBytes) {
        return headerBytes + bodyBytes <= receiveBytes;
    }
}
