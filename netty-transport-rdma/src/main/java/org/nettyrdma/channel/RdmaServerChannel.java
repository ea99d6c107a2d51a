package org.nettyrdma.channel;

import io.netty.channel.ChannelConfig;
import org.nettyrdma.verbs.ConnectionRequest;

/**
 * Listens for connection requests. Each request becomes an {@link RdmaChannel}, which is read as a message, as with every server
 * channel of Netty. Registering that channel with an event loop of the same provider accepts the connection; with one of another
 * it fails, and the connection is refused. Closing the channel before, or {@link RdmaChannel#reject}, refuses it, too. While no
 * read is wanted ({@code AUTO_READ}) requests wait, most of them in the backlog.
 *
 * <p>Requests beyond {@link RdmaChannelOption#MAX_CONNECTIONS} and {@link RdmaChannelOption#MAX_CONNECTIONS_PER_ADDRESS} are
 * rejected before they become a channel. The log says so, in at most some lines a second.
 */
public final class RdmaServerChannel extends AcceptingChannel {

    /**
     * A channel to listen with, for {@code ServerBootstrap.channel(RdmaServerChannel.class)}.
     */
    public RdmaServerChannel() {
        // Needed by the bootstrap.
    }

    @Override
    public ChannelConfig config() {
        return settings();
    }

    @Override
    QueuePairChannel newChild(ConnectionRequest request) {
        return new RdmaChannel(this, request);
    }
}
