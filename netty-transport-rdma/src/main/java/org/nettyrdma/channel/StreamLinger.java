package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.nettyrdma.stream.StreamMessage;

/**
 * A closed stream tells its peer, behind what was posted, and waits until that has closed its side: some drop what they still had
 * to send when the connection is cut. It waits for the close timeout, and as long again, up to {@value #MAX_EXTENSIONS} times,
 * where the peer has taken some of what was flushed meanwhile and there is more. Event loop only.
 */
final class StreamLinger {

    private static final int MAX_EXTENSIONS = 15;

    private final RdmaStreamChannel channel;
    private final StreamWork work;
    private Future<?> timeout; // null when this is over
    private int extensions;
    private long completedAtTimeout; // the last one, or the close

    private StreamLinger(RdmaStreamChannel channel, StreamWork work) {
        this.channel = channel;
        this.work = work;
        completedAtTimeout = work.completedData();
    }

    /** Begins. At the end {@link RdmaStreamChannel#drain} is called once, perhaps at once, unless this fails or is cancelled. */
    static StreamLinger start(RdmaStreamChannel channel, StreamWork work) {
        StreamLinger started = new StreamLinger(channel, work);
        started.timeout = started.schedule();
        if (work.isAgreed()) {
            started.disconnect();
        }
        return started;
    }

    /** The connection stands, which the peer may have known before this side closed it. */
    void established(ByteBuf peerPrivateData) {
        if (timeout != null) {
            try {
                channel.agree(peerPrivateData);
            } catch (IOException e) {
                end();
                return;
            }
            disconnect();
        }
    }

    private void disconnect() {
        try {
            work.input().discard();
            work.end(StreamMessage.Control.DISCONNECT);
            work.flush();
            proceed();
        } catch (Throwable t) {
            end();
        }
    }

    /** Something was sent or has arrived, or the connection is over. */
    void proceed() {
        if (timeout == null) {
            return;
        }
        try {
            if (work.isAgreed() && work.proceed()) { // a peer that has closed as well may have more to send before it says so
                work.flush();
            }
        } catch (Throwable t) {
            end();
            return;
        }
        if (!channel.connection.isEndPending() || work.isAllSent() && work.input().receiver().isDisconnected()) {
            end();
        }
    }

    private Future<?> schedule() {
        return channel.eventLoop().schedule(this::timeIsOver, channel.closeTimeoutMillis(), TimeUnit.MILLISECONDS);
    }

    /** A peer that still takes what was flushed before the close gets more time. */
    private void timeIsOver() {
        long completed = work.completedData();
        if (extensions < MAX_EXTENSIONS && completed != completedAtTimeout && !work.isAllSent()) {
            extensions++;
            completedAtTimeout = completed;
            extend();
        } else {
            end();
        }
    }

    private void extend() {
        try {
            timeout = schedule();
        } catch (Throwable t) { // without a limit there can be no wait
            end();
        }
    }

    /** There is nothing to wait for any more; does nothing if this is over. */
    void end() {
        if (timeout != null) {
            cancel();
            channel.drain();
        }
    }

    /** Waits no more, without an end. */
    void cancel() {
        if (timeout != null) {
            timeout.cancel(false);
            timeout = null;
        }
    }
}
