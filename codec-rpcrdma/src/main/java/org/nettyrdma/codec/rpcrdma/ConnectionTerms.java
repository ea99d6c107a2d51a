package org.nettyrdma.codec.rpcrdma;

import org.nettyrdma.codec.rpcrdma.header.PropertySet;
import org.nettyrdma.codec.rpcrdma.header.RpcRdmaVersion;

/**
 * The terms of a connection: the values that the two sides have told each other, and their consequences. Fired through the
 * pipeline as a user event when the connection stands, before {@code channelActive}, and again after each change. Immutable.
 *
 * @param version          the version that calls on this connection are sent in
 * @param sendBytes        largest Send from here to the peer, header and body together: in version 1 1024 to 262144, and 1024 if
 *                         the peer sent no private data (RFC 8797); for version 2 see {@link RpcRdmaConnection}
 * @param receiveBytes     largest Send from the peer to here, in the same way
 * @param mayInvalidate    whether this side's replies may be Sends with Invalidate: in version 1 only if both sides accept them
 *                         (RFC 8797); in version 2, where each call names the handle that its reply may invalidate, if remote
 *                         invalidation is on at this side
 * @param mayBeInvalidated whether the peer's replies may be Sends with Invalidate: in version 1 if this side has said that it
 *                         accepts them, in version 2 if remote invalidation is on at this side. The Linux server needs no more in
 *                         version 1: it says itself that it does not accept them, because it never opens memory to its clients
 * @param agreed whether the version is settled; until then the terms have the version that this side begins with
 * @param peerProperties the properties that the peer has told in version 2, empty if it has told none
 */
public record ConnectionTerms(RpcRdmaVersion version, int sendBytes, int receiveBytes, boolean mayInvalidate,
                              boolean mayBeInvalidated, boolean agreed, PropertySet peerProperties) {
}
