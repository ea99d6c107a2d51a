package org.nettyrdma.codec.oncrpc;

import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.util.concurrent.EventExecutor;

/**
 * The write of a call, which tells the client where it fails. A listener would do the same; but a promise with more than one
 * listener, and handlers below add theirs, costs two more objects per call. Event loop only.
 */
final class PendingCallWrite extends DefaultChannelPromise {

    private final PendingCall call;
    private boolean begun;

    PendingCallWrite(Channel channel, EventExecutor executor, PendingCall call) {
        super(channel, executor);
        this.call = call;
    }

    /** Whether any of the call can have left: what can still be cancelled, no peer has seen. */
    boolean hasBegun() {
        return begun || isSuccess();
    }

    @Override
    public boolean setUncancellable() {
        boolean uncancellable = super.setUncancellable();
        begun |= uncancellable;
        return uncancellable;
    }

    @Override
    public ChannelPromise setFailure(Throwable cause) {
        super.setFailure(cause);
        call.client().writeFailed(call, cause);
        return this;
    }

    @Override
    public boolean tryFailure(Throwable cause) {
        if (!super.tryFailure(cause)) {
            return false;
        }
        call.client().writeFailed(call, cause);
        return true;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!super.cancel(mayInterruptIfRunning)) {
            return false;
        }
        call.client().writeFailed(call, cause());
        return true;
    }
}
