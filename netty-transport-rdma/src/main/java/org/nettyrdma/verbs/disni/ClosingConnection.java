package org.nettyrdma.verbs.disni;

import org.nettyrdma.verbs.support.TimerQueue;

/**
 * What is left of a connection that this side has ended: its identifier, which may have to tell the peer more than once. It goes
 * when the peer has answered, or when that takes too long.
 *
 * <p>Of an attempt to connect the queue pair is left, too: the kernel's iWARP connection manager destroys both only when the
 * device has told the outcome, and would make the event loop wait for that.
 */
final class ClosingConnection implements IdentifierOwner {

    private final DisniContext context;
    private final long id;
    private final WorkQueues attempt; // null after a connection
    private TimerQueue.Timer timer; // null before begin()
    private boolean finished;

    ClosingConnection(DisniContext context, long id, WorkQueues attempt) {
        this.context = context;
        this.id = id;
        this.attempt = attempt;
    }

    void begin(int timeoutMillis) {
        timer = context.parts().timers().schedule(timeoutMillis, this::finish);
        context.parts().device().connectionManager().transfer(id, this);
    }

    @Override
    public DisniContext context() {
        return context;
    }

    @Override
    public void connectionEvent(ConnectionEvent event) {
        switch (event.type()) {
            case DISCONNECTED, TIME_WAIT_EXIT, DEVICE_REMOVAL, CONNECT_ERROR, UNREACHABLE, REJECTED -> finish();
            case ESTABLISHED, CONNECT_RESPONSE -> {
                if (attempt != null) {
                    finish();
                }
            }
            // of the time before the end
            case ADDRESS_RESOLVED, ADDRESS_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST, MULTICAST_JOIN, MULTICAST_ERROR,
                    ADDRESS_CHANGE, DEVICE_FAULT, UNKNOWN -> { }
        }
    }

    void finish() {
        if (!finished) {
            finished = true;
            if (timer != null) {
                timer.cancel();
            }
            if (attempt != null) {
                attempt.destroyNative(id);
            }
            context.parts().device().connectionManager().destroy(id);
            context.remove(this);
        }
    }
}
