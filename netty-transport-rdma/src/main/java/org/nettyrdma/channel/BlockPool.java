package org.nettyrdma.channel;

import io.netty.util.NettyRuntime;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.internal.MathUtil;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;
import org.nettyrdma.verbs.VerbsProvider;
import org.nettyrdma.verbs.support.DirectMemory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered memory in blocks. Slabs are allocated and registered on demand, each cut into blocks of one size. Free blocks wait
 * in stripes; a thread always uses the same stripe, so that event loops do not contend. Taking and releasing a block is all
 * that a steady state does.
 *
 * <p>Where no more can be registered, slabs of which every block is free are cut into blocks of another size, or make room for
 * another slab. {@link #trim} gives those back to the system that nobody has used for a while. Which slabs are free is found by
 * looking at all free blocks, so that taking and releasing need not count.
 *
 * <p>Safe for use from any thread.
 */
final class BlockPool {

    private static final Logger LOGGER = LoggerFactory.getLogger(BlockPool.class);

    /**
     * As many as a group has event loops, unless it is told a number; more where that is little, for a client's group beside a
     * server's. Two event loops on one stripe wait for each other, and who waits loses its turn on the processor.
     */
    private static final int EVENT_LOOPS_PER_PROCESSOR = 2;
    private static final int LEAST_STRIPES = 16;

    private static final int FIRST_SLAB_BYTES = 1 << 20;
    private static final int LARGEST_SLAB_BYTES = 16 << 20;
    /**
     * The first slab of a size class has at most one part in this many of all memory: one block that somebody keeps holds a slab,
     * and peers choose the sizes of blocks. So one block of every size holds little.
     */
    private static final int FIRST_SLAB_PART = 256;
    /** A slab has at most one part in this many of what its size class has, so that little of it is never used. */
    private static final int GROWTH_PART = 4;
    /** No first slab is smaller. Where the system gives no slab of a size, half of it is tried, down to this. */
    private static final int LEAST_SLAB_BYTES = 64 << 10;

    /** After the system has refused memory it is not asked again for this long, unless this pool has given some back. */
    private static final long REFUSED_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** While memory is short, searches for free slabs that find none take at most one part in this many of the time. */
    private static final int SWEEP_COST = 16;

    /** A free slab goes back to the system with the second trim that finds it unused. */
    private static final int TRIMS_UNUSED = 2;

    private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final VerbsProvider provider;
    private final long maxBytes;
    private final int firstSlabBytes;
    private final MemoryRegionTable regions = new MemoryRegionTable();
    private final BlockStack[][] stripes; // by stripe and size class
    private final AtomicInteger threads = new AtomicInteger();
    private final LongAdder unregisteredBlocks = new LongAdder();
    private final LongAdder unregisteredBytes = new LongAdder();
    private final FastThreadLocal<BlockStack[]> stripe = new FastThreadLocal<>() {
        @Override
        protected BlockStack[] initialValue() {
            return stripes[threads.getAndIncrement() & stripes.length - 1];
        }
    };

    // Guarded by this:
    private final Slab[] slabs = new Slab[SizeClasses.COUNT];       // the slab of each size class that is being cut
    private final List<Slab> inUse = new ArrayList<>();
    private final ArrayList<Slab> spares = new ArrayList<>();       // registered, but belong to no size class
    private final long[] slabBytes = new long[SizeClasses.COUNT];   // all slabs of a size class
    private volatile long registeredBytes;                          // also what is being registered at the moment
    private long refusedUntilNanos = System.nanoTime();
    private volatile String refusal = "";
    private long pushesSwept = -1;
    private long blocksSwept;
    private long nextSweepNanos;
    private long shortages;
    private final Predicate<Block> takeLeaving = this::stays;
    private Block taken; // of slabs that leave, with the others below it
    private long nextLogNanos = System.nanoTime();

    BlockPool(VerbsProvider provider, long maxBytes) {
        this.provider = provider;
        this.maxBytes = maxBytes;
        this.firstSlabBytes = (int) Math.max(LEAST_SLAB_BYTES, Math.min(FIRST_SLAB_BYTES, maxBytes / FIRST_SLAB_PART));
        int threads = Math.max(LEAST_STRIPES, EVENT_LOOPS_PER_PROCESSOR * NettyRuntime.availableProcessors());
        stripes = new BlockStack[MathUtil.findNextPositivePowerOfTwo(threads)][SizeClasses.COUNT];
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

    /** Why there is no registered block where {@link #takeBlock} has given one that is not registered. */
    String shortage() {
        String reason = refusal;
        return reason.isEmpty() ? registeredBytes + " of " + maxBytes + " bytes are registered (org.nettyrdma.maxRegisteredBytes,"
                + " by default 7/8 of the direct memory)" : reason;
    }

    /** A block of at least {@code bytes}, registered if that can be had. */
    Block takeBlock(int bytes) {
        Block block = takeRegistered(bytes);
        if (block == null) {
            block = new Block(DirectMemory.allocate(bytes), unregisteredBytes);
            unregisteredBlocks.increment();
        }
        return block;
    }

    /** How many blocks that are not registered were handed out. */
    long unregisteredBlocks() {
        return unregisteredBlocks.sum();
    }

    /** How much memory those have that were not released. */
    long unregisteredBytes() {
        return unregisteredBytes.sum();
    }

    /** A block of at least {@code bytes}, or {@code null} if that is too large or the memory is used up. */
    Block takeRegistered(int bytes) {
        if (bytes > SizeClasses.LARGEST) {
            return null;
        }
        int sizeClass = SizeClasses.of(bytes);
        BlockStack own = stripe.get()[sizeClass];
        Block block = own.pop();
        if (block == null) {
            block = takeElsewhere(sizeClass);
            if (block == null) {
                return null;
            }
        }
        block.home = own;
        block.age = 0;
        return block;
    }

    private Block takeElsewhere(int sizeClass) {
        Block block = cut(sizeClass);
        if (block == null) {
            block = steal(sizeClass);
        }
        if (block == null) {
            block = grow(sizeClass);
        }
        if (block == null && reclaim()) {
            block = cut(sizeClass);
            if (block == null) {
                makeRoom(SizeClasses.sizeOf(sizeClass));
                block = grow(sizeClass);
            }
        }
        if (block == null) {
            tellShortage();
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

    private synchronized Block cut(int sizeClass) {
        Slab slab = slabs[sizeClass];
        Block block = slab == null ? null : slab.cut();
        if (block == null && !spares.isEmpty()) {
            int size = SizeClasses.sizeOf(sizeClass);
            Slab spare = spares.stream().filter(each -> each.bytes() >= size).min(Comparator.comparingInt(Slab::bytes))
                    .orElse(null);
            if (spare != null) {
                block = use(spare, sizeClass);
            }
        }
        return block;
    }

    /** Makes a slab one of a size class. */
    private Block use(Slab slab, int sizeClass) {
        inUse.add(slab); // first, as there may be no memory for it
        spares.remove(slab);
        slab.cutInto(sizeClass);
        slabs[sizeClass] = slab;
        slabBytes[sizeClass] += slab.bytes();
        return slab.cut();
    }

    // --- More memory

    /** Adds a slab, or finds that there can be none. The provider may take its time for memory, so nobody else waits for it. */
    private Block grow(int sizeClass) {
        int blockBytes = SizeClasses.sizeOf(sizeClass);
        int bytes = reserve(sizeClass, blockBytes);
        if (bytes == 0) {
            return null;
        }
        Slab slab = null;
        String reason = "the provider has failed";
        Block block;
        try {
            for (int size = bytes; slab == null && size >= blockBytes && size > 0; size = Slab.wholePages(size / 2)) {
                try {
                    slab = Slab.allocate(provider, size);
                    reason = "";
                } catch (IOException e) {
                    LOGGER.debug("No registered memory of {} bytes", size, e);
                    reason = e.getMessage();
                }
                if (size <= LEAST_SLAB_BYTES) {
                    break;
                }
            }
        } finally { // whatever a provider throws, nothing stays reserved for a slab that is not there
            block = grown(sizeClass, bytes, slab, reason);
        }
        return block;
    }

    /** How large the next slab may be, 0 if there can be none. So much counts as registered from now on. */
    private synchronized int reserve(int sizeClass, int blockBytes) {
        if (System.nanoTime() - refusedUntilNanos < 0) {
            return 0;
        }
        // Slabs grow with their size class, so that a little use takes little memory and much use few registrations.
        long wanted = Math.min(LARGEST_SLAB_BYTES, Math.max(firstSlabBytes, slabBytes[sizeClass] / GROWTH_PART));
        wanted = Math.max(1, wanted / blockBytes) * blockBytes;
        int bytes = Slab.wholePages(Math.min(wanted, maxBytes - registeredBytes));
        if (bytes < blockBytes) {
            refusal = "";
            return 0;
        }
        registeredBytes += bytes;
        return bytes;
    }

    private synchronized Block grown(int sizeClass, int reservedBytes, Slab slab, String reason) {
        refusal = reason;
        if (slab == null) {
            registeredBytes -= reservedBytes;
            refusedUntilNanos = System.nanoTime() + REFUSED_NANOS;
            return null;
        }
        try {
            spares.add(slab); // where it is found again if there is no memory for the last step
            regions.add(slab.region);
        } catch (Throwable t) {
            spares.remove(slab);
            registeredBytes -= slab.close() ? reservedBytes : reservedBytes - slab.bytes();
            throw t;
        }
        registeredBytes -= reservedBytes - slab.bytes();
        Slab current = slabs[sizeClass];
        Block block = current == null ? null : current.cut();
        if (block != null) {
            return block; // another thread was faster: the rest of its slab would never be cut if this one took its place
        }
        return use(slab, sizeClass);
    }

    // --- Less memory

    /** Makes spares of all slabs that nobody uses; {@code false} if there are none. */
    private synchronized boolean reclaim() {
        long pushes = 0;
        for (BlockStack[] stacks : stripes) {
            for (BlockStack stack : stacks) {
                pushes += stack.pushes();
            }
        }
        long released = pushes - pushesSwept;
        long startNanos = System.nanoTime();
        if (pushesSwept >= 0 && (released == 0 || released < blocksSwept / SWEEP_COST && startNanos - nextSweepNanos < 0)) {
            return !spares.isEmpty(); // a search would find nothing, or not enough to be worth it
        }
        boolean found = sweep(0);
        pushesSwept = pushes;
        if (found) {
            blocksSwept = 0; // that was worth it
        }
        long endNanos = System.nanoTime();
        nextSweepNanos = endNanos + SWEEP_COST * (endNanos - startNanos);
        return !spares.isEmpty();
    }

    /**
     * Finds the slabs that nobody uses, and that have been unused for a number of trims, and makes spares of them.
     *
     * @return whether there are any
     */
    private boolean sweep(int trims) {
        countFree(trims);
        boolean found = false;
        for (Slab slab : inUse) {
            slab.leaving = slab.isFree() && slab.age >= trims;
            found |= slab.leaving;
        }
        if (!found) {
            return false;
        }
        spares.ensureCapacity(spares.size() + inUse.size()); // below nothing needs memory, or blocks would be lost
        takeBlocksOfLeaving();
        int kept = 0;
        for (int i = 0; i < inUse.size(); i++) {
            Slab slab = inUse.get(i);
            if (slab.leaving) {
                leaveSizeClass(slab);
                slab.age = trims;
                spares.add(slab);
            } else {
                inUse.set(kept++, slab);
            }
        }
        found = kept < inUse.size();
        while (inUse.size() > kept) {
            inUse.remove(inUse.size() - 1);
        }
        return found;
    }

    /** How many free blocks each slab has, and for how many trims it has had no others. */
    private void countFree(int trims) {
        for (Slab slab : inUse) {
            slab.free = 0;
            slab.age = Integer.MAX_VALUE;
        }
        blocksSwept = 0;
        filter(block -> {
            block.age += trims > 0 ? 1 : 0;
            block.slab.free++;
            block.slab.age = Math.min(block.slab.age, block.age);
            blocksSwept++;
            return true;
        });
    }

    /**
     * Takes the blocks of slabs that leave off the stacks. A slab of which somebody has taken one meanwhile gets them back, and
     * stays.
     */
    private void takeBlocksOfLeaving() {
        for (int i = 0; i < inUse.size(); i++) {
            Slab slab = inUse.get(i);
            slab.free = slab.leaving ? 0 : slab.free;
        }
        filter(takeLeaving);
        for (int i = 0; i < inUse.size(); i++) {
            Slab slab = inUse.get(i);
            slab.leaving &= slab.isFree();
        }
        for (Block block = taken; block != null; block = taken) {
            taken = block.below;
            block.below = null;
            if (!block.slab.leaving) {
                block.release();
            }
        }
    }

    private boolean stays(Block block) {
        if (block.slab.leaving) {
            block.slab.free++;
            block.below = taken;
            taken = block;
        }
        return !block.slab.leaving;
    }

    private void leaveSizeClass(Slab slab) {
        slab.leaving = false;
        slabBytes[slab.sizeClass()] -= slab.bytes();
        if (slabs[slab.sizeClass()] == slab) {
            slabs[slab.sizeClass()] = null;
        }
    }

    private void filter(Predicate<Block> filter) {
        for (BlockStack[] stacks : stripes) {
            for (BlockStack stack : stacks) {
                stack.filter(filter);
            }
        }
    }

    /** Gives spares back, which are too small for a block, until there is room for it. */
    private synchronized void makeRoom(int blockBytes) {
        Iterator<Slab> each = spares.iterator();
        while (each.hasNext()) {
            Slab spare = each.next();
            each.remove();
            giveBack(spare);
            if (maxBytes - registeredBytes >= blockBytes && refusal.isEmpty()) {
                break;
            }
        }
        refusedUntilNanos = System.nanoTime();
    }

    private void giveBack(Slab slab) {
        try {
            regions.remove(slab.region); // first: what comes to lie there is not registered
        } catch (OutOfMemoryError e) {
            addSpare(slab);
            throw e;
        }
        if (slab.close()) {
            givenBack(slab.bytes());
        }
    }

    private synchronized void addSpare(Slab slab) {
        spares.add(slab);
    }

    private synchronized void givenBack(int bytes) {
        registeredBytes -= bytes;
        refusedUntilNanos = System.nanoTime();
    }

    /**
     * Gives the slabs back to the system that were not used since the last trim but one. That can take seconds, in which event
     * loops need memory: until its turn comes each slab is a spare, and nobody waits for it.
     *
     * @return whether it may be worth to trim again, because a slab is free, but not for long enough
     */
    boolean trim() {
        findUnused();
        for (Slab unused = takeUnused(); unused != null; unused = takeUnused()) {
            giveBack(unused);
        }
        return isAnyFree();
    }

    private synchronized void findUnused() {
        spares.forEach(spare -> spare.age++);
        sweep(TRIMS_UNUSED);
    }

    private synchronized Slab takeUnused() {
        Slab unused = spares.stream().filter(spare -> spare.age >= TRIMS_UNUSED).findFirst().orElse(null);
        spares.remove(unused);
        return unused;
    }

    private synchronized boolean isAnyFree() {
        return !spares.isEmpty() || inUse.stream().anyMatch(slab -> slab.age < TRIMS_UNUSED && slab.isFree());
    }

    private synchronized void tellShortage() {
        shortages++;
        long now = System.nanoTime();
        if (now - nextLogNanos >= 0) {
            LOGGER.warn("No more registered memory for provider {}, asked for {} times: {}. Data in other memory is copied, or "
                    + "fails.",
                    provider.name(), shortages, shortage());
            nextLogNanos = now + LOG_INTERVAL_NANOS;
            shortages = 0;
        }
    }
}
