package org.nettyrdma.codec.rpcrdma.requester;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.MemoryAdmission;

/** A call of a requester that needs memory; nothing of it is exposed yet. It has the one reference of the message. */
final class WaitingRequest implements MemoryAdmission.Candidate, ChannelFutureListener {

    private final RequestSender owner;
    private final RequesterCall call;
    private final long bytes;
    private long reserve;

    /**
     * @param bytes how much it needs
     */
    WaitingRequest(RequestSender owner, RequesterCall call, long bytes) {
        this.owner = owner;
        this.call = call;
        this.bytes = bytes;
    }

    /** Before it waits: so much more is to be left when it is its turn. */
    WaitingRequest reserving(long newReserve) {
        reserve = newReserve;
        return this;
    }

    RequesterCall call() {
        return call;
    }

    /** It is not going to be sent. */
    void fail(Throwable cause) {
        call.unsent().release();
        call.caller().tryFailure(cause);
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
        fail(new ClosedChannelException());
    }

    /**
     * To be called when the call has not been admitted at once. Listeners run on the executor of the promise, whichever that is.
     */
    void watchForCancellation() {
        if (!call.isVoid()) { // a void promise cannot be cancelled, and takes no listener
            call.caller().addListener(this);
        }
    }

    @Override
    public void operationComplete(ChannelFuture write) {
        if (write.isCancelled()) {
            owner.onEventLoop(() -> owner.cancelled(this, write.cause()));
        }
    }
}
