package org.nettyrdma.channel;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.VerbsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One thread that runs an {@link RdmaIo} and tasks in turns. It ends when its connections have, or its time is over. */
class RdmaEventLoop extends SingleThreadEventLoop implements RdmaIoHost {

    private static final Logger LOGGER = LoggerFactory.getLogger(RdmaEventLoop.class);

    /** Time for tasks before the device gets its turn again; Netty looks at the clock every 64 tasks. */
    private static final long TASK_BUDGET_NANOS = 250_000;

    private static final Runnable NOTHING = () -> { };

    private final RdmaIo io;
    private volatile long shutdownTimeoutNanos = Long.MAX_VALUE; // written by who shuts down, before this loop is told

    // This loop's thread only.
    private boolean ending;
    private long endingSinceNanos;

    RdmaEventLoop(EventLoopGroup parent, Executor executor, RejectedExecutionHandler rejectedExecutionHandler,
                  VerbsProvider provider, IdleStrategy idleStrategy) throws IOException {
        super(parent, executor, false, DEFAULT_MAX_PENDING_TASKS, rejectedExecutionHandler);
        io = new RdmaIo(this, provider, idleStrategy, this);
    }

    @Override
    protected void run() {
        boolean terminable = false;
        while (!terminable) {
            io.run();
            try {
                runAllTasks(TASK_BUDGET_NANOS);
                // A request to shut down wakes the loop only once, so it must be seen before the next wait.
                terminable = isTerminable();
            } catch (OutOfMemoryError e) { // without this loop its channels would never end
                PeerLog.fault(LOGGER, io.provider().name(), "no memory for the event loop, which tries again", e);
                io.stayAwake();
            }
        }
    }

    RdmaIo io() {
        return io;
    }

    @Override
    public Runnable added(Channel channel) {
        return NOTHING;
    }

    @Override
    public int registeredChannels() {
        return io.channelCount();
    }

    @Override
    public Iterator<Channel> registeredChannelsIterator() {
        assert inEventLoop();
        List<Channel> all = new ArrayList<>(io.servers());
        all.addAll(io.channels());
        all.removeIf(channel -> !channel.isRegistered());
        return List.copyOf(all).iterator();
    }

    // --- Waiting

    @Override
    public boolean canBlock() {
        return !hasTasks();
    }

    @Override
    public long deadlineNanos() {
        return nextScheduledTaskDeadlineNanos();
    }

    @Override
    public long delayNanos() {
        return deadlineToDelayNanos(nextScheduledTaskDeadlineNanos());
    }

    @Override
    protected void wakeup(boolean inEventLoop) {
        if (!inEventLoop) {
            io.wakeup();
        }
    }

    @Override
    protected boolean beforeScheduledTaskSubmitted(long deadlineNanos) {
        return !io.wakesBefore(deadlineNanos);
    }

    @Override
    protected boolean afterScheduledTaskSubmitted(long deadlineNanos) {
        return !io.wakesBefore(deadlineNanos);
    }

    @Override
    protected Queue<Runnable> newTaskQueue(int maxPendingTasks) {
        return maxPendingTasks == Integer.MAX_VALUE ? PlatformDependent.newMpscQueue()
                : PlatformDependent.newMpscQueue(maxPendingTasks);
    }

    // --- The end

    private boolean isTerminable() {
        if (!isShuttingDown()) {
            return false;
        }
        io.closeChannels();
        // Closed channels stay until the device has returned their buffers, or their timer gives up.
        if (io.isDrained() && confirmShutdown()) {
            return true;
        }
        return isShutdownTimeOver() && endNow();
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
        if (!isShuttingDown()) { // later ones are without effect
            shutdownTimeoutNanos = unit.toNanos(timeout);
        }
        return super.shutdownGracefully(quietPeriod, timeout, unit);
    }

    private boolean isShutdownTimeOver() {
        if (!ending) {
            endingSinceNanos = System.nanoTime();
            schedule(() -> { }, shutdownTimeoutNanos, TimeUnit.NANOSECONDS); // wakes this loop
            ending = true; // not before there is something that does
        }
        return System.nanoTime() - endingSinceNanos >= shutdownTimeoutNanos;
    }

    /** The close time-outs of connections can be longer than whoever ends the loop wants to wait for them. */
    @SuppressWarnings("deprecation")
    private boolean endNow() {
        LOGGER.warn("Ends after {} ms, as it was told, before {} closed connections have ended; what their peers have not taken "
                + "is lost", TimeUnit.NANOSECONDS.toMillis(shutdownTimeoutNanos), io.channelCount());
        io.end();
        shutdown(); // no quiet period any more
        return confirmShutdown();
    }

    @Override
    protected void cleanup() {
        io.end();
    }
}
