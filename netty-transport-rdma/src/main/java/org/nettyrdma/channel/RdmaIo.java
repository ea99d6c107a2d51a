package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractServerChannel;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.SingleThreadEventLoop;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
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
 * What an event loop does for its RDMA channels: polls a {@link VerbsContext} for completions and connection events, hands them
 * to the channels, and sleeps when there is nothing to do. {@link #run()} is the place to start reading.
 *
 * <p>Who uses channels needs an {@link RdmaEventLoopGroup} or, with Netty 4.2, an {@code RdmaIoHandler}, and not this class. It
 * is public for event loops of other kinds, which call {@link #run()} and their own tasks in turns. The thread of the event loop
 * calls all methods but {@link #wakeup()}.
 */
public final class RdmaIo {

    private static final Logger LOGGER = LoggerFactory.getLogger(RdmaIo.class);

    /** Weak: an event loop that nobody has any more needs no entry, whether it has ended or not. */
    private static final Map<EventLoop, WeakReference<RdmaIo>> BY_EVENT_LOOP = Collections.synchronizedMap(new WeakHashMap<>());

    private static final int MESSAGES_PER_TURN_WHILE_POLLING = 16;

    private static final int MAX_FAILURES_IN_A_ROW = 16;

    private static final long LONGEST_WAIT_WHILE_DRAINING_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final EventLoop eventLoop;
    private final VerbsProvider provider;
    private final RdmaIoHost host;
    private final Polling polling;
    private final PostingTools tools;
    private final ReceivePools receivePools;
    private final IdleRings idleRings;

    private volatile VerbsContext context; // written by the thread of the event loop; others only wake it
    private volatile int channelCount;     // written by the thread of the event loop

    // Everything below is used by the thread of the event loop only.
    private final IntTable<QueuePairChannel> channels = new IntTable<>(); // also those that drain
    /** Each with what to do when it is not registered any more. */
    private final Map<AbstractServerChannel, Runnable> servers = new LinkedHashMap<>();
    private int lastChannelId;
    /** Whose completion was the last, since the next is most likely its too; {@code null} if it has gone. */
    private QueuePairChannel lastCompleted;
    private int lastCompletedId;
    private final GrowingQueue<QueuePairChannel> turns = new GrowingQueue<>(16); // each once
    private boolean idle; // nothing was left to do with the last iteration
    private int failuresInARow;
    /** What the failure of the context leaves to do; {@code null} without. */
    private Runnable replacement;
    private VerbsContext failed; // until it is closed
    private boolean closing;
    private long closingSinceNanos; // while closing
    private int longestCloseTimeoutMillis; // of the channels that have gone
    /** The registration of a channel that has gone, while the provider works for it: without any, the event loop could rest. */
    private Runnable lastOfAll;

    /**
     * Opens a context, for an event loop that finds its channels from now on.
     *
     * @param eventLoop    the event loop, which has none yet
     * @param provider     the provider, which must be available
     * @param idleStrategy what to do when there is nothing to do
     * @param host         the event loop as this sees it
     * @throws IOException if the provider cannot be opened
     * @throws IllegalStateException if this Netty was not tested, see {@link Rdma}
     */
    public RdmaIo(EventLoop eventLoop, VerbsProvider provider, IdleStrategy idleStrategy, RdmaIoHost host) throws IOException {
        Rdma.ensureNettyTested();
        this.eventLoop = eventLoop;
        this.provider = provider;
        this.host = host;
        polling = new Polling(host, idleStrategy, new Completions(), LoopsAtWork.OF_PROCESS);
        tools = PostingTools.of(provider);
        receivePools = new ReceivePools(eventLoop, tools, this::stayAwake);
        idleRings = new IdleRings(eventLoop);
        BY_EVENT_LOOP.put(eventLoop, new WeakReference<>(this));
        context = provider.openContext(); // last, since where something fails nobody would close it
    }

    /** What does the work of an event loop; {@code null} if it is no event loop for these channels. Any thread. */
    static RdmaIo of(EventLoop eventLoop) {
        WeakReference<RdmaIo> reference = BY_EVENT_LOOP.get(eventLoop);
        return reference == null ? null : reference.get();
    }

    // --- What the event loop calls

    /**
     * Waits for something to do if there was nothing the last time, unless the event loop has tasks; then does it.
     *
     * @return how much was done; 0 for nothing
     */
    public int run() {
        try {
            if (replacement != null) {
                replacement.run();
            }
            return iterate();
        } catch (OutOfMemoryError e) { // without this the channels of the loop would never end
            PeerLog.fault(LOGGER, provider.name(), "no memory for the event loop, which tries again", e);
            idle = false;
            return 0;
        }
    }

    private int iterate() {
        try {
            // 0. poll a little longer, arm, poll again, only then sleep
            int work = polling.await(context, idle && turns.size() == 0);
            if (work == 0) {
                work = polling.poll(context);                        // 1. completions, then connection events
            }
            work += runChannels();                                   // 2. pass on messages, repost receives, resume writes
            if (lastOfAll != null && context.isDrained()) {
                Runnable unregister = lastOfAll;
                lastOfAll = null;
                unregister.run();
            }
            boolean mayWait = receivePools.refill();
            idle = mayWait && (work == 0 && host.canBlock() || context.canAwaitUnpolled());
            failuresInARow = 0;
            return work;
        } catch (Throwable t) {
            idle = false; // what was left out, such as posting receives, comes before the next wait
            attempt(() -> pollFailed(t));
            return 1;
        }
    }

    /** There is something to do in the next iteration, before it waits. */
    void stayAwake() {
        idle = false;
    }

    /** Ends the wait of {@link #run()}; while it does not wait, that of the next one. Any thread but that of the event loop. */
    public void wakeup() {
        if (polling.isToBeWoken()) {
            context.wakeup();
        }
    }

    /**
     * How long {@link #run()} has waited since the beginning, polling or asleep.
     *
     * @return nanoseconds
     */
    public long waitedNanos() {
        return polling.waitedNanos();
    }

    /** Whether the event loop is awake at that time of its own clock without being woken. Any thread. */
    boolean wakesBefore(long deadlineNanos) {
        return polling.endsBefore(deadlineNanos);
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
        assert eventLoop.inEventLoop();
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
        if (eventLoop.isShuttingDown()) {
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
        assert eventLoop.inEventLoop();
        turns.reserve(channels.size() + 1);
        do {
            lastChannelId++;
        } while (channels.get(lastChannelId) != null);
        channels.put(lastChannelId, channel);
        try {
            channel.unregister = host.added(channel);
        } catch (Throwable t) {
            channels.remove(lastChannelId);
            throw t;
        }
        count();
        return lastChannelId;
    }

    void remove(QueuePairChannel channel) {
        assert eventLoop.inEventLoop();
        channels.remove(channel.workRequestChannelId());
        count();
        longestCloseTimeoutMillis = Math.max(longestCloseTimeoutMillis, channel.closeTimeoutMillis());
        lastCompleted = null;
        tools.registeredAllocator().trimTimer().trimLater();
        if (channels.size() == 0 && lastOfAll == null && !context.isDrained()) {
            lastOfAll = channel.unregister;
        } else {
            channel.unregister.run();
        }
    }

    /** How many polls have delivered everything there was. */
    long exhaustivePolls() {
        return polling.exhaustivePolls();
    }

    void add(AbstractServerChannel server) {
        assert eventLoop.inEventLoop();
        requireRunning();
        Runnable unregister = host.added(server);
        try {
            servers.put(server, unregister);
        } catch (Throwable t) {
            unregister.run();
            throw t;
        }
        count();
    }

    void remove(AbstractServerChannel server) {
        assert eventLoop.inEventLoop();
        Runnable unregister = servers.remove(server);
        count();
        if (unregister != null) {
            unregister.run();
        }
    }

    /** Does something behind the tasks of this iteration; as one of them where the event loop has no such place. */
    void executeLast(Runnable task) {
        if (eventLoop instanceof SingleThreadEventLoop single) {
            single.executeAfterEventLoopIteration(task);
        } else {
            eventLoop.execute(task);
        }
    }

    private void count() {
        channelCount = channels.size() + servers.size();
    }

    /** How many channels there are, with servers, and with those that are closed and have not come to their end. Any thread. */
    int channelCount() {
        return channelCount;
    }

    List<QueuePairChannel> channels() {
        return channels.values();
    }

    List<AbstractServerChannel> servers() {
        return new ArrayList<>(servers.keySet());
    }

    /** Gives a channel a turn in step 2 of the loop, one however often this is called before. */
    void schedule(QueuePairChannel channel) {
        assert eventLoop.inEventLoop();
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
        return polling.isPreferred() ? MESSAGES_PER_TURN_WHILE_POLLING : Integer.MAX_VALUE;
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

    // --- Failure and the end

    /** Channels handle their own failures, so that what arrives here is the provider's. Visible for tests. */
    void pollFailed(Throwable cause) {
        failuresInARow++;
        if (cause instanceof IOException || failuresInARow == MAX_FAILURES_IN_A_ROW) {
            LOGGER.error("The context of provider {} failed; its {} channels are closed", provider.name(),
                    channels.size() + servers.size(), cause);
            failuresInARow = 0;
            replaceContext(cause);
        } else {
            PeerLog.fault(LOGGER, provider.name(), "unexpected exception from the provider", cause);
        }
    }

    private void replaceContext(Throwable cause) {
        List<AbstractServerChannel> lostServers = servers();
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
        lostServers.forEach(RdmaIo::close);
        lost.forEach(RdmaIo::close);
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

    /**
     * Closes all channels, also those that were registered since the last call. Those that have sent something stay until their
     * peers have taken it, see {@link #isDrained()}.
     */
    public void closeChannels() {
        if (!closing) {
            closingSinceNanos = System.nanoTime();
            closing = true;
        }
        servers().forEach(RdmaIo::close);
        channels.values().forEach(RdmaIo::close);
    }

    private static void close(Channel channel) {
        attempt(() -> channel.unsafe().close(channel.unsafe().voidPromise()));
    }

    /**
     * Whether the channels that are closed have come to their end: the device has returned their buffers, or their time is over.
     *
     * @return {@code false} if something could be lost if this ended now
     */
    public boolean isDrained() {
        return channels.size() == 0 && context.isDrained();
    }

    /**
     * Goes on without tasks and timers of the event loop until {@link #isDrained()}, at most until the longest
     * {@link RdmaChannelOption#CLOSE_TIMEOUT_MILLIS} of all channels that there were has passed since the first
     * {@link #closeChannels()}.
     *
     * @param mostNanos longest time to go on, in nanoseconds
     */
    public void drain(long mostNanos) {
        closeChannels();
        int timeoutMillis = longestCloseTimeoutMillis;
        for (QueuePairChannel channel : channels.values()) {
            timeoutMillis = Math.max(timeoutMillis, channel.closeTimeoutMillis());
        }
        long startNanos = System.nanoTime();
        long limitNanos = Math.min(mostNanos, TimeUnit.MILLISECONDS.toNanos(timeoutMillis) - (startNanos - closingSinceNanos));
        long leftNanos;
        do {
            idle = false; // the wait is here
            int work = run();
            leftNanos = limitNanos - (System.nanoTime() - startNanos);
            if (work == 0 && leftNanos > 0 && !isDrained()) {
                awaitWhileDraining(Math.min(leftNanos, LONGEST_WAIT_WHILE_DRAINING_NANOS));
            }
        } while (leftNanos > 0 && !isDrained());
    }

    private void awaitWhileDraining(long nanos) {
        try {
            context.await(nanos);
        } catch (IOException | RuntimeException | Error e) {
            attempt(() -> pollFailed(e));
        }
    }

    /** Closes the context, and ends what has not come to its end. */
    public void end() {
        attempt(context::close);
        polling.end();
        context = new LostContext(new RejectedExecutionException("the event loop has ended"));
        channels.values().forEach(channel -> attempt(channel::contextClosed));
    }

    /** What has completed, for the channel that it is of. */
    private final class Completions implements CompletionHandler {

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
    }
}
