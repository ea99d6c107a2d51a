package org.nettyrdma.channel;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.internal.ObjectUtil;
import io.netty.util.internal.PlatformDependent;
import io.netty.util.internal.SystemPropertyUtil;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * Allocates pooled direct buffers in memory that is registered with a provider once and for good, so that sending from them
 * and receiving into them needs neither a registration nor a copy. The default allocator of {@link RdmaChannel}.
 *
 * <p>Buffers of up to 16 MiB are pooled. Larger ones, and all when the limit of registered memory is reached, are ordinary
 * direct buffers: they work everywhere, but a channel has to copy them, and {@link #unregisteredBuffers()} counts them. The
 * limit is half of the JVM's maximum of direct memory unless the system property
 * {@code org.nettyrdma.maxRegisteredBytes} names another number of bytes. Registered memory is never given back.
 *
 * <p>Buffers on the heap, where asked for, are unpooled. Safe for use from any thread; each thread reuses what it released
 * last.
 */
public final class RegisteredByteBufAllocator extends AbstractByteBufAllocator
        implements ByteBufAllocatorMetricProvider, ByteBufAllocatorMetric {

    /** Largest buffer in registered memory, in bytes. */
    public static final int MAX_POOLED_BYTES = SizeClasses.LARGEST;

    private static final ConcurrentMap<VerbsProvider, RegisteredByteBufAllocator> INSTANCES = new ConcurrentHashMap<>();

    private final BlockPool pool;
    private final LongAdder unregisteredBuffers = new LongAdder();
    private final FastThreadLocal<RegisteredPieces> onePiece = new FastThreadLocal<>() {
        @Override
        protected RegisteredPieces initialValue() {
            return newPieces(1);
        }
    };

    /** Channels know the memory of {@link #of} only: there is one allocator per provider, except in tests. */
    RegisteredByteBufAllocator(VerbsProvider provider, long maxRegisteredBytes) {
        super(true);
        ObjectUtil.checkPositiveOrZero(maxRegisteredBytes, "maxRegisteredBytes");
        pool = new BlockPool(ObjectUtil.checkNotNull(provider, "provider"), maxRegisteredBytes);
    }

    /**
     * The allocator that all channels of a provider share.
     *
     * @param provider the provider
     * @return its allocator, always the same
     */
    public static RegisteredByteBufAllocator of(VerbsProvider provider) {
        return INSTANCES.computeIfAbsent(provider, key -> new RegisteredByteBufAllocator(key,
                SystemPropertyUtil.getLong("org.nettyrdma.maxRegisteredBytes", PlatformDependent.maxDirectMemory() / 2)));
    }

    /**
     * Whether a part of a buffer lies in this allocator's memory, in one piece: whether it can be exposed, and sent without
     * a copy. Looks through slices, duplicates, wrappers and composites.
     *
     * @param buffer the buffer
     * @param index  first byte of the part
     * @param length its size in bytes
     * @return {@code true} if it does; also for no bytes at all
     */
    public boolean isRegistered(ByteBuf buffer, int index, int length) {
        return onePiece.get().find(buffer, index, length);
    }

    RegisteredPieces newPieces(int maxPieces) {
        return new RegisteredPieces(regions(), maxPieces);
    }

    MemoryRegionTable regions() {
        return pool.regions();
    }

    /**
     * Memory registered so far.
     *
     * @return the size in bytes, whether in use or not
     */
    public long registeredBytes() {
        return pool.registeredBytes();
    }

    /**
     * Direct buffers handed out that are not in registered memory, because of their size or the limit.
     *
     * @return their number since the start
     */
    public long unregisteredBuffers() {
        return unregisteredBuffers.sum();
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        Block block = pool.take(initialCapacity);
        if (block == null) {
            unregisteredBuffers.increment();
            return UnpooledByteBufAllocator.DEFAULT.directBuffer(initialCapacity, maxCapacity);
        }
        RegisteredByteBuf buffer = block.buffer;
        if (buffer == null) {
            buffer = new RegisteredByteBuf(this, pool, block);
        }
        return toLeakAwareBuffer(buffer.open(initialCapacity, maxCapacity));
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialCapacity, maxCapacity);
    }

    // The superclass prefers the heap where Unsafe is missing; here direct memory is always the better choice.

    @Override
    public ByteBuf buffer() {
        return directBuffer();
    }

    @Override
    public ByteBuf buffer(int initialCapacity) {
        return directBuffer(initialCapacity);
    }

    @Override
    public ByteBuf buffer(int initialCapacity, int maxCapacity) {
        return directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    @Override
    public ByteBufAllocatorMetric metric() {
        return this;
    }

    @Override
    public long usedHeapMemory() {
        return 0;
    }

    @Override
    public long usedDirectMemory() {
        return registeredBytes();
    }
}
