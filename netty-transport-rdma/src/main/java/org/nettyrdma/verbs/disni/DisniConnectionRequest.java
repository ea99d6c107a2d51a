package org.nettyrdma.verbs.disni;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.nettyrdma.verbs.ConnectionRequest;

/** A request that the connection manager has reported. Until it is taken up its events go to the loop that listens. */
final class DisniConnectionRequest implements ConnectionRequest, IdentifierOwner {

    private enum State { WAITING, TAKEN, REJECTED, PEER_GONE }

    private final DisniListener listener;
    private final long id;
    private final ConnectionEvent request;
    private final SocketAddress localAddress;
    private final SocketAddress remoteAddress;

    // Guarded by this: the loop that listens and the one that serves may meet here.
    private State state = State.WAITING;
    private DisniQueuePair queuePair;
    private final List<ConnectionEvent> early = new ArrayList<>(0); // after it was taken, for the queue pair to come

    DisniConnectionRequest(DisniListener listener, long id, ConnectionEvent request, SocketAddress localAddress,
                           SocketAddress remoteAddress) {
        this.listener = listener;
        this.id = id;
        this.request = request;
        this.localAddress = localAddress;
        this.remoteAddress = remoteAddress;
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
        return request.privateData().duplicate();
    }

    long id() {
        return id;
    }

    /** What the peer asked for. */
    ConnectionEvent request() {
        return request;
    }

    @Override
    public void reject(ByteBuffer privateData) {
        byte[] data = DisniQueuePair.checkPrivateData(privateData, listener.context().parts().device().limits());
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
            state = State.REJECTED;
        }
        listener.context().parts().device().connectionManager().reject(id, data);
    }

    /**
     * The request becomes a queue pair.
     *
     * @throws IOException if it was answered before, or the peer has gone
     */
    synchronized void take() throws IOException {
        if (state != State.WAITING) {
            throw new IOException("the connection request of " + remoteAddress
                    + (state == State.PEER_GONE ? " was withdrawn" : " was answered before"));
        }
        state = State.TAKEN;
    }

    /** Sends the events to a queue pair from here on, also those that are under way. */
    void handOver(DisniQueuePair to) {
        synchronized (this) {
            queuePair = to;
            early.forEach(event -> to.context().arrived(to, event, to.context()));
            early.clear();
        }
        // Not under the monitor: the manager asks for the context with its own lock held.
        listener.context().parts().device().connectionManager().transfer(id, to);
    }

    @Override
    public synchronized DisniContext context() {
        return queuePair != null ? queuePair.context() : listener.context();
    }

    @Override
    public synchronized IdentifierOwner current() {
        return queuePair != null ? queuePair : this;
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        if (event.type() == ConnectionEventType.CONNECT_REQUEST) {
            listener.requested(this);
        } else if (endsRequest(event)) {
            listener.withdrawn(this);
            listener.context().parts().device().connectionManager().destroy(id);
        }
    }

    /** Whether a request that waits ends now; where it was taken, the event goes to the loop that serves it. */
    private synchronized boolean endsRequest(ConnectionEvent event) {
        if (queuePair != null) { // only now, so that this may be another loop than the one which serves it
            queuePair.context().arrived(queuePair, event, listener.context());
            return false;
        }
        if (state == State.TAKEN) {
            early.add(event);
            return false;
        }
        boolean ends = state == State.WAITING && switch (event.type()) {
            case DISCONNECTED, CONNECT_ERROR, UNREACHABLE, REJECTED, DEVICE_REMOVAL, TIME_WAIT_EXIT -> true;
            case ADDRESS_RESOLVED, ADDRESS_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
                    MULTICAST_JOIN, MULTICAST_ERROR, ADDRESS_CHANGE, DEVICE_FAULT, UNKNOWN -> false;
        };
        if (ends) {
            state = State.PEER_GONE;
        }
        return ends;
    }
}
