package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.oncrpc.transport.ProgressSamples;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets {@link TransferTimeout}s look at their connections, {@value ProgressSamples#PER_TIMEOUT} times within each
 * time-out. All connections of an event loop share one timer: a timer for each that something is sent on would have to be looked
 * after with each call. What is said of one event loop happens on it.
 */
public final class TransferRounds {

    private static final Logger LOGGER = LoggerFactory.getLogger(TransferRounds.class);

    private final TransferLimits limits;
    private final Map<EventExecutor, Round> rounds = new ConcurrentHashMap<>();

    /**
     * @param limits what is demanded of all connections
     */
    public TransferRounds(TransferLimits limits) {
        this.limits = limits;
    }

    TransferLimits limits() {
        return limits;
    }

    /** From now on {@code look} runs at each round of the event loop, which is the caller's. */
    void join(EventExecutor loop, Runnable look) {
        rounds.computeIfAbsent(loop, Round::new).looks.add(look);
    }

    /** It does not run any more. Nothing happens if it had not joined. */
    void leave(EventExecutor loop, Runnable look) {
        Round round = rounds.get(loop);
        if (round != null && round.looks.remove(look) && round.looks.isEmpty()) {
            rounds.remove(loop);
            round.timer.cancel(false);
        }
    }

    /** Those of one event loop. */
    private final class Round {

        private final Set<Runnable> looks = new LinkedHashSet<>();
        private final ScheduledFuture<?> timer;

        private Round(EventExecutor loop) {
            long intervalNanos = TimeUnit.MILLISECONDS.toNanos(limits.timeoutMillis()) / ProgressSamples.PER_TIMEOUT;
            // Not at a fixed rate: after a pause of this process the looks would follow each other too fast.
            timer = loop.scheduleWithFixedDelay(this::run, intervalNanos, intervalNanos, TimeUnit.NANOSECONDS);
        }

        /** What is thrown here would end the timer that all share. */
        private void run() {
            try {
                List.copyOf(looks).forEach(this::look); // some may leave meanwhile
            } catch (OutOfMemoryError e) {
                return; // the next round may have some
            }
        }

        /** One that fails must not keep the others from looking. */
        private void look(Runnable look) {
            try {
                look.run();
            } catch (Throwable t) {
                PeerLog.fault(LOGGER, "a connection", "it cannot be watched for its time-out", t);
            }
        }
    }
}
