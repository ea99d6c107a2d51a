package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.nettyrdma.verbs.ConnectionRequest;

/**
 * A TCP connection whose MPA request has arrived and is not answered. It is registered with no selector, so that any context
 * can take it.
 */
final class IwarpConnectionRequest implements ConnectionRequest {

    private final SocketChannel channel;
    private final MpaFrame request;
    private final SocketAddress localAddress;
    private final SocketAddress remoteAddress;
    private boolean answered;

    IwarpConnectionRequest(SocketChannel channel, MpaFrame request) throws IOException {
        this.channel = channel;
        this.request = request;
        localAddress = channel.getLocalAddress();
        remoteAddress = channel.getRemoteAddress();
    }

    @Override
    public SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public SocketAddress remoteAddress() {
        return remoteAddress;
    }

    @Override
    public ByteBuffer privateData() {
        return request.userData();
    }

    @Override
    public void reject(ByteBuffer privateData) {
        byte[] checked = MpaNegotiation.checkPrivateData(privateData);
        if (!answered) {
            answered = true;
            reject(channel, MpaNegotiation.rejection(request, checked));
        }
    }

    /**
     * Sends a rejection, as far as the socket takes it, and closes.
     */
    static void reject(SocketChannel channel, MpaFrame rejection) {
        try {
            channel.write(rejection.encode()); // the first bytes on this connection: they fit
        } catch (IOException e) {
            // The peer has gone and will not miss the answer.
        }
        SocketFailures.closeQuietly(channel);
    }

    /**
     * The request becomes a queue pair.
     *
     * @throws IOException if it was answered before
     */
    void take() throws IOException {
        if (answered) {
            throw new IOException("the connection request of " + remoteAddress + " was answered before");
        }
        answered = true;
    }

    SocketChannel channel() {
        return channel;
    }

    MpaFrame frame() {
        return request;
    }
}
