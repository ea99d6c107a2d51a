package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;

/** A call of a requester that needs memory; nothing of it is exposed yet. Holds the one reference of its message. */
final class WaitingCall implements CallAdmission.Candidate, ChannelFutureListener {

    private final RequesterChunkHandler owner;
    private final ByteBuf message;
    private final CallPlan plan;
    private final ChannelPromise promise;
    private final long bytes;

    WaitingCall(RequesterChunkHandler owner, ByteBuf message, CallPlan plan, ChannelPromise promise) {
        this.owner = owner;
        this.message = message;
        this.plan = plan;
        this.promise = promise;
        this.bytes = plan.exposedBytes(message.readableBytes());
    }

    ByteBuf message() {
        return message;
    }

    CallPlan plan() {
        return plan;
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
