package org.nettyrdma.codec.oncrpc;

import io.netty.channel.ChannelHandlerContext;

/**
 * Flushes once for many writes: at the end of the read batch, or when the event loop has run the tasks that were queued when
 * the first write was made, whichever comes first. Both end the same turn of the loop, so that a single write does not wait.
 * The task is always there because a message may also be delivered outside of a read batch, where no end would follow. Where the
 * event loop takes no task, the write is flushed at once.
 * Event loop only.
 */
final class FlushBatch {

    private final ChannelHandlerContext ctx;
    private final Runnable task = this::run;
    private boolean unflushed;
    private boolean taskQueued;

    FlushBatch(ChannelHandlerContext ctx) {
        this.ctx = ctx;
    }

    /** Something was written. */
    void written() {
        unflushed = true;
        if (!taskQueued) {
            taskQueued = true;
            try {
                ctx.executor().execute(task);
            } catch (RuntimeException | Error e) { // no memory for the queue, for instance; a later write may have some
                run();
            }
        }
    }

    /** The batch of reads ended. */
    void readComplete() {
        if (unflushed) {
            unflushed = false;
            ctx.flush();
        }
    }

    private void run() {
        taskQueued = false;
        readComplete();
    }
}
