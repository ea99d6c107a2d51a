package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;

/** A call of a requester that needs memory; nothing of it is exposed yet. Holds the one reference of its message. */
final class WaitingCall implements CallAdmission.Candidate, ChannelFutureListener {

    private final CallSender owner;
    private final ByteBuf message;
    private final CallPlan plan;
    private final CallLayout layout;
    private final ChannelPromise promise;
    private final long bytes;
    private final boolean kept;

    /**
     * @param bytes how much it needs
     * @param kept  whether it is kept until its reply is here
     */
    WaitingCall(CallSender owner, ByteBuf message, CallPlan plan, CallLayout layout, long bytes, ChannelPromise promise,
                boolean kept) {
        this.owner = owner;
        this.message = message;
        this.plan = plan;
        this.layout = layout;
        this.promise = promise;
        this.bytes = bytes;
        this.kept = kept;
    }

    ByteBuf message() {
        return message;
    }

    CallPlan plan() {
        return plan;
    }

    CallLayout layout() {
        return layout;
    }

    boolean isKept() {
        return kept;
    }

    ChannelPromise promise() {
        return promise;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void admitted() {
        owner.admitted(this);
    }

    @Override
    public void dropped() {
        message.release();
        promise.tryFailure(new ClosedChannelException());
    }

    /** To be called when the call has not been admitted at once. */
    void watchForCancellation() {
        if (!promise.isVoid()) { // a void promise cannot be cancelled, and takes no listener
            promise.addListener(this);
        }
    }

    @Override
    public void operationComplete(ChannelFuture write) {
        if (write.isCancelled()) {
            owner.cancelled(this);
        }
    }
}
