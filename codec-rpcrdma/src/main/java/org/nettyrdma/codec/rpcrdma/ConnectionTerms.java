package org.nettyrdma.codec.rpcrdma;

/**
 * What the two sides have told each other while connecting, and what follows from it.
 *
 * @param threshold          how large a Send may be
 * @param remoteInvalidation whether a responder may answer by Send with Invalidate; in version 1 only if both sides have
 *                           said that they cope with it (RFC 8797)
 */
record ConnectionTerms(InlineThreshold threshold, boolean remoteInvalidation) {

    static ConnectionTerms of(RpcRdmaPrivateData own, RpcRdmaPrivateData peer) {
        return new ConnectionTerms(InlineThreshold.of(own, peer),
                own.acceptsInvalidation() && peer.acceptsInvalidation());
    }
}
