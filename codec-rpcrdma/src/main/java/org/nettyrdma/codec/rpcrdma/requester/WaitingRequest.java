package org.nettyrdma.codec.rpcrdma.requester;

import java.nio.channels.ClosedChannelException;
import org.nettyrdma.codec.oncrpc.MemoryAdmission;
import org.nettyrdma.handler.credit.support.WaitingWrite;

/** A call of a requester that needs memory; nothing of it is exposed yet. It has the one reference of the message. */
final class WaitingRequest extends WaitingWrite implements MemoryAdmission.Candidate {

    private final RequestSender owner;
    private final RequesterCall call;
    private final long bytes;
    private long reserve;

    /**
     * @param bytes how much it needs
     */
    WaitingRequest(RequestSender owner, RequesterCall call, long bytes) {
        super(owner.context(), call.caller());
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
        promise().tryFailure(cause);
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

    @Override
    protected void cancelled(Throwable cause) {
        owner.cancelled(this, cause);
    }
}
