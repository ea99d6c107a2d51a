package org.nettyrdma.verbs.support;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.function.Supplier;
import org.nettyrdma.verbs.ConnectionRequest;

/**
 * A socket on which a request has arrived that is not answered. It is registered with no selector, so that any context can take
 * it. A subclass knows the request.
 */
public abstract class SocketConnectionRequest implements ConnectionRequest {

    private final SocketChannel channel;
    private final SocketAddress localAddress;
    private final SocketAddress remoteAddress;
    private boolean answered;

    /**
     * Creates one that is not answered.
     *
     * @param channel       the socket
     * @param localAddress  of this side
     * @param remoteAddress of the peer
     */
    protected SocketConnectionRequest(SocketChannel channel, SocketAddress localAddress, SocketAddress remoteAddress) {
        this.channel = channel;
        this.localAddress = localAddress;
        this.remoteAddress = remoteAddress;
    }

    @Override
    public final SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public final SocketAddress remoteAddress() {
        return remoteAddress;
    }

    /**
     * The socket.
     *
     * @return it belongs to whoever has taken the request
     */
    public final SocketChannel channel() {
        return channel;
    }

    @Override
    public final void reject(ByteBuffer privateData) {
        ByteBuffer rejection = rejection(privateData);
        if (!answered) {
            answered = true;
            reject(channel, rejection);
        }
    }

    /**
     * Rejects a request that was taken: its queue pair has ended without an answer, or has not come about. RDMA devices do the
     * same when an identifier that was asked for a connection is destroyed.
     */
    public final void refuse() {
        try {
            reject(channel, rejection(ByteBuffer.allocate(0)));
        } finally { // also without memory for the answer
            SocketFailures.closeQuietly(channel);
        }
    }

    /**
     * What tells the peer that it is rejected.
     *
     * @param privateData of the user, for the peer
     * @return the bytes to send
     * @throws IllegalArgumentException if the private data is too long
     */
    protected abstract ByteBuffer rejection(ByteBuffer privateData);

    /**
     * Sends a rejection, as far as the socket takes it, and closes.
     *
     * @param channel   the socket
     * @param rejection the bytes to send
     */
    public static void reject(SocketChannel channel, ByteBuffer rejection) {
        try {
            channel.write(rejection); // the first bytes on this connection: they fit
        } catch (IOException e) {
            // The peer has gone and will not miss the answer.
        }
        SocketFailures.closeQuietly(channel);
    }

    /**
     * The request becomes a queue pair. Where there can be none, the peer is told.
     *
     * @param <Q>          its type
     * @param newQueuePair makes it
     * @return what was made
     * @throws IOException if the request was answered before
     */
    public final <Q> Q take(Supplier<Q> newQueuePair) throws IOException {
        if (answered) {
            throw new IOException("the connection request of " + remoteAddress + " was answered before");
        }
        answered = true;
        try {
            return newQueuePair.get();
        } catch (Throwable t) {
            refuse();
            throw t;
        }
    }
}
