package org.nettyrdma.verbs.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.nettyrdma.verbs.support.IntTable;

/**
 * The blocks of one other process that a context has mapped, for reading only; shared by its connections to that process. A
 * block is mapped when it is first named. Used by one event loop only.
 */
final class PeerBlocks {

    /** More than any honest process has; beyond it all are let go, and mapped again as they are named. */
    static final int MAX_BLOCKS = 1024;
    /**
     * All that this process maps of others, a quarter of what Linux lets it map (vm.max_map_count): where that is used up the JVM
     * cannot go on. Beyond it, a context lets go those of the process of which it has most.
     */
    static final int MAX_BLOCKS_OF_ALL = 16_384;

    private static final AtomicInteger MAPPED = new AtomicInteger();

    private final ProcessDirectory directory;
    private final long instance;
    private final Map<Long, PeerBlocks> all;
    private final IntTable<MappedByteBuffer> blocks = new IntTable<>();
    private int users;
    private long mappings;

    private PeerBlocks(ProcessDirectory directory, long instance, Map<Long, PeerBlocks> all) {
        this.directory = directory;
        this.instance = instance;
        this.all = all;
    }

    /**
     * Finds or makes those of a process for one more connection.
     *
     * @param all those of the context, by process
     */
    static PeerBlocks acquire(ProcessDirectory directory, long instance, Map<Long, PeerBlocks> all) {
        PeerBlocks found = all.computeIfAbsent(instance, key -> new PeerBlocks(directory, instance, all));
        found.users++;
        return found;
    }

    /** A connection needs them no more. */
    void release() {
        if (--users == 0) {
            all.remove(instance);
            unmapAll();
        }
    }

    /**
     * The memory of a block.
     *
     * @param number from the peer
     * @throws IOException if the peer has no such block
     */
    ByteBuffer find(int number) throws IOException {
        MappedByteBuffer block = blocks.get(number);
        return block != null ? block : map(number);
    }

    /** How often a block was mapped. */
    long mappings() {
        return mappings;
    }

    private ByteBuffer map(int number) throws IOException {
        MappedFiles.settle(); // what was read before must fail here: neither while a file is open, nor in the JVM as it unmaps
        if (blocks.size() == MAX_BLOCKS) {
            unmapAll();
        }
        if (MAPPED.get() >= MAX_BLOCKS_OF_ALL) {
            all.values().stream().max(Comparator.comparingInt(each -> each.blocks.size())).ifPresent(PeerBlocks::unmapAll);
        }
        MappedByteBuffer block;
        try {
            block = MappedFiles.map(directory.file(instance, OwnBlocks.KIND, number), 1, Integer.MAX_VALUE);
        } catch (NoSuchFileException e) {
            throw new ShmProtocolException(EndReason.INVALID_BLOCK, "block %d, which does not exist", number);
        }
        try {
            blocks.put(number, block);
        } catch (Throwable t) { // no memory, for instance: nobody would find it to let it go
            MappedFiles.unmap(block);
            throw t;
        }
        MAPPED.incrementAndGet();
        mappings++;
        return block;
    }

    private void unmapAll() {
        MAPPED.addAndGet(-blocks.size());
        blocks.forEach(MappedFiles::unmap);
        blocks.clear();
    }
}
