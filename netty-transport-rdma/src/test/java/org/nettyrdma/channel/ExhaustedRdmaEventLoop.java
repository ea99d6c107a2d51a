package org.nettyrdma.channel;

import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.RejectedExecutionHandlers;
import io.netty.util.concurrent.ScheduledFuture;
import io.netty.util.concurrent.ThreadPerTaskExecutor;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.verbs.VerbsProvider;

/** An event loop that has no memory for what it is asked to do later on its own thread. */
final class ExhaustedRdmaEventLoop extends RdmaEventLoop {

    private int tasksToRefuse;
    private int timersToRefuse;

    ExhaustedRdmaEventLoop(VerbsProvider provider) throws IOException {
        super(null, new ThreadPerTaskExecutor(new DefaultThreadFactory("rdma-test")), RejectedExecutionHandlers.reject(),
                provider, IdleStrategy.ADAPTIVE);
    }

    /** Refuses the next tasks and timers; on its own thread. */
    void refuse(int tasks, int timers) {
        tasksToRefuse = tasks;
        timersToRefuse = timers;
    }

    /** Whether all that was to be refused was asked for. Any thread. */
    boolean hasRefused() throws Exception {
        return submit(() -> tasksToRefuse == 0 && timersToRefuse == 0).get();
    }

    @Override
    public void execute(Runnable task) {
        if (inEventLoop() && tasksToRefuse > 0) {
            tasksToRefuse--;
            throw new OutOfMemoryError("expected");
        }
        super.execute(task);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
        if (inEventLoop() && timersToRefuse > 0) {
            timersToRefuse--;
            throw new OutOfMemoryError("expected");
        }
        return super.schedule(task, delay, unit);
    }
}
