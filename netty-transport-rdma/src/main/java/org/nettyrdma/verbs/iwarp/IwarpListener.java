package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.ListenAttributes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listening TCP socket, and the connections on it whose MPA request is not complete.
 */
final class IwarpListener implements ConnectionListener, SocketHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(IwarpListener.class);

    private static final int MAX_ACCEPTS = 64;
    /**
     * So many make room where the system has no descriptor left: not one at a time, since their sockets go with the next
     * selection.
     */
    private static final int DISPLACED_AT_ONCE = 16;
    /** Where there is nobody who could make room. */
    private static final int PAUSE_MILLIS = 100;

    private final IwarpLoopParts parts;
    private final ListenAttributes attributes;
    private final Handler handler;
    private final ServerSocketChannel channel;
    private final SelectionKey key;
    private final SocketAddress localAddress;
    private final HalfOpenTable halfOpen;
    private long lastNumber;
    private boolean timerArmed;
    private boolean accepting;
    private boolean paused;

    IwarpListener(IwarpLoopParts parts, SocketAddress address, int backlog, ListenAttributes attributes, Handler handler)
            throws IOException {
        this.parts = parts;
        this.attributes = attributes;
        this.handler = handler;
        halfOpen = new HalfOpenTable(attributes.maxPendingRequests(), attributes.maxPendingRequestsPerAddress());
        channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, attributes.reuseAddress());
            if (attributes.receiveBufferBytes() > 0) {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, attributes.receiveBufferBytes());
            }
            channel.bind(address, backlog);
            localAddress = channel.getLocalAddress();
            key = parts.sockets().register(channel, 0, this);
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
        this.accepting = accepting;
        updateInterest();
    }

    private void updateInterest() {
        if (key.isValid()) {
            key.interestOps(accepting && !paused ? SelectionKey.OP_ACCEPT : 0);
        }
    }

    @Override
    public void ready(int readyOperations) {
        for (int i = 0; i < MAX_ACCEPTS; i++) {
            SocketChannel accepted;
            try {
                accepted = channel.accept();
            } catch (IOException e) {
                refusedBySystem(e);
                return;
            }
            if (accepted == null) {
                return;
            }
            take(accepted);
        }
    }

    private void take(SocketChannel accepted) {
        long deadlineNanos = parts.timers().nanoTime() + TimeUnit.MILLISECONDS.toNanos(attributes.requestTimeoutMillis());
        HalfOpenConnection connection;
        try {
            connection = new HalfOpenConnection(parts, this, accepted, ++lastNumber, deadlineNanos);
        } catch (IOException e) {
            SocketFailures.closeQuietly(accepted);
            PeerLog.warn(LOGGER, localAddress, "could not take up a connection: {}", e);
            return;
        } catch (Throwable t) {
            SocketFailures.closeQuietly(accepted);
            throw t;
        }
        HalfOpenConnection displaced = halfOpen.add(connection);
        if (displaced != null) {
            displaced.displaced();
        }
        armTimer();
    }

    /**
     * The system has no descriptor, or no memory, for one more socket. Peers that owe their request make room, then what only
     * waits for its peer to close; without any of them nothing is accepted for a while, lest the loop try again and again.
     */
    private void refusedBySystem(IOException cause) {
        boolean roomMade = parts.draining().dropOldest(DISPLACED_AT_ONCE);
        for (int i = 0; i < DISPLACED_AT_ONCE && halfOpen.firstToGo() != null; i++) {
            halfOpen.firstToGo().displaced();
            roomMade = true;
        }
        if (!roomMade && channel.isOpen()) {
            paused = true;
            updateInterest();
            parts.timers().schedule(PAUSE_MILLIS, () -> {
                paused = false;
                updateInterest();
            });
            cause.setStackTrace(new StackTraceElement[0]); // it tells nothing, and peers can cause it as often as they like
            failed(cause);
        }
    }

    /** All have the same time, so that one timer for the oldest does for all. */
    private void armTimer() {
        HalfOpenConnection oldest = halfOpen.oldest();
        if (!timerArmed && oldest != null) {
            timerArmed = true;
            long nanos = Math.max(0, oldest.deadlineNanos() - parts.timers().nanoTime());
            parts.timers().schedule(TimeUnit.NANOSECONDS.toMillis(nanos + 999_999), this::dropLate);
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

    @Override
    public void failed(Exception cause) {
        parts.deliveries().event(() -> {
            if (channel.isOpen()) {
                handler.acceptFailed(cause);
            }
        });
    }

    void halfOpenEnded(HalfOpenConnection connection) {
        halfOpen.remove(connection);
    }

    void requestComplete(IwarpConnectionRequest request) {
        parts.deliveries().event(() -> {
            if (channel.isOpen()) {
                handler.connectionRequested(request);
            } else {
                SocketFailures.closeQuietly(request.channel());
            }
        });
    }

    @Override
    public void close() {
        SocketFailures.closeQuietly(channel);
        for (HalfOpenConnection connection = halfOpen.oldest(); connection != null; connection = halfOpen.oldest()) {
            connection.close();
        }
    }
}
