package org.nettyrdma.handler.credit;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CreditStatisticsTest {

    /** How long a loop takes, in time of the processor, until it is compiled by all means. */
    private static final long COMPILED_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** The compiler may take what it reads of a plain field for good, once it has read it often enough. */
    @Test
    void shouldShowChangesToAThreadThatLooksAgainAndAgain() throws Exception {
        CreditWindow window = new CreditWindow(8);
        requireSeen(() -> window.inUse() == 0, window::tryAcquire);
        requireSeen(() -> window.limit() == 1, () -> window.setLimit(8));
    }

    private static void requireSeen(BooleanSupplier before, Runnable change) throws InterruptedException {
        Thread looking = new Thread(() -> {
            while (before.getAsBoolean()) {
                // until the change is seen
            }
        });
        looking.setDaemon(true);
        looking.start();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        while (threads.getThreadCpuTime(looking.getId()) < COMPILED_NANOS) {
            Thread.yield();
        }
        change.run();
        looking.join(TimeUnit.SECONDS.toMillis(20));
        assertFalse(looking.isAlive());
    }
}
