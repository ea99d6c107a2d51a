package org.nettyrdma.channel;

import io.netty.util.NettyRuntime;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.internal.MathUtil;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered memory in blocks. Slabs are allocated and registered on demand, each cut into blocks of one size, and kept for
 * good. Free blocks wait in stripes; a thread always uses the same stripe, so that event loops do not contend.
 *
 * <p>Safe for use from any thread.
 */
final class BlockPool {

    private static final Logger LOGGER = LoggerFactory.getLogger(BlockPool.class);

    private static final int SMALLEST_SLAB_BYTES = 1 << 20;
    private static final int LARGEST_SLAB_BYTES = 16 << 20;
    private static final int PAGE_BYTES = 4096;

    private final VerbsProvider provider;
    private final long maxBytes;
    private final MemoryRegionTable regions = new MemoryRegionTable();
    private final BlockStack[][] stripes; // by stripe and size class
    private final AtomicInteger threads = new AtomicInteger();
    private final FastThreadLocal<BlockStack[]> stripe = new FastThreadLocal<>() {
        @Override
        protected BlockStack[] initialValue() {
            return stripes[threads.getAndIncrement() & stripes.length - 1];
        }
    };

    // Guarded by this: the slab of each size class that is being cut, and how far.
    private final MemoryRegion[] slabs = new MemoryRegion[SizeClasses.COUNT];
    private final int[] cutBytes = new int[SizeClasses.COUNT];
    private final long[] slabBytes = new long[SizeClasses.COUNT];
    private volatile long registeredBytes;
    private boolean exhaustionLogged;

    BlockPool(VerbsProvider provider, long maxBytes) {
        this.provider = provider;
        this.maxBytes = maxBytes;
        stripes = new BlockStack[MathUtil.findNextPositivePowerOfTwo(NettyRuntime.availableProcessors())][SizeClasses.COUNT];
        for (BlockStack[] stacks : stripes) {
            for (int i = 0; i < stacks.length; i++) {
                stacks[i] = new BlockStack();
            }
        }
    }

    MemoryRegionTable regions() {
        return regions;
    }

    long registeredBytes() {
        return registeredBytes;
    }

    /** A block of at least {@code bytes}, or {@code null} if that is too large or the memory is used up. */
    Block take(int bytes) {
        if (bytes > SizeClasses.LARGEST) {
            return null;
        }
        int sizeClass = SizeClasses.of(bytes);
        BlockStack own = stripe.get()[sizeClass];
        Block block = own.pop();
        if (block == null) {
            block = cut(sizeClass, false);
        }
        if (block == null) {
            block = steal(sizeClass);
        }
        if (block == null) {
            block = cut(sizeClass, true);
        }
        if (block != null) {
            block.home = own;
        }
        return block;
    }

    /** Takes a block that another stripe does not use: better than memory that nobody has used yet. */
    private Block steal(int sizeClass) {
        for (BlockStack[] stacks : stripes) {
            Block block = stacks[sizeClass].pop();
            if (block != null) {
                return block;
            }
        }
        return null;
    }

    private synchronized Block cut(int sizeClass, boolean mayGrow) {
        int size = SizeClasses.sizeOf(sizeClass);
        MemoryRegion slab = slabs[sizeClass];
        if (slab == null || cutBytes[sizeClass] + size > slab.memory().capacity()) {
            slab = mayGrow ? newSlab(sizeClass, size) : null;
            if (slab == null) {
                return null;
            }
        }
        Block block = new Block(slab, cutBytes[sizeClass], size);
        cutBytes[sizeClass] += size;
        return block;
    }

    /** Slabs of a size class double in size, so that a little use takes little memory and much use few registrations. */
    private MemoryRegion newSlab(int sizeClass, int blockBytes) {
        long wanted = Math.max(blockBytes, Math.min(LARGEST_SLAB_BYTES, Math.max(SMALLEST_SLAB_BYTES, slabBytes[sizeClass])));
        int bytes = (int) Math.min(wanted, maxBytes - registeredBytes) & -PAGE_BYTES;
        if (bytes < blockBytes) {
            exhausted("the limit of " + maxBytes + " bytes is reached", null);
            return null;
        }
        ByteBuffer memory = ByteBuffer.allocateDirect(bytes + PAGE_BYTES - 1).alignedSlice(PAGE_BYTES).slice(0, bytes);
        MemoryRegion slab;
        try {
            slab = provider.registerMemory(memory);
        } catch (IOException e) {
            exhausted("the device refuses to register more; on Linux the limit of locked memory (ulimit -l) may be too low", e);
            return null;
        }
        regions.add(slab);
        slabs[sizeClass] = slab;
        cutBytes[sizeClass] = 0;
        slabBytes[sizeClass] += bytes;
        registeredBytes += bytes;
        return slab;
    }

    private void exhausted(String reason, IOException cause) {
        if (!exhaustionLogged) {
            exhaustionLogged = true;
            LOGGER.warn("No more registered memory for provider {}: {}. Data in other memory is copied.", provider.name(), reason,
                    cause);
        }
    }
}
