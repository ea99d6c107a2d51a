package org.nettyrdma.codec.oncrpc;

/**
 * Pending calls in the order of their deadlines, as a list through the calls themselves. Adding takes constant time as long
 * as deadlines come in order, which equal timeouts do; otherwise it passes the calls that are due later. Event loop only.
 */
final class DeadlineQueue {

    private PendingCall first;
    private PendingCall last;

    PendingCall first() {
        return first;
    }

    void add(PendingCall call) {
        PendingCall before = last;
        while (before != null && before.deadlineNanos - call.deadlineNanos > 0) {
            before = before.previous;
        }
        PendingCall after = before == null ? first : before.next;
        link(before, call);
        link(call, after);
    }

    void remove(PendingCall call) {
        link(call.previous, call.next);
        call.previous = null;
        call.next = null;
    }

    private void link(PendingCall before, PendingCall after) {
        if (before == null) {
            first = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.previous = before;
        }
    }
}
