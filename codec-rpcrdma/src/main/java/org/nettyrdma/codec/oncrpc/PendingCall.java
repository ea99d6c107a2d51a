package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;

/**
 * A call that has no reply yet: the caller's future, the entry of the client's table, its link in the queue of deadlines,
 * the task that starts it and the listener of its write, in one object because a call should not cost five.
 */
final class PendingCall extends DefaultPromise<ByteBuf> implements Runnable, ChannelFutureListener {

    final RpcRequest request;
    private final RpcClient client;

    // Event loop only.
    int xid;
    long timeoutMillis;
    ChannelPromise written;
    /** In nanoseconds of the client's clock. */
    long deadlineNanos;
    PendingCall previous;
    PendingCall next;

    PendingCall(RpcClient client, EventExecutor executor, RpcRequest request) {
        super(executor);
        this.client = client;
        this.request = request;
    }

    @Override
    public void run() {
        client.start(this);
    }

    @Override
    public void operationComplete(ChannelFuture write) {
        if (!write.isSuccess()) {
            client.writeFailed(this, write.cause());
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!super.cancel(mayInterruptIfRunning)) {
            return false;
        }
        client.cancelled(this);
        return true;
    }
}
