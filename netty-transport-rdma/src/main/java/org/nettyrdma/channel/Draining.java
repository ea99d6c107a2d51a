package org.nettyrdma.channel;

import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.channel.RdmaChannelStatistics.Counter;
import org.nettyrdma.peer.PeerLog;
import org.nettyrdma.verbs.QueuePair;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is left of a closed channel: its queue pair, which can be freed only when the device has returned every buffer and
 * the connection has come to its end. Then, or when that takes too long, the event loop forgets the channel. It is made with the
 * queue pair, since there may be no memory for it at the end. Event loop only.
 */
final class Draining {

    private static final Logger LOGGER = LoggerFactory.getLogger(Draining.class);
    private static final int RECHECK_MILLIS = 50;

    private enum State {
        /** The channel is open, or a closed stream lingers. */
        AWAITED,
        STARTED,
        DONE
    }

    private final QueuePairChannel channel;
    private final QueuePair queuePair;
    private final PostedWork work;
    private State state = State.AWAITED;
    /** {@code null} where there is no limit, or there was no memory for it. */
    private Future<?> timeout;
    private boolean overdue;
    private long pollsWhenOverdue;

    /** What is to end; {@link #start} ends it. */
    Draining(QueuePairChannel channel, QueuePair queuePair, PostedWork work) {
        this.channel = channel;
        this.queuePair = queuePair;
        this.work = work;
    }

    /** Starts the end of the queue pair. Where a step fails the others are done all the same, and time ends it. */
    void start() {
        state = State.STARTED;
        limitTime();
        try {
            end();
        } finally {
            finishIfDrained();
        }
    }

    private void end() {
        try {
            try {
                queuePair.moveToError(); // from here on the device returns every buffer it has
            } finally {
                work.releaseUnposted();
            }
        } catch (RuntimeException | Error e) { // no memory, for instance
            PeerLog.fault(LOGGER, channel, "the end of the connection failed", e);
        }
    }

    /** Sets the limit. Where that fails, for want of memory, the channel asks for a turn, in which it is to be tried again. */
    void limitTime() {
        if (state != State.STARTED || timeout != null) {
            return;
        }
        try {
            timeout = channel.eventLoop().schedule(this::timeIsOver, overdue ? RECHECK_MILLIS : channel.closeTimeoutMillis(),
                    TimeUnit.MILLISECONDS);
        } catch (Throwable t) {
            channel.schedule();
        }
    }

    /** Called after completions, and when the provider has reported the end of the connection. */
    void finishIfDrained() {
        if (state == State.STARTED && !channel.connection.isEndPending() && work.outstanding() == 0) {
            finish();
        }
    }

    /**
     * The device may have returned everything, to a loop that is behind, for instance because it closes very many channels at
     * once. So this waits for a poll that finds all there is.
     */
    private void timeIsOver() {
        timeout = null;
        if (!overdue) {
            overdue = true;
            pollsWhenOverdue = channel.io.exhaustivePolls();
            end(); // once more, if there was no memory for it
        }
        if (channel.io.exhaustivePolls() == pollsWhenOverdue) {
            limitTime();
        } else {
            giveUp();
        }
    }

    /** Buffers that the device still has are never used again: that could be worse. */
    private void giveUp() {
        try {
            giveUpBuffers("within " + channel.closeTimeoutMillis() + " ms of the close");
        } finally {
            finish();
        }
    }

    private void giveUpBuffers(String when) {
        int leaked = work.buffersWithDevice();
        if (leaked > 0) {
            channel.statistics().add(Counter.BUFFERS_LEAKED_ON_PURPOSE, leaked);
            PeerLog.warn(LOGGER, channel, "the device has not returned {} buffers {}; they are given up", leaked, when);
        }
    }

    private void finish() {
        try {
            queuePair.close();
        } finally {
            forget();
        }
    }

    /**
     * The loop's context is closed, and the queue pair with it: nothing will complete, and the device has lost all access unless
     * it says otherwise.
     */
    void contextClosed() {
        if (state != State.DONE) {
            if (queuePair.mayUsePosted()) {
                giveUpBuffers("with its context");
            } else {
                work.abandonedByDevice();
            }
            forget();
        }
    }

    private void forget() {
        state = State.DONE;
        try {
            if (timeout != null) {
                timeout.cancel(false);
            }
            work.exposureEnded();
        } finally {
            try {
                channel.io.remove(channel);
            } finally {
                channel.released();
            }
        }
    }
}
