package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.Queue;
import java.util.Set;
import org.nettyrdma.verbs.ConnectionListener;
import org.nettyrdma.verbs.support.Closing;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listening identifier. The connection manager knows no pause, so while requests are not taken up they wait here, no more
 * than the backlog of them.
 */
final class DisniListener implements ConnectionListener, IdentifierOwner {

    private static final Logger LOGGER = LoggerFactory.getLogger(DisniListener.class);

    private static final ByteBuffer NO_DATA = ByteBuffer.allocate(0).asReadOnlyBuffer();

    private final DisniContext context;
    private final DisniLoopParts parts;
    private final int backlog;
    private final Handler handler;
    private final SocketAddress localAddress;
    private final long id;
    /** Not an array: where one cannot grow for want of memory, it loses what is in it. */
    private final Queue<DisniConnectionRequest> waiting = new LinkedList<>();
    /** Those that are taken up, and on their way to the user. */
    private final Set<DisniConnectionRequest> untold = new LinkedHashSet<>();
    private boolean accepting;
    private boolean closed;

    DisniListener(DisniContext context, SocketAddress address, int backlog, Handler handler) throws IOException {
        this.context = context;
        parts = context.parts();
        this.backlog = backlog;
        this.handler = handler;
        id = parts.device().connectionManager().create(this);
        try {
            parts.verbs().bindAddress(id, address);
            parts.verbs().listen(id, backlog);
            localAddress = parts.verbs().localAddress(id);
        } catch (Throwable t) {
            parts.device().connectionManager().destroy(id);
            throw t;
        }
    }

    @Override
    public SocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public DisniContext context() {
        return context;
    }

    @Override
    public IdentifierOwner connectionRequested(long newId, ConnectionEvent event, SocketAddress local, SocketAddress remote) {
        return new DisniConnectionRequest(this, newId, event, local, remote);
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        switch (event.type()) {
            case DEVICE_REMOVAL -> deliver(() -> handler.acceptFailed(new IOException(parts.device().removal()
                    + ": nobody listens on " + localAddress + " any more")));
            case ADDRESS_RESOLVED, ADDRESS_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST, CONNECT_RESPONSE, CONNECT_ERROR,
                    UNREACHABLE, REJECTED, ESTABLISHED, DISCONNECTED, MULTICAST_JOIN, MULTICAST_ERROR, ADDRESS_CHANGE,
                    TIME_WAIT_EXIT, DEVICE_FAULT, UNKNOWN -> LOGGER.debug("{} of the listener on {}", event.describe(),
                    localAddress);
        }
    }

    /** A peer asks for a connection. */
    void requested(DisniConnectionRequest request) {
        if (closed || waiting.size() >= backlog) {
            request.reject(NO_DATA);
        } else {
            waiting.add(request);
            deliverWaiting();
        }
    }

    /** The peer has gone before it was answered; does nothing where the request waits no more. */
    void withdrawn(DisniConnectionRequest request) {
        waiting.remove(request);
    }

    @Override
    public void setAccepting(boolean accepting) {
        this.accepting = accepting;
        deliverWaiting();
    }

    private void deliverWaiting() {
        while (accepting && !waiting.isEmpty()) {
            DisniConnectionRequest request = waiting.element();
            untold.add(request);
            parts.deliveries().event(() -> {
                if (untold.remove(request)) {
                    handler.connectionRequested(request);
                }
            });
            waiting.remove(); // not before there was memory to tell of it
        }
    }

    private void deliver(Runnable event) {
        parts.deliveries().event(() -> {
            if (!closed) {
                event.run();
            }
        });
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        context.remove(this);
        Closing closing = new Closing();
        closing.all(waiting, request -> request.reject(NO_DATA));
        closing.all(untold, request -> request.reject(NO_DATA));
        closing.step(id, parts.device().connectionManager()::destroy);
        closing.end();
    }
}
