package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelPromise;
import java.util.Objects;

/**
 * A piece of this side's memory that the peer of one channel may read or write, from {@link RdmaChannel#expose} until it is
 * invalidated: by {@link #invalidate()}, by a Send with Invalidate of the peer, or by the end of the connection. It holds
 * its own reference on the memory for as long.
 *
 * <p>Used on the channel's event loop only.
 */
public final class ExposedMemory {

    private enum State { EXPOSED, INVALIDATING, INVALIDATED }

    private final ExposureTable table;
    private final ByteBuf memory;
    private final RemoteSegment segment;
    private State state = State.EXPOSED;
    private ChannelPromise invalidation; // only if somebody waits for it

    ExposedMemory(ExposureTable table, ByteBuf memory, RemoteSegment segment) {
        this.table = table;
        this.memory = Objects.requireNonNull(memory, "memory").retain();
        this.segment = segment;
    }

    /**
     * What the peer needs to know in order to use the memory.
     *
     * @return the steering tag, the length and the offset of the first byte
     */
    public RemoteSegment segment() {
        return segment;
    }

    /**
     * The buffer that was exposed.
     *
     * @return the buffer passed to {@link RdmaChannel#expose}; the caller gets no reference of its own, and once this is
     *         invalidated the buffer may have been released
     */
    public ByteBuf memory() {
        return memory;
    }

    /**
     * Whether the peer can no longer touch the memory.
     *
     * @return {@code true} from the moment of the invalidation's completion on
     */
    public boolean isInvalidated() {
        return state == State.INVALIDATED;
    }

    /**
     * Withdraws the memory from the peer. New accesses are refused, and end the connection, as soon as the send queue has
     * room for the invalidation; the returned future succeeds when they are and none is in progress any more. Calling it
     * again is harmless.
     *
     * @return succeeds when the peer can no longer touch the memory, also if that is because the connection ended; with the
     *         software provider it has succeeded when this returns, unless the peer is reading the memory or the send queue
     *         is full
     */
    public ChannelFuture invalidate() {
        RdmaChannel channel = table.channel();
        assert channel.eventLoop().inEventLoop();
        if (state == State.EXPOSED) {
            state = State.INVALIDATING;
            table.withdraw(this);
        }
        if (state == State.INVALIDATED) {
            return channel.newSucceededFuture();
        }
        if (invalidation == null) {
            invalidation = channel.newPromise();
        }
        return invalidation;
    }

    /** The peer can no longer touch the memory. */
    void invalidated() {
        if (state == State.INVALIDATED) {
            return;
        }
        state = State.INVALIDATED;
        memory.release();
        if (invalidation != null) {
            invalidation.setSuccess();
        }
    }

    @Override
    public String toString() {
        return "ExposedMemory(" + segment + ", " + state + ')';
    }
}
