package org.nettyrdma.codec.rpcrdma;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.ReplySpace;

/** A call of a requester that needs memory; nothing of it is exposed yet. Holds the one reference of its message. */
final class WaitingCall implements CallAdmission.Candidate, ChannelFutureListener {

    private final CallSender owner;
    private final ByteBuf message;
    private final CallPlan plan;
    private final ReplySpace replySpace;
    private final ChannelPromise promise;
    private final long bytes;

    WaitingCall(CallSender owner, ByteBuf message, CallPlan plan, ReplySpace replySpace, ChannelPromise promise) {
        this.owner = owner;
        this.message = message;
        this.plan = plan;
        this.replySpace = replySpace;
        this.promise = promise;
        this.bytes = plan.exposedBytes(message.readableBytes());
    }

    ByteBuf message() {
        return message;
    }

    CallPlan plan() {
        return plan;
    }

    /** How large the reply can get, or {@code null} if nobody said. */
    ReplySpace replySpace() {
        return replySpace;
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
