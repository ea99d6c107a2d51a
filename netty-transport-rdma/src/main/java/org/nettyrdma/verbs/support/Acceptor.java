package org.nettyrdma.verbs.support;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.LinkedHashSet;
import java.util.Set;
import org.nettyrdma.verbs.ConnectionListener;

/**
 * Takes up what connects to a listening socket, while the user wants that and the system can; and tells the user of requests and
 * failures as long as the socket is open. Used by one event loop only.
 */
public final class Acceptor implements SocketHandler {

    private static final int MAX_ACCEPTS = 64;
    /** Where there is nobody who could make room. */
    private static final int PAUSE_MILLIS = 100;
    /** Until another event loop, if it is not busy for long, has closed sockets. */
    private static final int SHORT_PAUSE_MILLIS = 10;

    /** Whether the system will have a descriptor, or memory, for one more socket. */
    public enum Room {
        /** Sockets of this event loop are closed with its next selection. */
        MADE,
        /** Another event loop was asked to close sockets. */
        ASKED_FOR,
        /** There is nobody who could make room. */
        NONE
    }

    /** What becomes of a connection until its request is there. */
    public interface Owner {

        /**
         * Takes up a connection.
         *
         * @param accepted belongs to the owner from now on
         */
        void accepted(SocketChannel accepted);

        /**
         * The system has no descriptor, or no memory, for one more socket: peers that owe their request make room.
         *
         * @param cause what the system said
         * @return whether they did; if not, nothing is accepted for a while
         */
        Room makeRoom(IOException cause);
    }

    private final ServerSocketChannel channel;
    private final ReadySockets sockets;
    private final TimerQueue timers;
    private final DeliveryRing deliveries;
    private final ConnectionListener.Handler handler;
    private final Owner owner;
    private final SelectionKey key;
    /** Complete requests on their way to the user. */
    private final Set<SocketConnectionRequest> untold = new LinkedHashSet<>();
    private boolean accepting;
    private boolean paused;

    /**
     * Registers a socket; nothing is accepted before {@link #setAccepting}.
     *
     * @param channel    listens; its owner closes it
     * @param sockets    of the event loop
     * @param timers     of the event loop
     * @param deliveries of the event loop
     * @param handler    the user's
     * @param owner      gets the connections
     * @throws IOException if the socket is closed
     */
    public Acceptor(ServerSocketChannel channel, ReadySockets sockets, TimerQueue timers, DeliveryRing deliveries,
                    ConnectionListener.Handler handler, Owner owner) throws IOException {
        this.channel = channel;
        this.sockets = sockets;
        this.timers = timers;
        this.deliveries = deliveries;
        this.handler = handler;
        this.owner = owner;
        key = sockets.register(channel, 0, this);
    }

    /**
     * Begins or ceases to take connections up, as {@link ConnectionListener#setAccepting} says.
     *
     * @param newAccepting whether to
     */
    public void setAccepting(boolean newAccepting) {
        accepting = newAccepting;
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
                if (i == 0) { // the system refuses also where nobody waits any more; only at first it is known that somebody does
                    refusedBySystem(e);
                }
                return;
            }
            if (accepted == null) {
                return;
            }
            owner.accepted(accepted);
        }
    }

    /** Without room nothing is accepted for a while, lest the loop try again and again. */
    private void refusedBySystem(IOException cause) {
        Room room = owner.makeRoom(cause);
        if (room == Room.MADE || !channel.isOpen()) {
            return;
        }
        timers.schedule(room == Room.ASKED_FOR ? SHORT_PAUSE_MILLIS : PAUSE_MILLIS, () -> {
            paused = false;
            updateInterest();
        });
        paused = true; // not before there is something that takes it back
        updateInterest();
        if (room == Room.NONE) {
            cause.setStackTrace(new StackTraceElement[0]); // it tells nothing, and peers can cause it as often as they like
            failed(cause);
        }
    }

    @Override
    public void failed(Exception cause) {
        deliveries.event(() -> {
            if (channel.isOpen()) {
                handler.acceptFailed(cause);
            }
        });
    }

    /**
     * Tells the user of a request that is complete, when the selector has let go of its socket.
     *
     * @param request belongs to the user from then on
     * @param from    its key
     */
    public void complete(SocketConnectionRequest request, SelectionKey from) {
        try {
            untold.add(request);
            sockets.deregister(from, () -> tell(request));
        } catch (Throwable t) { // no memory, for instance
            drop(request);
            throw t;
        }
    }

    private void tell(SocketConnectionRequest request) {
        try {
            deliveries.event(() -> {
                if (untold.remove(request)) {
                    handler.connectionRequested(request);
                }
            });
        } catch (Throwable t) { // no memory, for instance; no selector has the socket any more, and nobody would close it
            drop(request);
            throw t;
        }
    }

    private void drop(SocketConnectionRequest request) {
        untold.remove(request);
        SocketFailures.closeQuietly(request.channel());
    }

    /** Rejects the requests that the user was not told of. Nobody listens any more. */
    public void close() {
        Closing closing = new Closing();
        closing.all(untold, SocketConnectionRequest::refuse);
        closing.end();
    }
}
