package org.nettyrdma.codec.oncrpc;

import io.netty.channel.DefaultEventLoop;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** An event loop that has no memory for what a thread brings it next. */
public final class ExhaustedEventLoop extends DefaultEventLoop {

    private final ThreadLocal<Integer> tasksToRefuse = ThreadLocal.withInitial(() -> 0);
    private final ThreadLocal<Integer> timersToRefuse = ThreadLocal.withInitial(() -> 0);

    /** Refuses that many tasks of the thread that calls this. */
    public void refuseTasks(int count) {
        tasksToRefuse.set(count);
    }

    /** Refuses that many timers of the thread that calls this. */
    public void refuseTimers(int count) {
        timersToRefuse.set(count);
    }

    /** How many tasks of the thread that calls this are still to be refused. */
    public int tasksToRefuse() {
        return tasksToRefuse.get();
    }

    /** How many timers of the thread that calls this are still to be refused. */
    public int timersToRefuse() {
        return timersToRefuse.get();
    }

    private static void refuse(ThreadLocal<Integer> toRefuse) {
        int left = toRefuse.get();
        if (left > 0) {
            toRefuse.set(left - 1);
            throw new OutOfMemoryError("expected");
        }
    }

    @Override
    public void execute(Runnable task) {
        refuse(tasksToRefuse);
        super.execute(task);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        refuse(timersToRefuse);
        return super.schedule(task, delay, unit);
    }
}
