package org.nettyrdma.codec.oncrpc.client;

import java.util.TreeMap;
import org.nettyrdma.codec.oncrpc.client.ReconnectCounters.Counter;

/** The calls that wait for a connection, in the order in which they were made at first. Event loop only. */
final class WaitingCalls {

    private final TreeMap<Long, DurableCall> bySequence = new TreeMap<>();
    private final ReconnectPolicy policy;
    private final ReconnectCounters counters;
    private long bytes;

    WaitingCalls(ReconnectPolicy policy, ReconnectCounters counters) {
        this.policy = policy;
        this.counters = counters;
    }

    boolean isEmpty() {
        return bySequence.isEmpty();
    }

    int size() {
        return bySequence.size();
    }

    boolean hasRoomFor(DurableCall call) {
        return bySequence.size() < policy.maxWaitingCalls() && call.bytes() <= policy.maxWaitingBytes() - bytes;
    }

    TooManyCallsException refusal(DurableCall call, boolean isUnconnected, Throwable notConnected) {
        String why = isUnconnected ? "there is no connection"
                : "each connection has " + policy.maxCallsPerConnection() + " calls under way or is coming to its end";
        return new TooManyCallsException(why, bySequence.size(), bytes, call.bytes(), policy, notConnected);
    }

    void add(DurableCall call) {
        bySequence.put(call.sequence, call);
        call.wait = counters.waits().begin();
        count(call, 1);
    }

    /** Takes a call out; does nothing if it does not wait. */
    void remove(DurableCall call) {
        if (bySequence.remove(call.sequence, call)) {
            call.wait.end(null);
            count(call, -1);
        }
    }

    /** Takes the oldest call out; {@code null} if there is none. */
    DurableCall poll() {
        if (bySequence.isEmpty()) {
            return null;
        }
        DurableCall oldest = bySequence.pollFirstEntry().getValue();
        oldest.wait.end(null);
        count(oldest, -1);
        return oldest;
    }

    private void count(DurableCall call, int difference) {
        bytes += (long) difference * call.bytes();
        counters.add(Counter.WAITING_CALLS, difference);
        counters.add(Counter.WAITING_BYTES, (long) difference * call.bytes());
    }
}
