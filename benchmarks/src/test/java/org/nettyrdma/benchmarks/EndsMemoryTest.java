package org.nettyrdma.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class EndsMemoryTest {

    private final EndsMemory.Without atStart = new EndsMemory.Without(new MemoryUse(100, 10), new MemoryUse(200, 20));
    private final EndsMemory.Without closedAgain = new EndsMemory.Without(new MemoryUse(150, 1000), new MemoryUse(260, 2000));

    @Test
    void shouldCountWhatPoolsHaveKept() {
        EndsMemory memory = EndsMemory.between(atStart.withHeapOf(closedAgain), new MemoryUse(153, 1010),
                new MemoryUse(264, 2020));
        assertEquals(new EndsMemory(3 + 1000, 4 + 2000), memory);
    }

    @Test
    void shouldLeaveOutWhatTheFirstConnectionHasLeftOnTheHeap() {
        EndsMemory memory = EndsMemory.between(atStart.withHeapOf(closedAgain), new MemoryUse(150, 10), new MemoryUse(260, 20));
        assertEquals(new EndsMemory(0, 0), memory);
    }
}
