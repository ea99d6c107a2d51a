package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.header.PropertySet;

/**
 * The state that one connection has settled so far: its version, how large a Send may be, and the properties that the sides have
 * told each other. {@link RpcRdma#connection} gives it to the application. The methods that change it are for extensions of
 * version 2. Applications do not implement this interface.
 *
 * <p>Each change is a new {@link ConnectionTerms}, which is fired through the pipeline as a user event.
 *
 * <h2>Sizes in version 2</h2>
 * Until the server has sent a message of version 2, a client sends no more than 1024 bytes at once
 * (version-two-08, section 7). From then on 4096 bytes hold in each direction, until RDMA2_CONNPROP
 * tells the receiver's Receive Buffer Size, and always no more than {@link RpcRdmaLimits#inlineThresholdBytes()} of this side, or
 * what it has told since that it receives. How much the peer sends at most nobody tells. So a call offers memory for its reply
 * where that may be longer than what its receiver has told of itself, 1024 bytes before it has told anything.
 * The sizes of the connection private data (RFC 8797) hold for version 1 only. A later RDMA2_CONNPROP replaces the earlier one. A
 * smaller size in it holds for messages that are planned from then on. A size that only short messages fit into is accepted:
 * longer messages fail as too large. A size that no message fits into ends the connection,
 * and so does one that RDMA2_CONNPROP of this side is too long for.
 */
public interface RpcRdmaConnection {

    /**
     * The terms that hold now. Any thread.
     *
     * @return the terms; of a channel that is not connected yet they are not meaningful
     */
    ConnectionTerms terms();

    /**
     * The properties that this side tells the peer in version 2. Event loop only.
     *
     * @return the properties
     */
    PropertySet properties();

    /**
     * Changes what this side has told the peer about itself. To be called before RDMA2_CONNPROP is sent, or
     * when a message of an extension has told the peer, ahead of all that is sent from then on. Fires the new terms. Event loop
     * only.
     *
     * @param told all the properties of this side; those that are not in it have their defaults
     * @throws IllegalArgumentException if RDMA2_CONNPROP was not sent and would be longer than 4096 bytes, the least that every
     *                                  peer receives (version-two-08, section 5.3.4)
     */
    void properties(PropertySet told);

    /**
     * The peer has told its properties, in version 2: in RDMA2_CONNPROP, or in a message of an extension. Fires the new terms.
     * Event loop only.
     *
     * @param received all that is known of the peer's properties now; those that are not in it have their defaults
     */
    void peerProperties(PropertySet received);
}
