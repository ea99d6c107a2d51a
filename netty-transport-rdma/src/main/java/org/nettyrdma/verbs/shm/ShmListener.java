package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.support.Acceptor;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.SocketConnectionRequest;
import org.nettyrdma.verbs.support.SocketFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listening domain socket, and the connections on it whose request is not complete. */
final class ShmListener implements ConnectionListener, Acceptor.Owner {

    private static final Logger LOGGER = LoggerFactory.getLogger(ShmListener.class);

    private final ShmLoopParts parts;
    private final ListenAttributes attributes;
    private final BoundSocket socket;
    private final Acceptor acceptor;
    private final Consumer<ShmListener> closed;
    /** The oldest first. */
    private final Set<PendingRequest> pending = new LinkedHashSet<>();

    /**
     * Takes the socket over.
     *
     * @param closed told of its close
     */
    ShmListener(ShmLoopParts parts, BoundSocket socket, ListenAttributes attributes, Handler handler,
                Consumer<ShmListener> closed) throws IOException {
        this.parts = parts;
        this.attributes = attributes;
        this.socket = socket;
        this.closed = closed;
        try {
            acceptor = new Acceptor(socket.channel(), parts.sockets(), parts.timers(), parts.deliveries(), handler, this);
        } catch (Throwable t) {
            socket.close();
            throw t;
        }
    }

    @Override
    public SocketAddress localAddress() {
        return socket.address();
    }

    @Override
    public void setAccepting(boolean accepting) {
        acceptor.setAccepting(accepting);
    }

    @Override
    public void accepted(SocketChannel accepted) {
        PendingRequest request;
        try {
            PeerUser user = PeerUser.of(accepted, parts.settings(), parts.directory(), "may not connect");
            request = new PendingRequest(parts, this, accepted, user, attributes.requestTimeoutMillis());
        } catch (IOException e) { // whoever may not connect takes no place of those who owe their request
            refuse(accepted, e);
            return;
        } catch (Throwable t) {
            SocketFailures.closeQuietly(accepted);
            throw t;
        }
        pending.add(request);
        if (pending.size() > attributes.maxPendingRequests()) {
            pending.iterator().next().drop("gives way to a newer connection, as too many have not sent their request");
        }
    }

    @Override
    public Acceptor.Room makeRoom(IOException cause) {
        if (pending.isEmpty()) {
            return Acceptor.Room.NONE;
        }
        pending.iterator().next().drop("gives way to a newer connection: " + cause.getMessage());
        return Acceptor.Room.MADE;
    }

    /** Ends a connection, and tells the peer why. */
    void refuse(SocketChannel channel, IOException cause) {
        PeerLog.warn(LOGGER, localAddress(), "refused a connection: {}", cause);
        parts.statistics().invalidRequests.increment();
        SocketConnectionRequest.reject(channel, SetupFrame.rejection(cause).encode());
    }

    void ended(PendingRequest request) {
        pending.remove(request);
    }

    void complete(ShmConnectionRequest request, SelectionKey key) {
        acceptor.complete(request, key);
    }

    @Override
    public void close() {
        closed.accept(this);
        Closing closing = new Closing();
        closing.step(socket, BoundSocket::close);
        closing.all(pending, PendingRequest::close);
        closing.step(acceptor, Acceptor::close);
        closing.end();
    }
}
