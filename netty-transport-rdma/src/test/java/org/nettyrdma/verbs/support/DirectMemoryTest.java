package org.nettyrdma.verbs.support;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class DirectMemoryTest {

    @Test
    void shouldSayWhatDoesNotFitIntoOnePiece() {
        for (int bytes : new int[] {Integer.MAX_VALUE - 4094, Integer.MAX_VALUE}) {
            assertEquals(bytes + " bytes in one piece (limit: 2147479552)",
                    assertThrows(OutOfMemoryError.class, () -> DirectMemory.allocatePages(bytes)).getMessage());
        }
    }
}
