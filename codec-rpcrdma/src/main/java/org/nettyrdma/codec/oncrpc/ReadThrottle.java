package org.nettyrdma.codec.oncrpc;

import io.netty.channel.Channel;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops reading from a connection whose calls come faster than they are served, or whose peer does not read its replies, as
 * nothing else bounds the memory that these take on a transport without credits. Reading goes on when half of that is left.
 * Event loop only, except where noted.
 *
 * <p>The outbound buffer counts only while replies wait in it: each of these calls {@link #replyDone}, so that whatever
 * stopped reading also looks whether it may go on.
 */
final class ReadThrottle {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReadThrottle.class);

    private final Channel channel;
    private final EventExecutor executor;
    private final long maxBytes;
    private final ReadPause pause;
    /** Calls that programs have not returned from, with their arguments; any thread. */
    private final AtomicLong callBytes = new AtomicLong();
    private int replies;
    private volatile boolean paused;

    ReadThrottle(Channel channel, EventExecutor executor, long maxBytes, ReadPause pause) {
        this.channel = channel;
        this.executor = executor;
        this.maxBytes = maxBytes;
        this.pause = pause;
    }

    void callStarted(int bytes) {
        callBytes.addAndGet(bytes);
        pauseIfOver();
    }

    /** Any thread. */
    void callDone(int bytes) {
        callBytes.addAndGet(-bytes);
        if (!paused) {
            return;
        }
        if (executor.inEventLoop()) {
            resumeIfUnder();
            return;
        }
        try {
            executor.execute(this::resumeIfUnder);
        } catch (RuntimeException | Error e) {
            if (e instanceof RejectedExecutionException && executor.isShutdown()) {
                paused = false; // nothing is read any more
                return;
            }
            channel.close(); // this may have been the last call, after which nobody looks again
            PeerLog.fault(LOGGER, channel, "closing, the event loop has not taken the end of a call, and would not read on", e);
        }
    }

    /** A reply is about to be written; {@link #pauseIfOver} has to follow when it is. */
    void replyStarted() {
        replies++;
    }

    /** Whether replies are being written. */
    boolean hasReplies() {
        return replies > 0;
    }

    void replyDone() {
        replies--;
        if (paused) {
            resumeIfUnder();
        }
    }

    void pauseIfOver() {
        if (paused || bytesInProgress() <= maxBytes) {
            return;
        }
        pause.pause();
        paused = true;
        resumeIfUnder(); // a call may have ended on another thread before it could see that reading was stopped
    }

    private void resumeIfUnder() {
        if (paused && bytesInProgress() <= maxBytes / 2) {
            paused = false;
            pause.resume();
        }
    }

    private long bytesInProgress() {
        ChannelOutboundBuffer outbound = channel.unsafe().outboundBuffer(); // null once the channel is closed
        return callBytes.get() + (replies == 0 || outbound == null ? 0 : outbound.totalPendingWriteBytes());
    }
}
