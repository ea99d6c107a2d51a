package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.EventExecutor;

/**
 * A call that has no reply yet: the caller's future, the entry of the client's table, its link in the queue of deadlines
 * and the task that starts it, in one object because a call should not cost four.
 */
final class PendingCall extends DefaultPromise<ByteBuf> implements Runnable {

    final RpcRequest request;
    private final RpcClient client;

    // Event loop only.
    int xid;
    PendingCallWrite written;
    /** In nanoseconds of the client's clock. */
    long deadlineNanos;
    PendingCall previous;
    PendingCall next;

    PendingCall(RpcClient client, EventExecutor executor, RpcRequest request) {
        super(executor);
        this.client = client;
        this.request = request;
    }

    RpcClient client() {
        return client;
    }

    @Override
    public void run() {
        client.start(this);
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
