package org.nettyrdma.codec.oncrpc;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

/** Has no memory left after so many buffers, or pieces of them. */
public final class ExhaustedAllocator extends AbstractByteBufAllocator {

    private int left;
    private int piecesLeft;

    /**
     * @param buffers how many there are yet
     */
    public ExhaustedAllocator(int buffers) {
        this(buffers, Integer.MAX_VALUE);
    }

    private ExhaustedAllocator(int buffers, int pieces) {
        super(false);
        left = buffers;
        piecesLeft = pieces;
    }

    /**
     * Makes one whose composite buffers find no memory for one more piece.
     *
     * @param pieces how many there are yet, of all buffers together
     * @return the allocator
     */
    public static ExhaustedAllocator ofPieces(int pieces) {
        return new ExhaustedAllocator(Integer.MAX_VALUE, pieces);
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
        return composite(true, maxNumComponents);
    }

    @Override
    public CompositeByteBuf compositeHeapBuffer(int maxNumComponents) {
        return composite(false, maxNumComponents);
    }

    private CompositeByteBuf composite(boolean direct, int maxNumComponents) {
        take();
        return new CompositeByteBuf(this, direct, maxNumComponents) {
            @Override
            public CompositeByteBuf addComponent(boolean increaseWriterIndex, int index, ByteBuf piece) {
                takePiece(piece);
                return super.addComponent(increaseWriterIndex, index, piece);
            }

            @Override
            public CompositeByteBuf addFlattenedComponents(boolean increaseWriterIndex, ByteBuf piece) {
                takePiece(piece);
                return super.addFlattenedComponents(increaseWriterIndex, piece);
            }
        };
    }

    /** Where there is none, the piece is released, as Netty does. */
    private void takePiece(ByteBuf piece) {
        if (piecesLeft-- <= 0) {
            piece.release();
            throw new OutOfMemoryError("no piece left");
        }
    }
}
