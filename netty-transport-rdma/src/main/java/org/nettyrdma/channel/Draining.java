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
 * the connection has come to its end. Then, or when that takes too long, the event loop forgets the channel. Event loop
 * only.
 */
final class Draining {

    private static final Logger LOGGER = LoggerFactory.getLogger(Draining.class);
    private static final int RECHECK_MILLIS = 50;

    private final QueuePairChannel channel;
    private final RdmaEventLoop loop;
    private final QueuePair queuePair;
    private final PostedWork work;
    private Future<?> timeout; // null before the start
    private boolean connectionEnded;
    private boolean done;

    /** What is to end; {@link #start} ends it. */
    Draining(QueuePairChannel channel, RdmaEventLoop loop, QueuePair queuePair, PostedWork work, boolean connectionEnded) {
        this.channel = channel;
        this.loop = loop;
        this.queuePair = queuePair;
        this.work = work;
        this.connectionEnded = connectionEnded;
    }

    /** Starts the end of the queue pair. Where a step fails the others are done all the same, and time ends it. */
    void start() {
        timeout = loop.schedule(this::timeIsOver, channel.closeTimeoutMillis(), TimeUnit.MILLISECONDS);
        try {
            try {
                queuePair.moveToError(); // from here on the device returns every buffer it has
            } finally {
                work.releaseUnposted();
            }
        } catch (RuntimeException | Error e) { // no memory, for instance
            PeerLog.fault(LOGGER, channel, "the end of the connection failed", e);
        }
        finishIfDrained();
    }

    /** The provider has reported the end of the connection. */
    void connectionEnded() {
        connectionEnded = true;
        finishIfDrained();
    }

    /** Called after every completion. */
    void finishIfDrained() {
        if (!done && connectionEnded && work.outstanding() == 0) {
            finish();
        }
    }

    /**
     * The device may have returned everything, to a loop that is behind, for instance because it closes very many channels at
     * once.
     */
    private void timeIsOver() {
        giveUpAfter(loop.exhaustivePolls());
    }

    private void giveUpAfter(long polls) {
        if (done) {
            return;
        }
        if (loop.exhaustivePolls() == polls) {
            timeout = loop.schedule(() -> giveUpAfter(polls), RECHECK_MILLIS, TimeUnit.MILLISECONDS);
        } else {
            giveUp();
        }
    }

    /** Buffers that the device still has are never used again: that could be worse. */
    private void giveUp() {
        giveUpBuffers("within " + channel.closeTimeoutMillis() + " ms of the close");
        finish();
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
        if (!done) {
            if (queuePair.mayUsePosted()) {
                giveUpBuffers("with its context");
            } else {
                work.abandonedByDevice();
            }
            forget();
        }
    }

    private void forget() {
        done = true;
        loop.remove(channel);
        if (timeout != null) {
            timeout.cancel(false);
        }
        work.exposureEnded();
        channel.released();
    }
}
