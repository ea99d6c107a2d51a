package org.nettyrdma.codec.rpcrdma;

import io.netty.channel.Channel;

/**
 * What the two sides have told each other while connecting, and what follows from it.
 *
 * @param threshold          how large a Send may be
 * @param remoteInvalidation whether a responder may answer by Send with Invalidate; in version 1 only if both sides have
 *                           said that they cope with it (RFC 8797)
 */
record ConnectionTerms(InlineThreshold threshold, boolean remoteInvalidation) {

    /** The terms that {@link RpcRdma} has for a handler: known once the channel is active, and not before. */
    interface Source {

        /**
         * The terms of a connection that stands.
         *
         * @param channel an active channel
         */
        ConnectionTerms of(Channel channel);
    }

    static ConnectionTerms of(RpcRdmaPrivateData own, RpcRdmaPrivateData peer) {
        return new ConnectionTerms(InlineThreshold.of(own, peer),
                own.acceptsInvalidation() && peer.acceptsInvalidation());
    }
}
