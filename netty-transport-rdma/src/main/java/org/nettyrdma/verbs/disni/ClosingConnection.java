package org.nettyrdma.verbs.disni;

import org.nettyrdma.verbs.support.TimerQueue;

/**
 * What is left of a connection that this side has ended: its identifier, which may have to tell the peer more than once. It goes
 * when the peer has answered, or when that takes too long.
 */
final class ClosingConnection implements IdentifierOwner {

    private final DisniContext context;
    private final long id;
    private final TimerQueue.Timer timer;
    private boolean finished;

    ClosingConnection(DisniContext context, long id, int timeoutMillis) {
        this.context = context;
        this.id = id;
        context.device().connectionManager().transfer(id, this);
        timer = context.timers().schedule(timeoutMillis, this::finish);
    }

    @Override
    public DisniContext context() {
        return context;
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        switch (event.type()) {
            case DISCONNECTED, TIME_WAIT_EXIT, DEVICE_REMOVAL, CONNECT_ERROR, UNREACHABLE, REJECTED -> finish();
            case ADDRESS_RESOLVED, ADDRESS_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
                    MULTICAST_JOIN, MULTICAST_ERROR, ADDRESS_CHANGE, DEVICE_FAULT, UNKNOWN -> { } // of the time before the end
        }
    }

    void finish() {
        if (!finished) {
            finished = true;
            timer.cancel();
            context.device().connectionManager().destroy(id);
            context.remove(this);
        }
    }
}
