package org.nettyrdma.channel;

import io.netty.buffer.AbstractReferenceCountedByteBuf;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.ScatteringByteChannel;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * A buffer over a {@link Block}. When it is released the block takes it along into the pool, so that the next one who takes
 * the block gets both; a steady state allocates no objects.
 *
 * <p>The buffer begins where its block does and the rest of the block is room to grow into. A buffer that grows beyond its
 * block moves to a larger one. What it leaves goes back to the pool at once if its owner has the only reference, and else with
 * the last one: whoever reads the memory without looking at the buffer, as the device does, holds one.
 *
 * <p>A part of a buffer that has a fixed place is one, too: it has no block until it grows, and a reference on the whole.
 *
 * <p>Nothing of Netty's direct buffers is inherited, because they differ between Netty's series in how a subclass provides
 * their memory. All access is to absolute positions of the block's view, so that several threads may read at once.
 */
final class RegisteredByteBuf extends AbstractReferenceCountedByteBuf {

    private static final AtomicIntegerFieldUpdater<RegisteredByteBuf> FIXED =
            AtomicIntegerFieldUpdater.newUpdater(RegisteredByteBuf.class, "fixed");

    /** Whether words are read and written by their address, which a {@link ByteBuffer} would check again. */
    private static final boolean WORDS = PlatformDependent.isUnaligned() && ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private final ByteBufAllocator allocator;
    private final BlockPool pool;
    private final boolean hasAddress;
    private Block block;            // null for a part that has not grown
    private ByteBuf whole;          // what this is a part of, or was before it grew; null if it is none
    private Block outgrown;         // earlier blocks, which others may still use
    private volatile int fixed;     // how many write into the block
    private ByteBuffer memory;      // the view of the block
    private ByteBuffer internal;    // a second view, whose position and limit may be set; null until somebody asks for it
    private long address;           // 0 without Unsafe
    private int capacity;

    RegisteredByteBuf(ByteBufAllocator allocator, BlockPool pool, Block block, boolean hasAddress) {
        super(Integer.MAX_VALUE);
        this.allocator = allocator;
        this.pool = pool;
        this.hasAddress = hasAddress;
        use(block);
    }

    /**
     * A part of a buffer, and full.
     *
     * @param whole stays where it is; a reference on it passes to this
     */
    RegisteredByteBuf(ByteBufAllocator allocator, BlockPool pool, ByteBuf whole, int index, int length, boolean hasAddress) {
        super(Integer.MAX_VALUE);
        this.allocator = allocator;
        this.pool = pool;
        this.hasAddress = hasAddress;
        this.whole = whole;
        see(whole.nioBuffer(index, length));
        capacity = length;
        setIndex(0, length);
    }

    /** Makes a buffer that nobody uses as good as new. */
    RegisteredByteBuf open(int initialCapacity, int maxCapacity) {
        maxCapacity(maxCapacity);
        resetRefCnt();
        capacity = initialCapacity;
        setIndex(0, 0);
        markReaderIndex();
        markWriterIndex();
        return this;
    }

    /** Where the bytes are, {@code null} if that is not registered memory. */
    Block block() {
        return block != null && block.isRegistered() ? block : null;
    }

    /** Where the bytes are, {@code null} if that is not in the memory of a table. */
    Block blockIn(MemoryRegionTable table) {
        return pool.regions() == table ? block() : null;
    }

    /**
     * Where some of the bytes are, {@code null} if this buffer does not have them or they are not in the memory of a table.
     *
     * @throws io.netty.util.IllegalReferenceCountException if it has been released, and the block may be another's
     */
    Block blockIn(MemoryRegionTable table, int index, int length) {
        ensureAccessible();
        return index >= 0 && length <= capacity - index ? blockIn(table) : null;
    }

    private void use(Block newBlock) {
        block = newBlock;
        newBlock.buffer = this;
        see(newBlock.view);
    }

    private void see(ByteBuffer view) {
        memory = view;
        internal = null;
        address = hasAddress ? PlatformDependent.directBufferAddress(memory) : 0;
    }

    /** The memory is being written to, by the device or by a peer: the bytes must stay where they are. Any thread. */
    void fix() {
        FIXED.incrementAndGet(this);
    }

    void unfix() {
        FIXED.decrementAndGet(this);
    }

    // --- Capacity

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
        if (newCapacity > memory.capacity()) {
            move(newCapacity);
        }
        capacity = newCapacity;
        return this;
    }

    private void move(int newCapacity) {
        if (fixed > 0) {
            throw new IllegalStateException("a buffer cannot grow beyond its memory of " + memory.capacity()
                    + " bytes while a peer or an RDMA Read may write there");
        }
        Block old = block;
        Block larger = pool.takeBlock(newCapacity);
        larger.view.put(0, memory, 0, capacity);
        use(larger);
        if (old == null) {
            return; // the whole is left with the last reference
        }
        old.buffer = null;
        if (refCnt() == 1) {
            old.release();
        } else { // among the others may be the device, which goes on reading there
            old.below = outgrown;
            outgrown = old;
        }
    }

    @Override
    public int maxFastWritableBytes() {
        return Math.min(memory.capacity(), maxCapacity()) - writerIndex();
    }

    @Override
    protected void deallocate() {
        while (outgrown != null) {
            Block next = outgrown.below;
            outgrown.release();
            outgrown = next;
        }
        ByteBuf left = whole;
        whole = null;
        if (block != null) {
            block.release(); // and another may have this buffer
        }
        if (left != null) {
            left.release();
        }
    }

    // --- What this buffer is

    @Override
    public ByteBufAllocator alloc() {
        return allocator;
    }

    @Override
    @Deprecated
    public ByteOrder order() {
        return ByteOrder.BIG_ENDIAN;
    }

    @Override
    public ByteBuf unwrap() {
        return block == null ? whole : null;
    }

    @Override
    public boolean isDirect() {
        return true;
    }

    @Override
    public boolean isContiguous() {
        return true;
    }

    @Override
    public boolean hasArray() {
        return false;
    }

    @Override
    public byte[] array() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public int arrayOffset() {
        throw new UnsupportedOperationException("direct buffer");
    }

    @Override
    public boolean hasMemoryAddress() {
        return hasAddress;
    }

    @Override
    public long memoryAddress() {
        if (!hasAddress) {
            throw new UnsupportedOperationException("the address is not known without Unsafe");
        }
        ensureAccessible();
        return address;
    }

    // --- Numbers; the superclass has checked the index

    @Override
    protected byte _getByte(int index) {
        return memory.get(index);
    }

    @Override
    protected short _getShort(int index) {
        return memory.getShort(index);
    }

    @Override
    protected short _getShortLE(int index) {
        return Short.reverseBytes(memory.getShort(index));
    }

    @Override
    protected int _getUnsignedMedium(int index) {
        return (memory.get(index) & 0xFF) << 16 | memory.getShort(index + 1) & 0xFFFF;
    }

    @Override
    protected int _getUnsignedMediumLE(int index) {
        return Integer.reverseBytes(_getUnsignedMedium(index)) >>> 8;
    }

    @Override
    protected int _getInt(int index) {
        return WORDS && address != 0 ? Integer.reverseBytes(PlatformDependent.getInt(address + index)) : memory.getInt(index);
    }

    @Override
    protected int _getIntLE(int index) {
        return Integer.reverseBytes(_getInt(index));
    }

    @Override
    protected long _getLong(int index) {
        return WORDS && address != 0 ? Long.reverseBytes(PlatformDependent.getLong(address + index)) : memory.getLong(index);
    }

    @Override
    protected long _getLongLE(int index) {
        return Long.reverseBytes(_getLong(index));
    }

    @Override
    protected void _setByte(int index, int value) {
        memory.put(index, (byte) value);
    }

    @Override
    protected void _setShort(int index, int value) {
        memory.putShort(index, (short) value);
    }

    @Override
    protected void _setShortLE(int index, int value) {
        memory.putShort(index, Short.reverseBytes((short) value));
    }

    @Override
    protected void _setMedium(int index, int value) {
        memory.put(index, (byte) (value >>> 16));
        memory.putShort(index + 1, (short) value);
    }

    @Override
    protected void _setMediumLE(int index, int value) {
        _setMedium(index, Integer.reverseBytes(value) >>> 8);
    }

    @Override
    protected void _setInt(int index, int value) {
        if (WORDS && address != 0) {
            PlatformDependent.putInt(address + index, Integer.reverseBytes(value));
        } else {
            memory.putInt(index, value);
        }
    }

    @Override
    protected void _setIntLE(int index, int value) {
        _setInt(index, Integer.reverseBytes(value));
    }

    @Override
    protected void _setLong(int index, long value) {
        if (WORDS && address != 0) {
            PlatformDependent.putLong(address + index, Long.reverseBytes(value));
        } else {
            memory.putLong(index, value);
        }
    }

    @Override
    protected void _setLongLE(int index, long value) {
        _setLong(index, Long.reverseBytes(value));
    }

    // --- Copies

    @Override
    public ByteBuf getBytes(int index, ByteBuf target, int targetIndex, int length) {
        checkIndex(index, length);
        Objects.checkFromIndexSize(targetIndex, length, target.capacity());
        if (hasAddress && target.hasMemoryAddress() && !target.isReadOnly()) {
            PlatformDependent.copyMemory(address + index, target.memoryAddress() + targetIndex, length);
        } else if (target.hasArray()) {
            memory.get(index, target.array(), target.arrayOffset() + targetIndex, length);
        } else {
            target.setBytes(targetIndex, nioBuffer(index, length));
        }
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, byte[] target, int targetIndex, int length) {
        checkIndex(index, length);
        memory.get(index, target, targetIndex, length);
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, ByteBuffer target) {
        int length = target.remaining();
        checkIndex(index, length);
        target.put(target.position(), memory, index, length);
        target.position(target.limit());
        return this;
    }

    @Override
    public ByteBuf getBytes(int index, OutputStream target, int length) throws IOException {
        checkIndex(index, length);
        byte[] bytes = new byte[length];
        memory.get(index, bytes);
        target.write(bytes);
        return this;
    }

    @Override
    public int getBytes(int index, GatheringByteChannel target, int length) throws IOException {
        return target.write(nioBuffer(index, length));
    }

    @Override
    public int getBytes(int index, FileChannel target, long position, int length) throws IOException {
        return target.write(nioBuffer(index, length), position);
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuf source, int sourceIndex, int length) {
        checkIndex(index, length);
        Objects.checkFromIndexSize(sourceIndex, length, source.capacity());
        if (source.hasArray()) {
            memory.put(index, source.array(), source.arrayOffset() + sourceIndex, length);
        } else if (hasAddress && source.hasMemoryAddress()) {
            PlatformDependent.copyMemory(source.memoryAddress() + sourceIndex, address + index, length);
        } else if (source.nioBufferCount() == 1) {
            memory.put(index, source.nioBuffer(sourceIndex, length), 0, length);
        } else {
            source.getBytes(sourceIndex, this, index, length); // of several pieces, of which each comes here again
        }
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, byte[] source, int sourceIndex, int length) {
        checkIndex(index, length);
        memory.put(index, source, sourceIndex, length);
        return this;
    }

    @Override
    public ByteBuf setBytes(int index, ByteBuffer source) {
        int length = source.remaining();
        checkIndex(index, length);
        memory.put(index, source, source.position(), length);
        source.position(source.limit());
        return this;
    }

    @Override
    public int setBytes(int index, InputStream source, int length) throws IOException {
        checkIndex(index, length);
        byte[] bytes = new byte[length];
        int count = source.read(bytes);
        if (count > 0) {
            memory.put(index, bytes, 0, count);
        }
        return count;
    }

    @Override
    public int setBytes(int index, ScatteringByteChannel source, int length) throws IOException {
        try {
            return source.read(internalNioBuffer(index, length));
        } catch (ClosedChannelException e) {
            return -1; // as the contract says
        }
    }

    @Override
    public int setBytes(int index, FileChannel source, long position, int length) throws IOException {
        try {
            return source.read(internalNioBuffer(index, length), position);
        } catch (ClosedChannelException e) {
            return -1; // as the contract says
        }
    }

    @Override
    public ByteBuf copy(int index, int length) {
        checkIndex(index, length);
        return allocator.directBuffer(length, maxCapacity()).writeBytes(this, index, length);
    }

    // --- Views

    @Override
    public int nioBufferCount() {
        return 1;
    }

    @Override
    public ByteBuffer nioBuffer(int index, int length) {
        checkIndex(index, length);
        return memory.slice(index, length);
    }

    @Override
    public ByteBuffer[] nioBuffers(int index, int length) {
        return new ByteBuffer[] {nioBuffer(index, length)};
    }

    @Override
    public ByteBuffer internalNioBuffer(int index, int length) {
        checkIndex(index, length);
        if (internal == null) {
            internal = memory.duplicate();
        }
        return internal.clear().position(index).limit(index + length);
    }
}
