package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelHandlerContext;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.RejectedExecutionException;
import org.nettyrdma.peer.PeerLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Replies that cannot be made, or that the event loop does not take from another thread, for instance because there is no memory
 * for its queue. A caller would wait in vain, so that the connection is closed: in the next turn, or when the event loop asks
 * here, as the close has to go through the same queue.
 */
final class ReplyHandOver {

    private static final Logger LOGGER = LoggerFactory.getLogger(ReplyHandOver.class);

    private final ChannelHandlerContext ctx;
    /** Counts a reply that is lost; event loop only. */
    private final Runnable lost;
    private volatile boolean replyMissing;

    ReplyHandOver(ChannelHandlerContext ctx, Runnable lost) {
        this.ctx = ctx;
        this.lost = lost;
    }

    /** The event loop has not taken a reply, which is released. Any thread. */
    void failed(Object message, Throwable cause) {
        ReferenceCountUtil.release(message);
        if (cause instanceof RejectedExecutionException && ctx.executor().isShutdown()) {
            LOGGER.debug("{} reply after the end of its event loop", ctx.channel());
            return;
        }
        closeForMissingReply();
        PeerLog.fault(LOGGER, ctx.channel(), "closing, the event loop has not taken a reply", cause);
    }

    /** There is no reply to a call. Any thread. */
    void closeForMissingReply() {
        replyMissing = true; // before the task that looks at it, which may not be taken either
        if (ctx.executor().inEventLoop()) {
            closeIfReplyIsMissing();
            return;
        }
        try {
            ctx.executor().execute(this::closeIfReplyIsMissing);
        } catch (Throwable t) {
            LOGGER.trace("{} the event loop has not taken the close", ctx.channel(), t);
        }
    }

    /** Closes the connection if a reply is missing. Event loop only. Returns whether it is closed. */
    boolean closeIfReplyIsMissing() {
        if (!replyMissing) {
            return false;
        }
        replyMissing = false;
        lost.run();
        ctx.channel().close();
        return true;
    }
}
