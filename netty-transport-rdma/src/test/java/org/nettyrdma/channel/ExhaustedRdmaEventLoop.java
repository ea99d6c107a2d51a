package org.nettyrdma.channel;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.verbs.VerbsProvider;

/** An event loop that has no memory for what it is asked to do later on its own thread. */
final class ExhaustedRdmaEventLoop extends RdmaEventLoop {

    private int tasksToRefuse;
    private int timersToRefuse;
    private int timersSet;
    private volatile CountDownLatch toRefuse;

    ExhaustedRdmaEventLoop(VerbsProvider provider) throws IOException {
        super(null, new ThreadPerTaskExecutor(new DefaultThreadFactory("rdma-test")), RejectedExecutionHandlers.reject(),
                provider, IdleStrategy.ADAPTIVE);
    }

    /** Refuses the next tasks and timers; on its own thread. */
    void refuse(int tasks, int timers) {
        tasksToRefuse = tasks;
        timersToRefuse = timers;
        toRefuse = new CountDownLatch(tasks + timers);
    }

    /** How many timers it has set; on its own thread. */
    int timersSet() {
        return timersSet;
    }

    /** Whether all that was to be refused was asked for. Any thread. */
    boolean hasRefused() throws Exception {
        return submit(() -> tasksToRefuse == 0 && timersToRefuse == 0).get();
    }

    /** Waits until all that was to be refused was asked for, without waking it. */
    boolean awaitRefusals(int timeoutSeconds) throws InterruptedException {
        return toRefuse.await(timeoutSeconds, TimeUnit.SECONDS);
    }

    @Override
    public void execute(Runnable task) {
        if (inEventLoop() && tasksToRefuse > 0) {
            tasksToRefuse--;
            toRefuse.countDown();
            throw new OutOfMemoryError("expected");
        }
        super.execute(task);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        countTimer();
        return super.schedule(task, delay, unit);
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, long delay, long period, TimeUnit unit) {
        countTimer();
        return super.scheduleWithFixedDelay(task, delay, period, unit);
    }

    private void countTimer() {
        if (inEventLoop() && timersToRefuse > 0) {
            timersToRefuse--;
            toRefuse.countDown();
            throw new OutOfMemoryError("expected");
        }
        timersSet += inEventLoop() ? 1 : 0;
    }
}
