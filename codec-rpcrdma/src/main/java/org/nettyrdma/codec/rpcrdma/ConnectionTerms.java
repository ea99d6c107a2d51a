package org.nettyrdma.codec.rpcrdma;

import io.netty.channel.Channel;

/**
 * What the two sides have told each other while connecting, and what follows from it. Fired up the pipeline as a user event
 * when the connection stands, ahead of {@code channelActive}.
 *
 * @param threshold        how large a Send may be
 * @param mayInvalidate    whether this side's replies may be Sends with Invalidate: only if both sides have said that they cope with them
 *                         (RFC 8797)
 * @param mayBeInvalidated whether the peer's replies may be: if this side has said so. The Linux server asks for no more, and says itself
 *                         that it does not cope with them, since it never opens memory to its clients
 */
public record ConnectionTerms(InlineThreshold threshold, boolean mayInvalidate, boolean mayBeInvalidated) {

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
        return new ConnectionTerms(InlineThreshold.of(own, peer), own.acceptsInvalidation() && peer.acceptsInvalidation(),
                own.acceptsInvalidation());
    }
}
