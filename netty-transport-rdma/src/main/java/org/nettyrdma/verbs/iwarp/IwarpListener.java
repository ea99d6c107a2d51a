package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ListenAttributes;
import org.nettyrdma.verbs.support.Acceptor;
import org.nettyrdma.verbs.support.Closing;
import org.nettyrdma.verbs.support.ReadySockets;
import org.nettyrdma.verbs.support.SocketFailures;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A listening TCP socket, and the connections on it whose MPA request is not complete. */
final class IwarpListener implements ConnectionListener, Acceptor.Owner {

    private static final Logger LOGGER = LoggerFactory.getLogger(IwarpListener.class);

    /**
     * So many make room where the system has no descriptor left: not one at a time, since their sockets go with the next
     * selection.
     */
    private static final int DISPLACED_AT_ONCE = 16;

    private final IwarpLoopParts parts;
    private final ListenAttributes attributes;
    private final ServerSocketChannel channel;
    private final Acceptor acceptor;
    private final SocketAddress localAddress;
    private final SocketTable<HalfOpenConnection> halfOpen;
    private final Consumer<IwarpListener> closed;
    private boolean timerArmed;

    /**
     * @param closed told of its close
     */
    IwarpListener(IwarpLoopParts parts, SocketAddress address, int backlog, ListenAttributes attributes, Handler handler,
                  Consumer<IwarpListener> closed) throws IOException {
        this.parts = parts;
        this.closed = closed;
        this.attributes = attributes;
        IwarpQueuePair.requireResolved(address);
        halfOpen = new SocketTable<>(attributes.maxPendingRequests(), attributes.maxPendingRequestsPerAddress());
        channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, attributes.reuseAddress());
            if (attributes.receiveBufferBytes() > 0) {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, attributes.receiveBufferBytes());
            }
            channel.bind(address, backlog);
            localAddress = channel.getLocalAddress();
            acceptor = new Acceptor(channel, parts.sockets(), parts.timers(), parts.deliveries(), handler, this);
        } catch (Throwable t) {
            channel.close();
            throw t;
        }
    }

    @Override
    public SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public void setAccepting(boolean accepting) {
        acceptor.setAccepting(accepting);
    }

    @Override
    public void accepted(SocketChannel accepted) {
        try {
            long deadlineNanos = parts.timers().nanoTime() + TimeUnit.MILLISECONDS.toNanos(attributes.requestTimeoutMillis());
            PeerAddress peer = PeerAddress.of(accepted.getRemoteAddress());
            HalfOpenConnection connection = new HalfOpenConnection(parts, this, accepted, deadlineNanos);
            HalfOpenConnection displaced = halfOpen.add(connection, peer);
            if (displaced != null) {
                displaced.displaced();
            }
            armTimer();
        } catch (IOException e) {
            SocketFailures.closeQuietly(accepted);
            PeerLog.warn(LOGGER, localAddress, "could not take up a connection: {}", e);
        } catch (Throwable t) {
            SocketFailures.closeQuietly(accepted);
            throw t;
        }
    }

    /**
     * What only waits for its peer to close makes room, too. If this event loop has none, those of others do, before peers are
     * displaced that may be about to send their request.
     */
    @Override
    public Acceptor.Room makeRoom(IOException cause) {
        boolean roomMade = parts.draining().drop(DISPLACED_AT_ONCE);
        if (!roomMade && parts.draining().dropElsewhere(DISPLACED_AT_ONCE)) {
            return Acceptor.Room.ASKED_FOR;
        }
        for (int i = 0; i < DISPLACED_AT_ONCE && halfOpen.firstToGo() != null; i++) {
            halfOpen.firstToGo().displaced();
            roomMade = true;
        }
        return roomMade ? Acceptor.Room.MADE : Acceptor.Room.NONE;
    }

    /** All have the same time, so that one timer for the oldest does for all. */
    private void armTimer() {
        HalfOpenConnection oldest = halfOpen.oldest();
        if (!timerArmed && oldest != null) {
            try {
                long nanos = Math.max(0, oldest.deadlineNanos() - parts.timers().nanoTime());
                parts.timers().schedule(TimeUnit.NANOSECONDS.toMillis(nanos + 999_999), this::dropLate);
            } catch (Throwable t) {
                closeHalfOpen(); // nothing else would end those of silent peers
                throw t;
            }
            timerArmed = true; // not before there is something that takes it back
        }
    }

    private void dropLate() {
        timerArmed = false;
        long now = parts.timers().nanoTime();
        for (HalfOpenConnection oldest = halfOpen.oldest(); oldest != null && oldest.deadlineNanos() - now <= 0;
                oldest = halfOpen.oldest()) {
            oldest.timedOut();
        }
        armTimer();
    }

    void halfOpenEnded(HalfOpenConnection connection) {
        halfOpen.remove(connection);
    }

    void requestComplete(IwarpConnectionRequest request, SelectionKey key) {
        acceptor.complete(request, key);
    }

    @Override
    public void close() {
        closed.accept(this);
        Closing closing = new Closing();
        closing.step(channel, SocketFailures::closeQuietly);
        closing.step(parts.sockets(), ReadySockets::letGo); // who is told of the close may bind the address again
        closing.step(this, IwarpListener::closeHalfOpen);
        closing.step(acceptor, Acceptor::close);
        closing.end();
    }

    private void closeHalfOpen() {
        for (HalfOpenConnection connection = halfOpen.oldest(); connection != null; connection = halfOpen.oldest()) {
            connection.close();
        }
    }
}
