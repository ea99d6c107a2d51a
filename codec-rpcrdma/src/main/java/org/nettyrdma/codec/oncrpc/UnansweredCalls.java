package org.nettyrdma.codec.oncrpc;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** The calls of one connection that their programs have not answered, oldest first, with one timer for all. Event loop only. */
final class UnansweredCalls {

    private final EventExecutor executor;
    private final long timeoutNanos;
    private final LongSupplier nanoClock;
    /** Told of each call that has waited too long; it was taken out before. */
    private final Consumer<RpcCall> overdue;
    /** The calls and their deadlines, in nanoseconds of the clock. */
    private final Map<RpcCall, Long> calls = new LinkedHashMap<>();
    private ScheduledFuture<?> timer;

    /**
     * @param timeoutMillis how long a call may be here, 0 for ever
     */
    UnansweredCalls(EventExecutor executor, long timeoutMillis, LongSupplier nanoClock, Consumer<RpcCall> overdue) {
        this.executor = executor;
        this.timeoutNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        this.nanoClock = nanoClock;
        this.overdue = overdue;
    }

    void add(RpcCall call) {
        if (timeoutNanos == 0) {
            return;
        }
        calls.put(call, nanoClock.getAsLong() + timeoutNanos);
        armTimer();
    }

    void remove(RpcCall call) {
        if (!calls.isEmpty()) { // the hash of a new object is slow to get
            calls.remove(call);
        }
    }

    /** The connection has ended. */
    void close() {
        calls.clear();
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
    }

    private void armTimer() {
        if (timer == null && !calls.isEmpty()) {
            long leftNanos = calls.values().iterator().next() - nanoClock.getAsLong();
            timer = executor.schedule(this::removeOverdue, leftNanos, TimeUnit.NANOSECONDS);
        }
    }

    private void removeOverdue() {
        timer = null;
        long now = nanoClock.getAsLong();
        while (!calls.isEmpty() && calls.values().iterator().next() - now <= 0) {
            RpcCall oldest = calls.keySet().iterator().next();
            calls.remove(oldest);
            overdue.accept(oldest);
        }
        armTimer(); // unless a call that came meanwhile, since the end of one lets reading go on, has done so
    }
}
