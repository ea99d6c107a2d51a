package org.nettyrdma.channel;

import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.ServerSocketChannelConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.nettyrdma.stream.StreamHello;
import org.nettyrdma.verbs.ConnectionRequest;

/**
 * Listens for connection requests of streams. Each becomes an {@link RdmaStreamChannel}, which is read as a message, as with
 * every server channel of Netty. A request whose private data is not that of a stream is rejected before it becomes a channel; so
 * are those beyond {@link RdmaChannelOption#MAX_CONNECTIONS} and {@link RdmaChannelOption#MAX_CONNECTIONS_PER_ADDRESS}. The log
 * says so, in at most some lines a second.
 */
public final class RdmaServerStreamChannel extends AcceptingChannel implements ServerSocketChannel {

    /**
     * A channel to listen with, for {@code ServerBootstrap.channel(RdmaServerStreamChannel.class)}.
     */
    public RdmaServerStreamChannel() {
        // Needed by the bootstrap.
    }

    @Override
    public ServerSocketChannelConfig config() {
        return settings();
    }

    /**
     * Where this channel listens. Any thread.
     *
     * @return the address; {@code null} for a path, as over shared memory, and before {@code bind}
     */
    @Override
    public InetSocketAddress localAddress() {
        return inet(super.localAddress());
    }

    /** What a socket can tell: it has no name for a path. */
    static InetSocketAddress inet(SocketAddress address) {
        return address instanceof InetSocketAddress inet ? inet : null;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    QueuePairChannel newChild(ConnectionRequest request) throws IOException {
        StreamHello.read(request.privateData()); // refused here, since the failure of a channel costs more
        RdmaStreamChannel child = new RdmaStreamChannel(this, request);
        int ringBytes = settings().getReceiveBufferSize();
        if (ringBytes > 0) {
            child.config().setReceiveBufferSize(ringBytes);
        }
        return child;
    }
}
