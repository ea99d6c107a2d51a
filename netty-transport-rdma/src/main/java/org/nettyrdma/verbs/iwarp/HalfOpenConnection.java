package org.nettyrdma.verbs.iwarp;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.support.SocketConnectionRequest;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.SocketHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An accepted TCP connection that has not sent its whole MPA request. */
final class HalfOpenConnection implements SocketHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(HalfOpenConnection.class);

    private final IwarpLoopParts parts;
    private final IwarpListener listener;
    private final SocketChannel channel;
    private final SocketAddress remoteAddress;
    private final long deadlineNanos;
    private final MpaFrameReader reader = new MpaFrameReader(false);
    private final SelectionKey key;

    /**
     * @param deadlineNanos when the request must have come, by the clock of the timers
     */
    HalfOpenConnection(IwarpLoopParts parts, IwarpListener listener, SocketChannel channel, long deadlineNanos)
            throws IOException {
        this.parts = parts;
        this.listener = listener;
        this.channel = channel;
        this.deadlineNanos = deadlineNanos;
        remoteAddress = channel.getRemoteAddress();
        TcpOptions.apply(channel);
        key = parts.sockets().register(channel, SelectionKey.OP_READ, this);
    }

    long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public void ready(int readyOperations) throws IOException {
        MpaFrame request = reader.read(channel);
        if (request == null) {
            return;
        }
        if (request.wantsMarkers()) {
            PeerLog.warn(LOGGER, remoteAddress, "wants MPA markers, which this side does not send: refused");
            parts.statistics().invalidRequests.increment();
            listener.halfOpenEnded(this);
            SocketConnectionRequest.reject(channel, MpaNegotiation.rejection(request).encode());
            return;
        }
        IwarpConnectionRequest complete = new IwarpConnectionRequest(channel, request);
        listener.halfOpenEnded(this);
        listener.requestComplete(complete, key);
    }

    @Override
    public void failed(Exception cause) {
        if (reader.hasBegun()) {
            PeerLog.warn(LOGGER, remoteAddress, "sent no proper MPA request: {}", cause);
            parts.statistics().invalidRequests.increment();
        } else {
            LOGGER.debug("{} connected and left", remoteAddress); // as whoever looks whether somebody listens
        }
        close();
    }

    void timedOut() {
        PeerLog.warn(LOGGER, remoteAddress, "sent no whole MPA request in time");
        parts.statistics().lateRequests.increment();
        close();
    }

    /** Gives way to a newer connection. */
    void displaced() {
        PeerLog.warn(LOGGER, remoteAddress,
                "has not sent its MPA request yet and gives way to a newer connection, as there are too many like it");
        parts.statistics().displacedRequests.increment();
        close();
    }

    /** Drops the connection. */
    void close() {
        listener.halfOpenEnded(this);
        SocketFailures.closeQuietly(channel);
    }
}
