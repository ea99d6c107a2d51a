package org.nettyrdma.channel;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;

/** What a channel does on its event loop for a caller of any thread. Where it throws, the promise fails. */
interface LoopStep {

    /** Event loop only. */
    void run() throws Exception;

    /** Runs a step, at once for a caller on the event loop; returns the promise. */
    static ChannelFuture run(EventLoop loop, ChannelPromise promise, LoopStep step) {
        Runnable run = () -> {
            try {
                step.run();
            } catch (Throwable t) {
                promise.tryFailure(t);
            }
        };
        if (loop.inEventLoop()) {
            run.run();
        } else {
            loop.execute(run);
        }
        return promise;
    }
}
