package org.nettyrdma.codec.rpcrdma.connection;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.nettyrdma.codec.oncrpc.TransferLimits;
import org.nettyrdma.codec.oncrpc.transport.ProgressSamples;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets {@link TransferTimeout}s look at their connections, {@value ProgressSamples#PER_TIMEOUT} times within each
 * time-out. All connections of an event loop share one timer: a timer for each that something is sent on would have to be looked
 * after with each call. What is said of one event loop happens on it.
 *
 * <p>A second timer asks as often within a second whether memory is gone. Only then do they look at their connections for that,
 * too.
 */
public final class TransferRounds {

    private static final Logger LOGGER = LoggerFactory.getLogger(TransferRounds.class);

    /** What looks at a connection. */
    interface Look {

        /**
         * A part of a time-out has passed.
         *
         * @param memoryIsGone whether it is one of {@link #contendedLimits()}, or else of {@link #limits()}
         */
        void look(boolean memoryIsGone);
    }

    private final TransferLimits limits;
    private final TransferLimits contendedLimits;
    private final BooleanSupplier memoryIsGone;
    private final Map<EventExecutor, Round> rounds = new ConcurrentHashMap<>();

    /**
     * @param limits       what is demanded of all connections
     * @param memoryIsGone whether somebody has no memory and waits for it, {@code null} if nothing follows from that; any thread
     */
    public TransferRounds(TransferLimits limits, BooleanSupplier memoryIsGone) {
        this.limits = limits;
        this.memoryIsGone = memoryIsGone;
        contendedLimits = ProgressSamples.contended(limits);
    }

    TransferLimits limits() {
        return limits;
    }

    /** What is demanded while memory is gone. */
    TransferLimits contendedLimits() {
        return contendedLimits;
    }

    /** From now on {@code look} runs at each round of the event loop, which is the caller's. */
    void join(EventExecutor loop, Look look) {
        rounds.computeIfAbsent(loop, Round::new).looks.add(look);
    }

    /** It does not run any more. Nothing happens if it had not joined. */
    void leave(EventExecutor loop, Look look) {
        Round round = rounds.get(loop);
        if (round != null && round.looks.remove(look) && round.looks.isEmpty()) {
            rounds.remove(loop);
            round.cancel();
        }
    }

    /** Those of one event loop. */
    private final class Round {

        private final Set<Look> looks = new LinkedHashSet<>();
        private final ScheduledFuture<?> timer;
        private final ScheduledFuture<?> contendedTimer;

        private Round(EventExecutor loop) {
            timer = schedule(loop, limits, () -> run(false));
            try {
                contendedTimer = memoryIsGone == null ? null : schedule(loop, contendedLimits, () -> run(true));
            } catch (RuntimeException | Error e) { // no memory, for instance: nobody would cancel the first one
                timer.cancel(false);
                throw e;
            }
        }

        private static ScheduledFuture<?> schedule(EventExecutor loop, TransferLimits limits, Runnable run) {
            long intervalNanos = TimeUnit.MILLISECONDS.toNanos(limits.timeoutMillis()) / ProgressSamples.PER_TIMEOUT;
            // Not at a fixed rate: after a pause of this process the looks would follow each other too fast.
            return loop.scheduleWithFixedDelay(run, intervalNanos, intervalNanos, TimeUnit.NANOSECONDS);
        }

        private void cancel() {
            timer.cancel(false);
            if (contendedTimer != null) {
                contendedTimer.cancel(false);
            }
        }

        /** What is thrown here would end the timer that all share. */
        private void run(boolean contended) {
            try {
                if (!contended || memoryIsGone.getAsBoolean()) {
                    List.copyOf(looks).forEach(each -> look(each, contended)); // some may leave meanwhile
                }
            } catch (OutOfMemoryError e) {
                return; // the next round may have some
            }
        }

        /** One that fails must not keep the others from looking. */
        private void look(Look look, boolean contended) {
            try {
                look.look(contended);
            } catch (Throwable t) {
                PeerLog.fault(LOGGER, "a connection", "it cannot be watched for its time-out", t);
            }
        }
    }
}
