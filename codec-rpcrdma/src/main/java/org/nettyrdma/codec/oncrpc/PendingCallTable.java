package org.nettyrdma.codec.oncrpc;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.nettyrdma.handler.credit.support.XidMap;

/**
 * The calls of one client that have no reply yet: by XID, and in the order of their deadlines with one timer for all. Event
 * loop only, except where noted.
 */
final class PendingCallTable {

    private final EventExecutor executor;
    private final LongSupplier nanoClock;
    /** Told of each call whose deadline has passed; it was taken out before. */
    private final Consumer<PendingCall> overdue;

    private final XidMap<PendingCall> byXid = new XidMap<>();
    /** How many there are, for other threads. */
    private final AtomicInteger size = new AtomicInteger();
    private final DeadlineQueue byDeadline = new DeadlineQueue();
    private int nextXid;
    private ScheduledFuture<?> timer;
    private long timerDeadlineNanos;

    PendingCallTable(EventExecutor executor, int firstXid, LongSupplier nanoClock, Consumer<PendingCall> overdue) {
        this.executor = executor;
        this.nextXid = firstXid;
        this.nanoClock = nanoClock;
        this.overdue = overdue;
    }

    /** Any thread; another one than the event loop may see what was so a moment ago. */
    int size() {
        return size.getOpaque();
    }

    boolean contains(int xid) {
        return byXid.contains(xid);
    }

    /** Returns an XID that no pending call has. */
    int takeXid() {
        while (byXid.contains(nextXid)) {
            nextXid++;
        }
        return nextXid++;
    }

    /** Enters a call under its XID; {@link #armTimer} has to follow. */
    void add(PendingCall call, long timeoutMillis) {
        call.deadlineNanos = nanoClock.getAsLong() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        byXid.put(call.xid, call);
        size.setOpaque(byXid.size());
        byDeadline.add(call);
    }

    /** Takes the call with that XID out; {@code null} if there is none. */
    PendingCall remove(int xid) {
        PendingCall call = byXid.remove(xid);
        if (call != null) {
            byDeadline.remove(call);
            size.setOpaque(byXid.size());
        }
        return call;
    }

    /** Takes a call out; {@code false} if it has left before or was never here. */
    boolean remove(PendingCall call) {
        // Compared because another call may have the XID by now.
        if (byXid.get(call.xid) != call) {
            return false;
        }
        remove(call.xid);
        return true;
    }

    /** Takes any call out; {@code null} if there is none. */
    PendingCall removeFirst() {
        PendingCall first = byDeadline.first();
        return first == null ? null : remove(first.xid);
    }

    /** Sees to it that the earliest deadline is not missed. */
    void armTimer() {
        PendingCall first = byDeadline.first();
        if (first == null) {
            return;
        }
        if (timer != null) {
            if (timerDeadlineNanos - first.deadlineNanos <= 0) {
                return;
            }
            cancelTimer(); // and forgotten, as the next one may not be taken
        }
        timerDeadlineNanos = first.deadlineNanos;
        long delayNanos = Math.max(0, first.deadlineNanos - nanoClock.getAsLong());
        timer = executor.schedule(this::removeOverdue, delayNanos, TimeUnit.NANOSECONDS);
    }

    void cancelTimer() {
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    private void removeOverdue() {
        timer = null;
        long now = nanoClock.getAsLong();
        for (PendingCall call = byDeadline.first(); call != null && call.deadlineNanos - now <= 0; call = byDeadline.first()) {
            remove(call.xid);
            overdue.accept(call);
        }
        armTimer();
    }
}
