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
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.nettyrdma.verbs.VerbsProvider;

/**
 * Allocates pooled direct buffers in memory that is registered with a provider in large pieces. Sending from them and receiving
 * into them needs neither a registration nor a copy. The default allocator of {@link RdmaChannel}.
 *
 * <p>Buffers of up to 16 MiB are pooled, in memory that {@link VerbsProvider#allocate} gives. Larger buffers are in memory that
 * is not registered. So are all buffers when the limit of registered memory is reached or the provider has no more. They work
 * everywhere, but a channel has to copy them, and {@link #unregisteredBuffers()} counts them. The limit is 7/8 of the JVM's
 * maximum of direct memory unless the system property {@code org.nettyrdma.maxRegisteredBytes} names another number of bytes.
 * Where the JVM's direct memory itself is used up, an allocation throws an {@link OutOfMemoryError} that says how much there is.
 *
 * <p>At the limit, pieces of registered memory that nobody uses any more serve buffers of other sizes. When a channel has ended,
 * pieces that stay unused for 10 to 20 seconds go back to the system, also where its event loop has ended with it.
 *
 * <p>A buffer can grow while other references to it exist, for instance that of a message that is being sent. Its old memory is
 * not used for another buffer before the last reference is released. While a peer or an RDMA Read may write into a buffer, the
 * buffer cannot grow beyond its memory: that throws an {@link IllegalStateException}.
 *
 * <p>Buffers on the heap, where asked for, are unpooled. Safe for use from any thread; each thread reuses what it released
 * last.
 */
public final class RegisteredByteBufAllocator extends AbstractByteBufAllocator
        implements ByteBufAllocatorMetricProvider, ByteBufAllocatorMetric {

    /** Largest buffer in registered memory, in bytes. */
    public static final int MAX_POOLED_BYTES = SizeClasses.LARGEST;

    private static final String LIMIT_PROPERTY = "org.nettyrdma.maxRegisteredBytes";
    private static final ConcurrentMap<VerbsProvider, RegisteredByteBufAllocator> INSTANCES = new ConcurrentHashMap<>();

    private final BlockPool pool;
    private final ConnectionMemory connectionMemory;
    private final TrimTimer trimTimer = new TrimTimer(this::trim);
    private final boolean hasAddresses;
    private final FastThreadLocal<RegisteredPieces> onePiece = new FastThreadLocal<>() {
        @Override
        protected RegisteredPieces initialValue() {
            return newPieces(1);
        }
    };

    /** Channels know the memory of {@link #of} only: there is one allocator per provider, except in tests. */
    RegisteredByteBufAllocator(VerbsProvider provider, long maxRegisteredBytes) {
        this(provider, maxRegisteredBytes, PlatformDependent.hasUnsafe());
    }

    /** Visible for tests: without addresses, as where {@code Unsafe} is missing. */
    RegisteredByteBufAllocator(VerbsProvider provider, long maxRegisteredBytes, boolean hasAddresses) {
        super(true);
        this.hasAddresses = hasAddresses;
        ObjectUtil.checkPositiveOrZero(maxRegisteredBytes, LIMIT_PROPERTY);
        pool = new BlockPool(ObjectUtil.checkNotNull(provider, "provider"), maxRegisteredBytes);
        connectionMemory = new ConnectionMemory(maxRegisteredBytes);
    }

    /**
     * The allocator that all channels of a provider share. It stays for the life of the process, and its provider with it, though
     * its memory goes back to the system: event loop groups that come and go should share a provider.
     *
     * @param provider the provider
     * @return its allocator, always the same
     * @throws IllegalArgumentException if {@code org.nettyrdma.maxRegisteredBytes} is negative. A value that is no whole number
     *         is not used; Netty warns of it in the log
     */
    public static RegisteredByteBufAllocator of(VerbsProvider provider) {
        return INSTANCES.computeIfAbsent(provider, key -> new RegisteredByteBufAllocator(key,
                SystemPropertyUtil.getLong(LIMIT_PROPERTY, PlatformDependent.maxDirectMemory() / 8 * 7)));
    }

    /**
     * Whether a part of a buffer lies in this allocator's memory, in one piece. Then it can be exposed, and sent without a copy.
     * Looks through slices, duplicates, wrappers and composites.
     *
     * @param buffer the buffer
     * @param index  first byte of the part
     * @param length its size in bytes
     * @return {@code true} if it does; also for no bytes at all
     * @throws IndexOutOfBoundsException if the part is not inside the buffer
     */
    public boolean isRegistered(ByteBuf buffer, int index, int length) {
        Objects.checkFromIndexSize(index, length, buffer.capacity()); // what is beyond may be memory of other buffers
        return onePiece.get().find(buffer, index, length);
    }

    RegisteredPieces newPieces(int maxPieces) {
        return new RegisteredPieces(regions(), maxPieces, hasAddresses);
    }

    /** What each channel may take of this memory. */
    ConnectionMemory connectionMemory() {
        return connectionMemory;
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
        return pool.unregisteredBlocks();
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return track(newUntracked(initialCapacity, maxCapacity));
    }

    /**
     * A buffer in registered memory and nowhere else. Leak detection does not know of it until {@link #track}.
     *
     * @param what is to go there, for the message where there is no such memory
     */
    RegisteredByteBuf newRegistered(int bytes, String what) throws RdmaException {
        Block block = pool.takeRegistered(bytes);
        if (block == null) {
            throw new RdmaException("no registered memory for the " + bytes + " bytes of " + what + ": "
                    + (bytes > MAX_POOLED_BYTES ? "one piece has at most " + MAX_POOLED_BYTES : shortage()));
        }
        return open(block, bytes, bytes);
    }

    /** A buffer in registered memory, if there is any. Leak detection does not know of it until {@link #track}. */
    RegisteredByteBuf newUntracked(int initialCapacity, int maxCapacity) {
        return open(pool.takeBlock(initialCapacity), initialCapacity, maxCapacity);
    }

    private RegisteredByteBuf open(Block block, int initialCapacity, int maxCapacity) {
        RegisteredByteBuf buffer = block.buffer;
        if (buffer == null) {
            try {
                buffer = new RegisteredByteBuf(this, pool, block, hasAddresses);
            } catch (Throwable t) { // no memory, for instance
                block.release();
                throw t;
            }
        }
        return buffer.open(initialCapacity, maxCapacity);
    }

    /** A part of a buffer, which moves to memory of its own when it grows. The whole must not grow meanwhile. */
    ByteBuf retainedPart(ByteBuf whole, int index, int length) {
        ByteBuf part = track(new RegisteredByteBuf(this, pool, whole, index, length, hasAddresses));
        whole.retain(); // behind all that takes memory: without any nobody would release it
        return part;
    }

    /** From here on leak detection follows a buffer, if its turn has come. */
    static ByteBuf track(ByteBuf buffer) {
        try {
            return toLeakAwareBuffer(buffer);
        } catch (OutOfMemoryError e) {
            return buffer; // rather not followed than lost, with the message in it
        }
    }

    /** Why a buffer that was asked for is not in registered memory; for those of at most {@link #MAX_POOLED_BYTES}. */
    String shortage() {
        return pool.shortage();
    }

    /**
     * Gives memory back to the system that nobody has used since the last call but one; {@code false} if another call would give
     * back no more.
     */
    boolean trim() {
        return pool.trim();
    }

    /** What has memory that is free given back to the system. */
    TrimTimer trimTimer() {
        return trimTimer;
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

    /**
     * Memory registered so far, and that of the direct buffers in use that are not in it.
     *
     * @return the size in bytes
     */
    @Override
    public long usedDirectMemory() {
        return registeredBytes() + pool.unregisteredBytes();
    }
}
