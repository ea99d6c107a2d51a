package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.util.NettyRuntime;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads that find a pool empty at the same time, or while it gives memory back. */
class BlockPoolTest {

    private static final int MIB = 1 << 20;
    private static final int THREADS = 2;
    private static final int BLOCK_BYTES = 4096;
    private static final int BLOCKS = THREADS * MIB / BLOCK_BYTES;

    private final MemoryOnlyProvider provider = new MemoryOnlyProvider();
    private final BlockPool pool = new BlockPool(provider, 256 * MIB);
    private final ExecutorService executor = Executors.newFixedThreadPool(THREADS);

    @AfterEach
    void stop() {
        executor.shutdownNow();
    }

    /** One block for each thread, of which none sees the memory that the others register. */
    private List<Block> takeAtOnce() throws Exception {
        provider.gatherAllocations(new CyclicBarrier(THREADS));
        List<Future<Block>> blocks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            blocks.add(executor.submit(() -> pool.takeBlock(BLOCK_BYTES)));
        }
        List<Block> taken = new ArrayList<>();
        for (Future<Block> block : blocks) {
            taken.add(block.get(60, TimeUnit.SECONDS));
        }
        provider.gatherAllocations(null);
        assertEquals(THREADS * MIB, pool.registeredBytes());
        return taken;
    }

    @Test
    void shouldNotLetEventLoopsShareFreeBlocks() throws Exception {
        int eventLoops = Math.min(MIB / BLOCK_BYTES, Math.max(16, 2 * NettyRuntime.availableProcessors())); // of one slab
        Set<Integer> offsets = new HashSet<>();
        for (int i = 0; i < eventLoops; i++) {
            Thread eventLoop = new FastThreadLocalThread(() -> {
                Block block = pool.takeBlock(BLOCK_BYTES);
                offsets.add(block.offset); // before the next one starts
                block.release();
            });
            eventLoop.start();
            eventLoop.join();
        }
        assertEquals(eventLoops, offsets.size());
    }

    @Test
    void shouldUseAllMemoryThatThreadsHaveRegisteredAtOnce() throws Exception {
        List<Block> blocks = takeAtOnce();
        while (blocks.size() < BLOCKS) {
            blocks.add(pool.takeBlock(BLOCK_BYTES));
        }
        assertTrue(blocks.stream().allMatch(Block::isRegistered));
        assertEquals(BLOCKS, blocks.stream().map(block -> List.of(block.region(), block.offset)).distinct().count());
        assertEquals(THREADS * MIB, pool.registeredBytes());
        blocks.forEach(Block::release);
        assertTrue(pool.trim());
        assertFalse(pool.trim());
        assertEquals(0, provider.registeredBytes());
    }

    @Test
    void shouldGiveMemoryBackThatThreadsHaveRegisteredAtOnceAndOneUses() throws Exception {
        List<Block> blocks = takeAtOnce();
        Block kept = blocks.remove(0);
        blocks.forEach(Block::release);
        assertTrue(pool.trim());
        pool.trim();
        assertEquals(MIB, provider.registeredBytes());
        kept.release();
        pool.trim();
        pool.trim();
        assertEquals(0, provider.registeredBytes());
    }

    /** The system takes its time for large pieces, and on a busy machine the thread that gives them back waits in between. */
    @Test
    void shouldLetNobodyWaitWhileMemoryIsGivenBack() {
        BlockPool[] slow = new BlockPool[1];
        List<Block> takenMeanwhile = new ArrayList<>();
        MemoryOnlyProvider frees = new MemoryOnlyProvider() {
            @Override
            public void free(ByteBuffer memory) {
                takenMeanwhile.add(assertDoesNotThrow(
                        () -> executor.submit(() -> slow[0].takeBlock(2 * BLOCK_BYTES)).get(60, TimeUnit.SECONDS)));
                super.free(memory);
            }
        };
        slow[0] = new BlockPool(frees, 256 * MIB);
        List<Block> blocks = new ArrayList<>();
        while (blocks.size() < BLOCKS) {
            blocks.add(slow[0].takeBlock(BLOCK_BYTES));
        }
        blocks.forEach(Block::release);
        assertTrue(slow[0].trim());
        assertFalse(slow[0].trim());
        assertEquals(1, takenMeanwhile.size(), "pieces that were given back");
        assertTrue(takenMeanwhile.get(0).isRegistered(), "it is of the other piece");
        assertEquals(MIB, frees.registeredBytes());
        takenMeanwhile.get(0).release();
    }

    /** A peer chooses the sizes of its chunks, and can hold one of each size for as long as it moves data. */
    @Test
    void shouldLeaveMostMemoryToOthersWhereOneBlockOfEachSizeIsHeld() {
        BlockPool small = new BlockPool(provider, 28 * MIB);
        List<Block> held = new ArrayList<>();
        long heldBytes = 0;
        for (int sizeClass = 0; SizeClasses.sizeOf(sizeClass) <= MIB; sizeClass++) {
            heldBytes += SizeClasses.sizeOf(sizeClass);
            held.add(small.takeRegistered(SizeClasses.sizeOf(sizeClass)));
        }
        for (long left = 28 * MIB - 2 * heldBytes; left >= MIB; left -= MIB) {
            held.add(small.takeRegistered(MIB));
        }
        assertTrue(held.stream().noneMatch(Objects::isNull), () -> "of " + held.size() + " blocks");
        held.forEach(Block::release);
    }

    /** Each step looks at the memory: to count it, to find it by its address, to cut it; how often depends on the JDK. */
    @Test
    void shouldLoseNoMemoryThatThereIsNoMemoryToNote() {
        int failures = 0;
        while (failsAtLookup(failures + 1)) {
            failures++;
            assertEquals(pool.registeredBytes(), provider.registeredBytes());
            Block block = pool.takeRegistered(BLOCK_BYTES);
            assertEquals(MIB, provider.registeredBytes());
            block.release();
            pool.trim();
            pool.trim();
            assertEquals(0, provider.registeredBytes());
            assertEquals(0, pool.registeredBytes());
            assertEquals(0, provider.allocated());
        }
        assertTrue(failures >= 4, "each step should have failed once");
    }

    private boolean failsAtLookup(int lookup) {
        provider.failLookup(lookup);
        try {
            pool.takeRegistered(BLOCK_BYTES).release();
            return false;
        } catch (OutOfMemoryError e) {
            return true;
        } finally {
            provider.failLookup(0);
        }
    }
}
