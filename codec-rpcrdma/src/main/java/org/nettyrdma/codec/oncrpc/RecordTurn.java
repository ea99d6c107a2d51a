package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.TimeUnit;

/**
 * How much of what one connection has received is decoded before other connections of the event loop have their turn. Without
 * that a peer could send records of a few bytes, by the hundred thousand, which cost more to decode than to send. While the turn
 * is over, nothing more is read. Event loop only.
 */
final class RecordTurn {

    /** Most steps of a turn; a marker is one, and so is each piece of a fragment. */
    static final int MAX_STEPS = 256;

    private final ChannelHandlerContext ctx;
    private final ReadPause pause;
    private final Runnable decoder;
    private int steps;
    private boolean over;

    /**
     * @param pause   stops reading until the next turn
     * @param decoder decodes on in the next turn
     */
    RecordTurn(ChannelHandlerContext ctx, ReadPause pause, Runnable decoder) {
        this.ctx = ctx;
        this.pause = pause;
        this.decoder = decoder;
    }

    boolean isOver() {
        return over;
    }

    /** Counts a step. Returns {@code false} if it has to wait for the next turn. */
    boolean step() {
        if (steps < MAX_STEPS) {
            steps++;
            return true;
        }
        over = true;
        pause.pause();
        try {
            // Not a task: the event loop runs one that comes of another before it looks for what the others have received.
            ctx.executor().schedule(this::next, 0, TimeUnit.NANOSECONDS);
        } catch (RuntimeException | Error e) { // no memory for the queue, for instance, and nobody would decode on
            begin();
            pause.resume();
        }
        return !over;
    }

    private void next() {
        if (over) {
            begin();
            decoder.run();
            pause.resume(); // after it: this turn may be over, too, and reading has not to begin in between
        }
    }

    /** A turn begins, as a turn of the event loop has ended. */
    void begin() {
        over = false;
        steps = 0;
    }

    /** Nothing more is decoded. */
    void close() {
        if (over) {
            begin();
            pause.resume();
        }
    }
}
