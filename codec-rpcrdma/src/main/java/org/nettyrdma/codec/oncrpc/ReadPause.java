package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelHandlerContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Stops reading from a channel, and leaves {@code AUTO_READ} to the application: reads that are asked for meanwhile are kept, and
 * passed on when reading goes on, unless the application has turned {@code AUTO_READ} off by then. Its owner passes each
 * {@code read} through {@link #keepsRead}. Event loop only.
 *
 * <p>{@code AUTO_READ} is off from the beginning of the pause to the next turn, or to the end of the pause where the event loop
 * takes no task. Whoever turns it on meanwhile is seen by the read that this asks for. Whoever turns it off then, where it is
 * off, is not, as Netty tells nobody: it is on again in the next turn.
 */
final class ReadPause {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReadPause.class);

    private final ChannelHandlerContext ctx;
    private final ChannelConfig config;
    private final Runnable reader;
    /** How many reasons there are not to read. */
    private int reasons;
    private boolean readKept;
    /** The read that is kept was asked for by the application and not because of {@code AUTO_READ}. */
    private boolean readDemanded;
    /** {@code AUTO_READ} is off for a moment, to take back the read that is pending. */
    private boolean takingBack;

    ReadPause(ChannelHandlerContext ctx) {
        this(ctx, ctx::read);
    }

    /**
     * @param reader passes on the read that was kept
     */
    ReadPause(ChannelHandlerContext ctx, Runnable reader) {
        this.ctx = ctx;
        this.reader = reader;
        this.config = ctx.channel().config();
    }

    /** One more reason not to read; {@link #resume} has to follow. */
    void pause() {
        reasons++;
        if (reasons == 1) {
            takeBackRead();
        }
    }

    /** A message has come: if not to be read, a handler in front must have asked for it while {@code AUTO_READ} was off. */
    void messageRead() {
        if (reasons > 0) {
            takeBackRead();
        }
    }

    private void takeBackRead() {
        if (config.isAutoRead()) {
            takingBack = true;
            config.setAutoRead(false); // the only way to stop a loop of reads, and a transport that reads of itself
            try {
                ctx.executor().execute(this::restoreAutoRead);
            } catch (RuntimeException | Error e) {
                // No memory for the queue, for instance. The end of the pause turns it on again, which is late, but not too late.
                LOGGER.debug("{} reads automatically only when its pause has ended", ctx.channel(), e);
            }
        }
    }

    /** That asks for a read, which is kept, or passes if the pause is over. */
    private void restoreAutoRead() {
        if (takingBack) {
            takingBack = false;
            config.setAutoRead(true);
        }
    }

    /** A reason is gone. */
    void resume() {
        reasons--;
        if (reasons > 0) {
            return;
        }
        boolean read = readKept && !takingBack && (readDemanded || config.isAutoRead()); // else restoring AUTO_READ reads
        readKept = false;
        readDemanded = false;
        restoreAutoRead();
        if (read) {
            reader.run();
        }
    }

    /** A read is asked for. Returns whether it is kept; else the owner passes it on. */
    boolean keepsRead() {
        if (reasons == 0) {
            return false;
        }
        if (takingBack && config.isAutoRead()) {
            takingBack = false; // the application has turned it on by itself, and may turn it off again
        }
        readKept = true;
        readDemanded |= !takingBack && !config.isAutoRead();
        return true;
    }
}
