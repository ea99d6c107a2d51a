package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * The sockets of an event loop that wait for their peers to close. There is a limit, so that peers that connect and leave again
 * and again hold no more of them.
 */
final class SocketDrain {

    private static final int MAX_SOCKETS = 512;

    private final TimerQueue timers;
    private final Pool<ByteBuffer> stagingPool;
    private final Set<DrainingSocket> sockets = new LinkedHashSet<>(); // oldest first

    SocketDrain(TimerQueue timers, Pool<ByteBuffer> stagingPool) {
        this.timers = timers;
        this.stagingPool = stagingPool;
    }

    /**
     * Closes a connection without losing what TCP has taken, see {@link DrainingSocket}.
     *
     * @param sentBytes     what TCP has taken
     * @param timeoutMillis how long the peer has to take it; 0 drops it
     */
    void drain(SocketChannel channel, SelectionKey key, long sentBytes, int timeoutMillis) {
        DrainingSocket socket;
        try {
            socket = new DrainingSocket(this, timers, stagingPool, channel, key, sentBytes);
            sockets.add(socket);
        } catch (Throwable t) {
            SocketFailures.closeQuietly(channel);
            throw t;
        }
        socket.start(timeoutMillis);
        if (sockets.size() > MAX_SOCKETS) {
            dropOldest(1);
        }
    }

    /** A socket is drained and closed. */
    void remove(DrainingSocket socket) {
        sockets.remove(socket);
    }

    /**
     * Closes sockets that wait for their peers to close before these have done so; what TCP has taken and they have not is lost.
     *
     * @param count how many at most, the oldest first
     * @return whether there was any
     */
    boolean dropOldest(int count) {
        List<DrainingSocket> dropped = sockets.stream().limit(count).toList();
        dropped.forEach(DrainingSocket::drop);
        return !dropped.isEmpty();
    }
}
