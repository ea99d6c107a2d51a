package org.nettyrdma.codec.rpcrdma;

/**
 * What the two sides have told each other while connecting, and what follows from it.
 *
 * @param threshold        how large a Send may be
 * @param mayInvalidate    whether this side's replies may be Sends with Invalidate: only if both sides have said that they cope with them
 *                         (RFC 8797)
 * @param mayBeInvalidated whether the peer's replies may be: if this side has said so. The Linux server asks for no more, and says itself
 *                         that it does not cope with them, since it never opens memory to its clients
 */
record ConnectionTerms(InlineThreshold threshold, boolean mayInvalidate, boolean mayBeInvalidated) {

    static ConnectionTerms of(RpcRdmaPrivateData own, RpcRdmaPrivateData peer) {
        return new ConnectionTerms(InlineThreshold.of(own, peer), own.acceptsInvalidation() && peer.acceptsInvalidation(),
                own.acceptsInvalidation());
    }
}
