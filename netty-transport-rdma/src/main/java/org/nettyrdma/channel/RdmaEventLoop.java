package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.RejectedExecutionHandler;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.CompletionHandler;
import org.nettyrdma.verbs.VerbsContext;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.WorkCompletionStatus;
import org.nettyrdma.verbs.support.GrowingQueue;
import org.nettyrdma.verbs.support.IntTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread, one {@link VerbsContext}: polls completions and connection events, hands them to the channels, runs tasks,
 * and sleeps when there is nothing to do. {@link #run()} is the place to start reading.
 */
class RdmaEventLoop extends SingleThreadEventLoop implements CompletionHandler {

    private static final Logger LOGGER = LoggerFactory.getLogger(RdmaEventLoop.class);

    /** Completions taken from the device before the channels get their turn. */
    private static final int MAX_COMPLETIONS_PER_POLL = 256;

    private static final int MESSAGES_PER_TURN_WHILE_POLLING = 16;

    /** Time for tasks before the device gets its turn again; Netty looks at the clock every 64 tasks. */
    private static final long TASK_BUDGET_NANOS = 250_000;

    /** Whoever yields for longer has given the processor to another thread. Alone it takes less than a microsecond. */
    private static final long LONGEST_LONE_YIELD_NANOS = 3_000;

    private static final int MAX_FAILURES_IN_A_ROW = 16;

    private static final long AWAKE = -1;
    private static final long NO_DEADLINE = Long.MAX_VALUE;

    private final VerbsProvider provider;
    private final IdleStrategy idleStrategy;
    private final PostingTools tools;
    private final ReceivePools receivePools;
    private final IdleRings idleRings = new IdleRings(this);
    private final WaitPolicy waitPolicy = new WaitPolicy();

    /** {@link #AWAKE}, or while the loop sleeps or is about to, when it will wake by itself. Guards against needless wake-ups. */
    private final AtomicLong nextWakeupNanos = new AtomicLong(AWAKE);

    private volatile VerbsContext context; // written by this loop's thread; others only wake it
    private volatile long shutdownTimeoutNanos = Long.MAX_VALUE; // written by who shuts down, before this loop is told

    // Everything below is used by this loop's thread only.
    private final IntTable<QueuePairChannel> channels = new IntTable<>(); // also those that drain
    private final Set<AbstractServerChannel> servers = new LinkedHashSet<>();
    private int lastChannelId;
    /** Whose completion was the last, since the next is most likely its too; {@code null} if it has gone. */
    private QueuePairChannel lastCompleted;
    private int lastCompletedId;
    private final GrowingQueue<QueuePairChannel> turns = new GrowingQueue<>(16); // each once
    private boolean idle; // nothing was left to do with the last iteration
    private int failuresInARow;
    private long exhaustivePolls;
    /** What the failure of the context leaves to do; {@code null} without. */
    private Runnable replacement;
    private VerbsContext failed; // until it is closed
    private boolean contended; // the last time that it polled before going to sleep
    private boolean ending;
    private long endingSinceNanos;

    RdmaEventLoop(EventLoopGroup parent, Executor executor, RejectedExecutionHandler rejectedExecutionHandler,
                  VerbsProvider provider, IdleStrategy idleStrategy) throws IOException {
        super(parent, executor, false, DEFAULT_MAX_PENDING_TASKS, rejectedExecutionHandler);
        this.provider = provider;
        this.idleStrategy = idleStrategy;
        tools = PostingTools.of(provider);
        receivePools = new ReceivePools(this, tools);
        context = provider.openContext();
    }

    @Override
    protected void run() {
        boolean terminable = false;
        while (!terminable) {
            try {
                if (replacement != null) {
                    replacement.run();
                }
                iterate();
                // A request to shut down wakes the loop only once, so it must be seen before the next wait.
                terminable = isTerminable();
            } catch (OutOfMemoryError e) { // without this loop its channels would never end
                PeerLog.fault(LOGGER, provider.name(), "no memory for the event loop, which tries again", e);
                idle = false;
            }
        }
    }

    private void iterate() {
        try {
            // 0. poll a little longer, arm, poll again, only then sleep
            int work = idle ? waitForWork() : 0;
            if (work == 0) {
                work = poll();                                       // 1. completions, then connection events
            }
            work += runChannels();                                   // 2. pass on messages, repost receives, resume writes
            boolean mayWait = receivePools.refill();
            work += runAllTasks(TASK_BUDGET_NANOS) ? 1 : 0;          // 3. tasks and timers
            idle = mayWait && (work == 0 || context.canAwaitUnpolled());
            failuresInARow = 0;
        } catch (Throwable t) {
            idle = false; // what was left out, such as posting receives, comes before the next wait
            attempt(() -> pollFailed(t));
        }
    }

    private int poll() throws IOException {
        int work = context.poll(this, MAX_COMPLETIONS_PER_POLL);
        exhaustivePolls += work < MAX_COMPLETIONS_PER_POLL ? 1 : 0;
        return work;
    }

    // --- Channels

    VerbsProvider provider() {
        return provider;
    }

    /**
     * The context; if it was lost, the provider is asked for another one first.
     *
     * @throws RejectedExecutionException if this loop is shutting down
     */
    VerbsContext context() {
        assert inEventLoop();
        requireRunning();
        if (context instanceof LostContext) {
            context = openContext();
        }
        return context;
    }

    private VerbsContext openContext() {
        try {
            return provider.openContext();
        } catch (Throwable t) { // whatever it is, this loop goes on for its other tasks
            return new LostContext(t);
        }
    }

    /**
     * What would be opened by the last tasks of this loop, nobody would close. There is no stack trace, as peers that connect can
     * cause this, and it is logged.
     */
    private void requireRunning() {
        if (isShuttingDown()) {
            var cause = new RejectedExecutionException("the event loop is shutting down");
            cause.setStackTrace(new StackTraceElement[0]);
            throw cause;
        }
    }

    PostingTools postingTools() {
        return tools;
    }

    /** The receives that a channel shares with others of this loop, and has to leave; {@code null} if it has its own. */
    ReceivePool joinReceives(RdmaChannelConfig config) throws IOException {
        return receivePools.join(context(), config);
    }

    IdleRings idleRings() {
        return idleRings;
    }

    /** Makes completions find a channel, until {@link #remove(QueuePairChannel)}. Returns the id by which they do. */
    int add(QueuePairChannel channel) {
        assert inEventLoop();
        turns.reserve(channels.size() + 1);
        do {
            lastChannelId++;
        } while (channels.get(lastChannelId) != null);
        channels.put(lastChannelId, channel);
        return lastChannelId;
    }

    void remove(QueuePairChannel channel) {
        assert inEventLoop();
        channels.remove(channel.workRequestChannelId());
        lastCompleted = null;
        tools.registeredAllocator().trimTimer().trimLater();
    }

    /** How many polls have delivered everything there was. */
    long exhaustivePolls() {
        return exhaustivePolls;
    }

    void add(AbstractServerChannel server) {
        assert inEventLoop();
        requireRunning();
        servers.add(server);
    }

    void remove(AbstractServerChannel server) {
        assert inEventLoop();
        servers.remove(server);
    }

    /** Gives a channel a turn in step 2 of the loop, one however often this is called before. */
    void schedule(QueuePairChannel channel) {
        assert inEventLoop();
        if (!channel.awaitsTurn) {
            turns.add(channel);
            channel.awaitsTurn = true;
        }
    }

    /**
     * How many messages a channel passes on before it flushes what they led to. A flush costs a system call at each end, so that
     * all that has arrived goes together. While the loop polls and has its processor to itself, the peer is likely at work on
     * another one: it gets something to do soon.
     */
    int maxMessagesPerTurn() {
        boolean polls = switch (idleStrategy) {
            case ADAPTIVE -> waitPolicy.prefersSpinning() && !contended;
            case BLOCKING -> false;
            case BUSY_POLL -> true;
        };
        return polls ? MESSAGES_PER_TURN_WHILE_POLLING : Integer.MAX_VALUE;
    }

    private int runChannels() {
        // What a channel asks for during its turn is done in the next iteration, so that no channel starves the others.
        int count = turns.size();
        for (int i = 0; i < count; i++) {
            QueuePairChannel channel = turns.poll();
            channel.awaitsTurn = false;
            try {
                channel.takeTurn();
            } catch (Throwable t) { // even to fail the channel has failed; the others get their turn
                PeerLog.fault(LOGGER, channel, "unexpected exception", t);
            }
        }
        return count;
    }

    /** {@code null} if there is no such channel any more. */
    private QueuePairChannel find(int channelId) {
        if (lastCompleted == null || lastCompletedId != channelId) {
            lastCompleted = channels.get(channelId);
            lastCompletedId = channelId;
        }
        return lastCompleted;
    }

    @Override
    public void onCompletion(long workRequestId, WorkCompletionStatus status, int byteLength, boolean invalidated,
                             int invalidatedTag, int vendorError) {
        QueuePairChannel channel = find(WorkRequestId.channelId(workRequestId));
        if (channel == null) {
            PeerLog.warn(LOGGER, provider.name(), "completion {} {} for a channel that is not known",
                    Long.toHexString(workRequestId), status);
            return;
        }
        channel.completed(workRequestId, status, byteLength, invalidated, invalidatedTag, vendorError);
    }

    @Override
    public void onImmediateData(long workRequestId, int byteLength, int immediateData) {
        QueuePairChannel channel = find(WorkRequestId.channelId(workRequestId));
        if (channel != null) {
            channel.completedWithImmediate(workRequestId, byteLength, immediateData);
        }
    }

    @Override
    public void onSharedReceive(int queuePairNumber, long workRequestId, WorkCompletionStatus status, int byteLength,
                                boolean invalidated, int invalidatedTag, int vendorError) {
        ByteBuf buffer = receivePools.returned(workRequestId);
        if (buffer == null) {
            return; // its channels are gone
        }
        QueuePairChannel channel = find(queuePairNumber);
        if (channel == null) {
            buffer.release(); // a part of a message, or one that came with the end
        } else {
            channel.received(buffer, status, byteLength, invalidated, invalidatedTag, vendorError);
        }
    }

    @Override
    public int registeredChannels() {
        return channels.size() + servers.size();
    }

    @Override
    public Iterator<Channel> registeredChannelsIterator() {
        assert inEventLoop();
        List<Channel> all = new ArrayList<>(servers);
        channels.forEach(all::add);
        all.removeIf(channel -> !channel.isRegistered());
        return List.copyOf(all).iterator();
    }

    // --- Waiting

    /** Returns what polling has found, 0 if it is still to be polled. */
    private int waitForWork() throws IOException {
        if (turns.size() > 0 || hasTasks()) {
            return 0;
        }
        int found = 0;
        long deadlineNanos = nextScheduledTaskDeadlineNanos();
        switch (idleStrategy) {
            case ADAPTIVE -> {
                long startNanos = System.nanoTime();
                contended = false;
                if (waitPolicy.spinNanos() > 0) {
                    long delayNanos = deadlineNanos == -1 ? NO_DEADLINE : deadlineToDelayNanos(deadlineNanos);
                    found = spin(startNanos, Math.min(delayNanos, waitPolicy.spinNanos()));
                }
                if (found == 0 && !hasTasks()) {
                    sleep(deadlineNanos);
                }
                waitPolicy.waited(System.nanoTime() - startNanos, contended);
            }
            case BLOCKING -> sleep(deadlineNanos);
            case BUSY_POLL -> Thread.onSpinWait();
        }
        return found;
    }

    /** Polls for a while, as long as no other thread wants this processor; returns what that has found. */
    private int spin(long startNanos, long budgetNanos) throws IOException {
        int found = poll();
        long nowNanos = found == 0 ? System.nanoTime() : startNanos;
        while (found == 0 && !contended && !hasTasks() && nowNanos - startNanos < budgetNanos) {
            Thread.yield(); // the peer may be waiting for this very processor
            long resumedNanos = System.nanoTime();
            contended = resumedNanos - nowNanos > LONGEST_LONE_YIELD_NANOS;
            found = poll();
            nowNanos = System.nanoTime();
        }
        return found;
    }

    private void sleep(long deadlineNanos) throws IOException {
        nextWakeupNanos.set(deadlineNanos == -1 ? NO_DEADLINE : deadlineNanos);
        try {
            // Look again after telling that we sleep: who submits a task from now on wakes us.
            if (!hasTasks()) {
                long delayNanos = deadlineNanos == -1 ? -1 : deadlineToDelayNanos(deadlineNanos);
                if (delayNanos != 0) {
                    context.await(delayNanos);
                }
            }
        } finally {
            nextWakeupNanos.lazySet(AWAKE); // seen late it costs one needless wake-up
        }
    }

    @Override
    protected void wakeup(boolean inEventLoop) {
        if (!inEventLoop && nextWakeupNanos.getAndSet(AWAKE) != AWAKE) {
            context.wakeup();
        }
    }

    @Override
    protected boolean beforeScheduledTaskSubmitted(long deadlineNanos) {
        return deadlineNanos < nextWakeupNanos.get(); // also right when awake
    }

    @Override
    protected boolean afterScheduledTaskSubmitted(long deadlineNanos) {
        return deadlineNanos < nextWakeupNanos.get();
    }

    @Override
    protected Queue<Runnable> newTaskQueue(int maxPendingTasks) {
        return maxPendingTasks == Integer.MAX_VALUE ? PlatformDependent.newMpscQueue()
                : PlatformDependent.newMpscQueue(maxPendingTasks);
    }

    // --- Failure and the end

    /** Channels handle their own failures, so that what arrives here is the provider's. Visible for tests. */
    void pollFailed(Throwable cause) {
        failuresInARow++;
        if (cause instanceof IOException || failuresInARow == MAX_FAILURES_IN_A_ROW) {
            LOGGER.error("The context of provider {} failed; its {} channels are closed", provider.name(), registeredChannels(),
                    cause);
            failuresInARow = 0;
            replaceContext(cause);
        } else {
            PeerLog.fault(LOGGER, provider.name(), "unexpected exception from the provider", cause);
        }
    }

    private void replaceContext(Throwable cause) {
        List<AbstractServerChannel> lostServers = new ArrayList<>(servers);
        List<QueuePairChannel> lost = channels.values();
        VerbsContext substitute = new LostContext(cause);
        replacement = () -> replaceContext(cause, lostServers, lost);
        failed = context;
        // Who connects again because a channel closes is served by another context from now on, and is none of the lost ones.
        context = substitute;
        receivePools.contextLost();
        replacement.run();
    }

    /** Where there is no memory to go on, all steps are tried again. */
    private void replaceContext(Throwable cause, List<AbstractServerChannel> lostServers, List<QueuePairChannel> lost) {
        lost.forEach(channel -> attempt(() -> channel.fail(cause)));
        lostServers.forEach(server -> attempt(() -> server.pipeline().fireExceptionCaught(cause)));
        lostServers.forEach(RdmaEventLoop::close);
        lost.forEach(RdmaEventLoop::close);
        attempt(this::closeFailed); // the device touches none of their memory any more
        lost.forEach(channel -> attempt(channel::contextClosed));
        replacement = null;
        if (context instanceof LostContext) {
            context = openContext();
        }
        if (context instanceof LostContext) {
            LOGGER.warn("Provider {} cannot be opened again yet; the next channel tries again", provider.name());
        }
    }

    /** Once, whatever comes of it. */
    private void closeFailed() {
        VerbsContext closing = failed;
        failed = null;
        if (closing != null) {
            closing.close();
        }
    }

    /** One of several steps, of which none must keep the loop from the others. */
    private static void attempt(Runnable step) {
        try {
            step.run();
        } catch (Throwable t) {
            LOGGER.error("Unexpected exception", t);
        }
    }

    private boolean isTerminable() {
        if (!isShuttingDown()) {
            return false;
        }
        closeAll();
        // Closed channels stay until the device has returned their buffers, or their timer gives up.
        if (channels.size() == 0 && context.isDrained() && confirmShutdown()) {
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
                + "is lost", TimeUnit.NANOSECONDS.toMillis(shutdownTimeoutNanos), channels.size());
        List<QueuePairChannel> lost = channels.values();
        attempt(context::close);
        context = new LostContext(new RejectedExecutionException("the event loop has ended"));
        lost.forEach(channel -> attempt(channel::contextClosed));
        shutdown(); // no quiet period any more
        return confirmShutdown();
    }

    private void closeAll() {
        new ArrayList<>(servers).forEach(RdmaEventLoop::close);
        channels.values().forEach(RdmaEventLoop::close);
    }

    private static void close(Channel channel) {
        attempt(() -> channel.unsafe().close(channel.unsafe().voidPromise()));
    }

    @Override
    protected void cleanup() {
        context.close();
    }
}
