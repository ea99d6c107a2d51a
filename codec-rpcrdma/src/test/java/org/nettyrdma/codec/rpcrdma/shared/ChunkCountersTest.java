package org.nettyrdma.codec.rpcrdma.shared;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nettyrdma.codec.rpcrdma.ChunkStatistics.Counter;

class ChunkCountersTest {

    private static final int THREADS = 40; // more than have cells of their own
    private static final int TIMES = 10_000;

    private final ChunkCounters counters = new ChunkCounters();

    @Test
    void shouldCountWhatManyThreadsCount() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(new Thread(() -> {
                for (int time = 0; time < TIMES; time++) {
                    counters.increment(Counter.CALLS_INLINE);
                    counters.add(Counter.COPIED_BYTES, 3);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(THREADS * TIMES, counters.get(Counter.CALLS_INLINE));
        assertEquals(3L * THREADS * TIMES, counters.get(Counter.COPIED_BYTES));
        assertEquals(0, counters.get(Counter.EXPOSURES));
    }
}
