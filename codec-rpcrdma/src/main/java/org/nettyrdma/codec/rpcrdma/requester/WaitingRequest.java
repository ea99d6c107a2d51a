package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelPromise;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.MemoryAdmission;
import org.nettyrdma.codec.rpcrdma.CallLayout;

/** A call of a requester that needs memory; nothing of it is exposed yet. Holds the one reference of its message. */
final class WaitingRequest implements MemoryAdmission.Candidate, ChannelFutureListener {

    private final RequestSender owner;
    private final ByteBuf message;
    private final RequestPlan plan;
    private final CallLayout layout;
    private final ChannelPromise promise;
    private final long bytes;
    private final boolean kept;
    private long reserve;

    /**
     * @param bytes how much it needs
     * @param kept  whether it is kept until its reply is here
     */
    WaitingRequest(RequestSender owner, ByteBuf message, RequestPlan plan, CallLayout layout, long bytes, ChannelPromise promise,
                   boolean kept) {
        this.owner = owner;
        this.message = message;
        this.plan = plan;
        this.layout = layout;
        this.promise = promise;
        this.bytes = bytes;
        this.kept = kept;
    }

    /** Before it waits: so much more is to be left when it is its turn. */
    WaitingRequest reserving(long newReserve) {
        reserve = newReserve;
        return this;
    }

    ByteBuf message() {
        return message;
    }

    RequestPlan plan() {
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

    /** How much memory it takes when it is sent. */
    long exposedBytes() {
        return bytes;
    }

    /** How much memory it gives back as soon as it has been admitted. */
    long reserve() {
        return reserve;
    }

    @Override
    public long bytes() {
        return bytes + reserve;
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

    /**
     * To be called when the call has not been admitted at once. Listeners run on the executor of the promise, whichever that is.
     */
    void watchForCancellation() {
        if (!promise.isVoid()) { // a void promise cannot be cancelled, and takes no listener
            promise.addListener(this);
        }
    }

    @Override
    public void operationComplete(ChannelFuture write) {
        if (write.isCancelled()) {
            owner.onEventLoop(() -> owner.cancelled(this, write.cause()));
        }
    }
}
