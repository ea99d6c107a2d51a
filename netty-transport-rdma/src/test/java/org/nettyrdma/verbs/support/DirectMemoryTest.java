package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.util.internal.PlatformDependent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DirectMemoryTest {

    @Test
    void shouldSayWhatDoesNotFitIntoOnePiece() {
        for (int bytes : new int[] {Integer.MAX_VALUE - 4094, Integer.MAX_VALUE}) {
            assertEquals(bytes + " bytes in one piece (limit: 2147479552)",
                    assertThrows(OutOfMemoryError.class, () -> DirectMemory.allocatePages(bytes)).getMessage());
        }
    }

    /** Else it would be left to the garbage collector for as long as the process lasts. */
    @Test
    void shouldFreeMemoryAlsoWhereOthersHadUsedItUpAtFirst() throws Exception {
        ShortHeap.run(Program.class);
    }

    static final class Program {

        public static void main(String[] arguments) {
            boolean canBeFreed = PlatformDependent.hasUnsafe();
            List<ByteBuffer> others = new ArrayList<>();
            for (int bytes = 1 << 20; bytes > 0; bytes >>= 10) {
                fill(others, bytes);
            }
            assertEquals(canBeFreed, DirectMemory.isFreedAtOnce());
            others.clear();
        }

        private static void fill(List<ByteBuffer> others, int bytes) {
            try {
                while (true) {
                    others.add(ByteBuffer.allocateDirect(bytes));
                }
            } catch (OutOfMemoryError e) {
                assertEquals("Cannot reserve", e.getMessage().substring(0, 14));
            }
        }
    }
}
