package org.nettyrdma.channel;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.nettyrdma.verbs.MemoryRegion;
import org.nettyrdma.verbs.VerbsProvider;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Registered memory that is cut into blocks of one size, and into blocks of another when all of them are free. The one place
 * where memory is allocated and registered. Guarded by its {@link BlockPool}, but for {@link #region}.
 */
final class Slab {

    private static final Logger LOGGER = LoggerFactory.getLogger(Slab.class);
    private static final int PAGE_BYTES = 4096;

    final MemoryRegion region;
    private final VerbsProvider provider;
    private final ByteBuffer memory; // as the provider has allocated it
    private int sizeClass;
    private int blockBytes;
    private int cut; // blocks

    // The pool's notes of its last look at the free blocks.
    /** How many blocks are free. */
    int free;
    /** For how many trims none has been used. */
    int age;
    /** Whether all blocks are being taken away. */
    boolean leaving;

    private Slab(VerbsProvider provider, ByteBuffer memory, MemoryRegion region) {
        this.provider = provider;
        this.memory = memory;
        this.region = region;
    }

    /** The nearest size that is a whole number of pages, and not more. */
    static int wholePages(long bytes) {
        return (int) (bytes & -PAGE_BYTES);
    }

    /**
     * Memory of whole pages.
     *
     * @throws IOException if there is no more, or no more can be registered; the message says why
     */
    static Slab allocate(VerbsProvider provider, int bytes) throws IOException {
        ByteBuffer memory;
        try {
            memory = provider.allocate(bytes);
        } catch (IOException | OutOfMemoryError e) {
            throw new IOException("there is no memory for it (" + e.getMessage() + ')', e);
        }
        MemoryRegion region = null;
        Slab slab = null;
        try {
            region = provider.registerMemory(memory);
            slab = new Slab(provider, memory, region);
        } catch (IOException e) {
            throw new IOException("the device refuses to register more (" + e.getMessage()
                    + "); on Linux the limit of locked memory (ulimit -l) may be too low", e);
        } finally {
            if (slab == null) { // for want of memory, too
                if (region != null) {
                    region.close();
                }
                provider.free(memory);
            }
        }
        return slab;
    }

    int bytes() {
        return region.memory().capacity();
    }

    /** From now on blocks are of this size class; none of another may be in use. */
    void cutInto(int newSizeClass) {
        sizeClass = newSizeClass;
        blockBytes = SizeClasses.sizeOf(newSizeClass);
        cut = 0;
    }

    int sizeClass() {
        return sizeClass;
    }

    /** The next block that was never used; {@code null} if there is none. */
    Block cut() {
        int offset = cut * blockBytes;
        if (blockBytes > bytes() - offset) {
            return null;
        }
        Block block = new Block(this, offset, blockBytes);
        cut++; // not before there is something that gives it back
        return block;
    }

    /** Whether nobody uses any block, if {@link #free} is up to date. */
    boolean isFree() {
        return free == cut;
    }

    /**
     * Gives the memory back to the provider; {@code false} if it is lost, for what the device does not let go of must not be used
     * again.
     */
    boolean close() {
        try {
            region.close();
        } catch (RuntimeException e) {
            LOGGER.warn("{} bytes of registered memory are given up: the device does not let go of them", bytes(), e);
            LostMemory.keep(this);
            return false;
        }
        provider.free(memory);
        return true;
    }
}
