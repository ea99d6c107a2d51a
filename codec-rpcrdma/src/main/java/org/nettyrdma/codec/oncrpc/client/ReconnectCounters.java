package org.nettyrdma.codec.oncrpc.client;

import java.util.concurrent.atomic.AtomicLong;
import org.nettyrdma.handler.credit.support.WaitTimes;

/** What happened to one client. Its event loop alone writes, opaquely, which costs nothing; any thread may look. */
final class ReconnectCounters {

    private final AtomicLong[] values = new AtomicLong[Counter.values().length];

    private final WaitTimes waits = new WaitTimes("connection");

    /** What is counted; the first four go up and down. */
    enum Counter {
        CONNECTIONS, CALLS, WAITING_CALLS, WAITING_BYTES,
        CONNECTS, CONNECT_NANOS, LOST_CONNECTIONS, FAILED_CONNECTS, RETRANSMISSIONS, REFUSED_CALLS
    }

    ReconnectCounters() {
        for (int i = 0; i < values.length; i++) {
            values[i] = new AtomicLong();
        }
    }

    void add(Counter counter, long difference) {
        AtomicLong value = values[counter.ordinal()];
        value.setOpaque(value.getPlain() + difference);
    }

    long get(Counter counter) {
        return values[counter.ordinal()].getOpaque();
    }

    /** Of the calls that waited for a connection. */
    WaitTimes waits() {
        return waits;
    }

    ReconnectStatistics snapshot() {
        return new ReconnectStatistics((int) get(Counter.CONNECTIONS), (int) get(Counter.CALLS), (int) get(Counter.WAITING_CALLS),
                get(Counter.WAITING_BYTES), get(Counter.CONNECTS), get(Counter.LOST_CONNECTIONS), get(Counter.FAILED_CONNECTS),
                get(Counter.RETRANSMISSIONS), get(Counter.REFUSED_CALLS), waits.count(), waits.nanos());
    }
}
