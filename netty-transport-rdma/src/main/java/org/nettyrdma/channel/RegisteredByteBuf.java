package org.nettyrdma.channel;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A buffer over a {@link Block}. When it is released the block takes it along into the pool, so that the next one who takes
 * the block gets both; a steady state allocates no objects.
 *
 * <p>The view's limit is this buffer's capacity, which the superclass relies on for its bounds checks; the rest of the
 * block is room to grow into. A buffer that grows beyond its block moves to a larger one, and where the pool has none, to
 * memory of its own that is not registered.
 */
final class RegisteredByteBuf extends UnpooledDirectByteBuf {

    private static final ByteBuffer NO_MEMORY = ByteBuffer.allocateDirect(0);

    private final BlockPool pool;
    private Block block;            // null while the memory is not registered
    private ByteBuffer memory;      // the same object as the superclass uses
    private long address;
    private int capacity;

    RegisteredByteBuf(RegisteredByteBufAllocator allocator, BlockPool pool, Block block) {
        super(allocator, 0, Integer.MAX_VALUE);
        this.pool = pool;
        moveTo(block, block.view, block.size());
    }

    /** Makes a buffer that nobody uses as good as new. */
    RegisteredByteBuf open(int initialCapacity, int maxCapacity) {
        maxCapacity(maxCapacity);
        resetRefCnt();
        resize(initialCapacity);
        setIndex(0, 0);
        markReaderIndex();
        markWriterIndex();
        return this;
    }

    /** Where the bytes are, {@code null} if that is not registered memory. */
    Block block() {
        return block;
    }

    /** Where the bytes are, {@code null} if that is not in the memory of a table. */
    Block blockIn(MemoryRegionTable table) {
        return pool.regions() == table ? block : null;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        checkNewCapacity(newCapacity);
        if (newCapacity < capacity) {
            trimIndicesToCapacity(newCapacity);
        }
        if (newCapacity <= memory.capacity()) {
            resize(newCapacity);
            return this;
        }
        Block old = block;
        Block larger = pool.take(newCapacity);
        moveTo(larger, larger == null ? ByteBuffer.allocateDirect(newCapacity) : larger.view, newCapacity);
        if (old != null) {
            old.buffer = null;
            old.release();
        }
        return this;
    }

    private void resize(int newCapacity) {
        capacity = newCapacity;
        memory.limit(newCapacity);
    }

    /** Lets the superclass copy the bytes: it asks {@link #allocateDirect} for the place, which is already there. */
    private void moveTo(Block newBlock, ByteBuffer newMemory, int newCapacity) {
        ByteBuffer old = memory;
        boolean oldIsOwn = block == null && old != null;
        newMemory.clear();
        memory = newMemory;
        super.capacity(newCapacity);
        if (oldIsOwn) {
            PlatformDependent.freeDirectBuffer(old);
        }
        block = newBlock;
        if (newBlock != null) {
            newBlock.buffer = this;
        }
        address = PlatformDependent.hasUnsafe() ? PlatformDependent.directBufferAddress(newMemory) : 0;
        resize(newCapacity);
    }

    @Override
    protected ByteBuffer allocateDirect(int initialCapacity) {
        return memory == null ? NO_MEMORY : memory; // null while the superclass is constructed
    }

    @Override
    protected void freeDirect(ByteBuffer buffer) {
        // Blocks go back to the pool, and memory of our own is freed where it is given up.
    }

    @Override
    protected void deallocate() {
        if (block != null) {
            block.release();
        } else {
            super.deallocate();
            PlatformDependent.freeDirectBuffer(memory);
        }
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.min(memory.capacity(), maxCapacity()) - writerIndex();
    }

    @Override
    public boolean hasMemoryAddress() {
        return PlatformDependent.hasUnsafe();
    }

    @Override
    public long memoryAddress() {
        if (!hasMemoryAddress()) {
            return super.memoryAddress(); // throws, as for every buffer without an address
        }
        ensureAccessible();
        return address;
    }

    // The superclass would make two views of the other buffer for each copy, where that has an address as well as where not.

    @Override
    public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
        if (source.hasArray() || !hasMemoryAddress()) {
            return super.setBytes(index, source, sourceIndex, length);
        }
        if (!source.hasMemoryAddress()) {
            source.getBytes(sourceIndex, this, index, length); // of several pieces, of which each comes here again
            return this;
        }
        checkIndex(index, length);
        Objects.checkFromIndexSize(sourceIndex, length, source.capacity());
        PlatformDependent.copyMemory(source.memoryAddress() + sourceIndex, address + index, length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
        if (!hasMemoryAddress() || !target.hasMemoryAddress() || target.isReadOnly()) {
            return super.getBytes(index, target, targetIndex, length);
        }
        checkIndex(index, length);
        Objects.checkFromIndexSize(targetIndex, length, target.capacity());
        PlatformDependent.copyMemory(address + index, target.memoryAddress() + targetIndex, length);
        return this;
    }

    @Override
    public ByteBuf copy(int index, int length) {
        checkIndex(index, length); // the superclass checks against the whole block
        return super.copy(index, length);
    }
}
