package org.nettyrdma.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.verbs.support.ShortHeap;

/** Registered memory that is to go back to the system when there is little heap. */
class ShortHeapPoolTest {

    @Test
    void shouldLoseNoBlock() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        private static final int BLOCKS = 600;
        private static final int BLOCK_BYTES = 4096;

        public static void main(String[] arguments) {
            trim(1 << 20); // so that all classes are there
            for (int spareBytes = 200; spareBytes <= 4000; spareBytes += 200) { // enough for the first steps, and not for all
                trim(spareBytes);
            }
        }

        private static void trim(int spareBytes) {
            MemoryOnlyProvider provider = new MemoryOnlyProvider();
            BlockPool pool = new BlockPool(provider, 16 << 20); // small slabs, and many of them
            List<Block> blocks = new ArrayList<>();
            for (int i = 0; i < BLOCKS; i++) {
                blocks.add(pool.takeRegistered(BLOCK_BYTES));
            }
            blocks.forEach(Block::release);
            pool.trim();
            byte[][] spare = {new byte[spareBytes]};
            ShortHeap.whileFull(() -> {
                spare[0] = null;
                try {
                    pool.trim();
                } catch (OutOfMemoryError e) {
                    return; // the timer tries again
                }
            });
            pool.trim();
            pool.trim();
            assertEquals(0, provider.registeredBytes(), () -> spareBytes + " bytes of heap");
            assertEquals(0, pool.registeredBytes());
        }
    }
}
