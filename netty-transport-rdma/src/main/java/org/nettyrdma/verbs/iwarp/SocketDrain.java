package org.nettyrdma.verbs.iwarp;

import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.nettyrdma.peer.PeerAddress;
import org.nettyrdma.verbs.support.Pool;
import org.nettyrdma.verbs.support.SocketFailures;
import org.nettyrdma.verbs.support.TimerQueue;

/**
 * The sockets of an event loop that wait for their peers to close. There is a limit, so that peers that connect and leave again
 * and again hold no more of them; where it is reached, the address that has the most makes room. Used by one event loop only.
 */
final class SocketDrain {

    private static final int MAX_SOCKETS = 512;

    /** Those of the process that have sockets: descriptors are the process's, whichever event loop has them. Any thread. */
    private static final Set<SocketDrain> NOT_EMPTY = ConcurrentHashMap.newKeySet();

    private final TimerQueue timers;
    private final Pool<ByteBuffer> stagingPool;
    private final SocketTable<DrainingSocket> sockets = new SocketTable<>(MAX_SOCKETS, MAX_SOCKETS);
    /** Of the sockets, those whose peers may still send, so that closing them now would make TCP send a reset. */
    private int waiting;
    private final Executor loop;
    /** Another event loop has asked this one to drop sockets, which is still to be done. Any thread. */
    private final AtomicBoolean dropAsked = new AtomicBoolean();

    /** @param loop runs tasks of other threads on the event loop */
    SocketDrain(TimerQueue timers, Pool<ByteBuffer> stagingPool, Executor loop) {
        this.timers = timers;
        this.stagingPool = stagingPool;
        this.loop = loop;
    }

    /**
     * Closes a connection without losing what TCP has taken, see {@link DrainingSocket}.
     *
     * @param peer          whose connection it was
     * @param sentBytes     what TCP has taken
     * @param timeoutMillis how long the peer has to take it; 0 drops it
     */
    void drain(SocketChannel channel, SelectionKey key, PeerAddress peer, long sentBytes, int timeoutMillis) {
        DrainingSocket socket;
        DrainingSocket oneTooMany;
        try {
            socket = new DrainingSocket(this, timers, stagingPool, channel, key, sentBytes);
            oneTooMany = sockets.add(socket, peer);
            NOT_EMPTY.add(this);
        } catch (Throwable t) {
            SocketFailures.closeQuietly(channel);
            throw t;
        }
        socket.start(timeoutMillis);
        if (oneTooMany != null) {
            oneTooMany.drop();
        }
    }

    /** Whether there is a socket whose peer has not ended its output yet. */
    boolean isWaiting() {
        return waiting > 0;
    }

    /** A socket begins to wait for the end of its peer's output. */
    void waitingBegun() {
        waiting++;
    }

    /** A socket has seen the end, or waits no longer. */
    void waitingEnded() {
        waiting--;
    }

    /** A socket is drained and closed. */
    void remove(DrainingSocket socket) {
        sockets.remove(socket);
        if (sockets.oldest() == null) {
            NOT_EMPTY.remove(this);
        }
    }

    /** The event loop ends, and with it all sockets. */
    void close() {
        NOT_EMPTY.remove(this);
    }

    /**
     * Closes sockets that wait for their peers to close before these have done so: of the address that has the most the oldest
     * first. What TCP has taken and they have not is lost.
     *
     * @param count how many at most
     * @return whether there was any
     */
    boolean drop(int count) {
        DrainingSocket first = sockets.firstToGo();
        for (int i = 0; i < count && sockets.firstToGo() != null; i++) {
            sockets.firstToGo().drop();
        }
        return first != null;
    }

    /**
     * Asks one other event loop of the process to do the same: one that has sockets and no such request before it, as it is busy
     * with something else then.
     *
     * @param count how many at most
     * @return whether there was any
     */
    boolean dropElsewhere(int count) {
        for (SocketDrain other : NOT_EMPTY) {
            if (other != this && other.dropAsked.compareAndSet(false, true)) {
                try {
                    other.loop.execute(() -> {
                        other.dropAsked.set(false);
                        other.drop(count);
                    });
                } catch (Throwable t) { // no memory for its queue, for instance: it may be asked again
                    other.dropAsked.set(false);
                    throw t;
                }
                return true;
            }
        }
        return false;
    }
}
