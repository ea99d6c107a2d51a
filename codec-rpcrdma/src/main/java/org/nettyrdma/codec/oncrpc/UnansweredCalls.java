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
        if (timer == null) {
            armTimer(timeoutNanos);
        }
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

    private void armTimer(long delayNanos) {
        timer = executor.schedule(this::removeOverdue, delayNanos, TimeUnit.NANOSECONDS);
    }

    private void removeOverdue() {
        timer = null;
        long now = nanoClock.getAsLong();
        while (!calls.isEmpty()) {
            Map.Entry<RpcCall, Long> oldest = calls.entrySet().iterator().next();
            long leftNanos = oldest.getValue() - now;
            if (leftNanos > 0) {
                armTimer(leftNanos);
                return;
            }
            calls.remove(oldest.getKey());
            overdue.accept(oldest.getKey());
        }
    }
}
