package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;

/**
 * What the outbound messages that are not plain buffers have in common: content, and the identity of an operation.
 *
 * @param <T> the operation itself
 */
abstract sealed class RdmaOperation<T extends RdmaOperation<T>> extends DefaultByteBufHolder
        permits RdmaRead, RdmaSend, RdmaWrite {

    RdmaOperation(ByteBuf content) {
        super(content);
    }

    @SuppressWarnings("unchecked") // each is the T of its superclass
    private T self() {
        return (T) this;
    }

    /**
     * Checks that the content and the peer's segment fit together: when this is made, and again before it is posted, as the
     * indices of the content may have been set since then.
     */
    abstract void requireFit();

    @Override
    public abstract T replace(ByteBuf content);

    @Override
    public T copy() {
        return replaceOrRelease(content().copy());
    }

    @Override
    public T duplicate() {
        return replace(content().duplicate());
    }

    @Override
    public T retainedDuplicate() {
        return replaceOrRelease(content().retainedDuplicate());
    }

    /** Nobody else has the reference. */
    final T replaceOrRelease(ByteBuf content) {
        try {
            return replace(content);
        } catch (RuntimeException | Error e) { // an RDMA Read that is done may have no room for another one
            content.release();
            throw e;
        }
    }

    @Override
    public T retain() {
        super.retain();
        return self();
    }

    @Override
    public T retain(int increment) {
        super.retain(increment);
        return self();
    }

    @Override
    public T touch() {
        super.touch();
        return self();
    }

    @Override
    public T touch(Object hint) {
        super.touch(hint);
        return self();
    }

    // The content is what the caller wrote, the identity is the operation: the same bytes sent twice are two messages.
    @Override
    public final boolean equals(Object other) {
        return this == other;
    }

    @Override
    public final int hashCode() {
        return System.identityHashCode(this);
    }
}
