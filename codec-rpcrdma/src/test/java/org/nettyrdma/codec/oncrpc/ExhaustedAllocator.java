package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Has no memory left after so many buffers. */
public final class ExhaustedAllocator extends AbstractByteBufAllocator {

    private int left;

    /**
     * @param buffers how many there are yet
     */
    public ExhaustedAllocator(int buffers) {
        super(false);
        left = buffers;
    }

    private void take() {
        if (left-- <= 0) {
            throw new OutOfMemoryError("no buffer left");
        }
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        take();
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        take();
        return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return false;
    }

    @Override
    public CompositeByteBuf compositeDirectBuffer(int maxNumComponents) {
        take();
        return super.compositeDirectBuffer(maxNumComponents);
    }

    @Override
    public CompositeByteBuf compositeHeapBuffer(int maxNumComponents) {
        take();
        return super.compositeHeapBuffer(maxNumComponents);
    }
}
