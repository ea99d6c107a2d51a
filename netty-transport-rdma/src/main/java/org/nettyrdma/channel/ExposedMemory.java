package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import java.io.IOException;

/**
 * A piece of local memory that the peer of one channel may read or write, from {@link RdmaChannel#expose} until it is
 * invalidated: by {@link #invalidate()}, by a Send with Invalidate of the peer, or by the end of the connection. This object
 * holds a reference of its own to the memory for the same time.
 *
 * <p>Event loop of the channel only.
 */
public final class ExposedMemory {

    private enum State { EXPOSED, INVALIDATING, INVALIDATED, LOST }

    private final ExposureTable table;
    private final ByteBuf memory;
    private final Pin pin; // null if the reference is enough
    private State state = State.EXPOSED;
    private ChannelPromise invalidation; // only if somebody waits for it
    private IOException loss;

    // The table's notes.
    int tag;
    RemoteSegment segment;
    ExposedMemory older;
    ExposedMemory newer;

    /** Takes a reference on the memory, and over the pin. */
    ExposedMemory(ExposureTable table, ByteBuf memory, Pin pin) {
        this.table = table;
        this.memory = memory.retain();
        this.pin = pin;
    }

    /**
     * The segment that the peer has to be told in order to access the memory.
     *
     * @return the steering tag, the length and the offset of the first byte
     */
    public RemoteSegment segment() {
        return segment;
    }

    /**
     * The buffer that was exposed.
     *
     * @return the buffer passed to {@link RdmaChannel#expose}; the caller gets no reference of its own. The buffer may have been
     *         released once the memory is invalidated
     */
    public ByteBuf memory() {
        return memory;
    }

    /**
     * Whether the peer can no longer access the memory.
     *
     * @return {@code true} from the moment of the invalidation's completion on
     */
    public boolean isInvalidated() {
        return state == State.INVALIDATED;
    }

    /**
     * Withdraws the memory from the peer. As soon as the send queue has room for the invalidation, new accesses are refused and
     * end the connection. The returned future succeeds when new accesses are refused and no access is in progress any more.
     * Further calls change nothing.
     *
     * @return succeeds when the peer can no longer access the memory, also because the connection has ended. With the software
     *         provider the future has succeeded when this method returns, unless the peer is reading the memory or the send queue
     *         is full. It fails if the connection has ended and a device does not end the access of the peer. Then the memory is
     *         never given back, and its content may change
     */
    public ChannelFuture invalidate() {
        Channel channel = table.channel();
        assert channel.eventLoop().inEventLoop();
        if (state == State.EXPOSED) {
            state = State.INVALIDATING;
            table.withdraw(this);
        }
        if (state == State.INVALIDATED) {
            return channel.newSucceededFuture();
        }
        if (state == State.LOST) {
            return channel.newFailedFuture(loss);
        }
        if (invalidation == null) {
            invalidation = channel.newPromise();
            invalidation.setUncancellable(); // the device does not stop half-way, and nobody can free the memory earlier
        }
        return invalidation;
    }

    /** The peer can no longer touch the memory. */
    void invalidated() {
        if (state == State.INVALIDATED) {
            return;
        }
        state = State.INVALIDATED;
        try {
            Pin.release(pin);
            memory.release();
        } finally {
            if (invalidation != null) {
                invalidation.trySuccess(); // the caller has it, and may have failed it
            }
        }
    }

    /** The peer may touch the memory for ever: it stays referenced by this object. */
    void lost(IOException cause) {
        state = State.LOST;
        loss = cause;
        if (invalidation != null) {
            invalidation.tryFailure(cause);
        }
    }

    @Override
    public String toString() {
        return "ExposedMemory(" + segment + ", " + state + ')';
    }
}
