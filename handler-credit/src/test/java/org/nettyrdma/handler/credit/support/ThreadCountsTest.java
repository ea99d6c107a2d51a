package org.nettyrdma.handler.credit.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ThreadCountsTest {

    private static final int THREADS = 600; // more than have cells of their own
    private static final int TIMES = 500;

    private final ThreadCounts counts = new ThreadCounts(3);

    @Test
    void shouldSumWhatMoreThreadsCountThanHaveCells() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(new Thread(() -> {
                for (int time = 0; time < TIMES; time++) {
                    ThreadCounts.Cell cell = counts.cell();
                    cell.add(0, 3);
                    cell.add(2, -1);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(3L * THREADS * TIMES, counts.sum(0));
        assertEquals(0, counts.sum(1));
        assertEquals(-THREADS * TIMES, counts.sum(2));
        assertEquals(2L * THREADS * TIMES, counts.sum(0, 3));
    }
}
