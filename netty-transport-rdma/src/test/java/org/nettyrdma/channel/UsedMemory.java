package org.nettyrdma.channel;

import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** How much memory is in use, for tests that count what connections take. */
final class UsedMemory {

    private static final int NOISE_BYTES = 100_000;

    private UsedMemory() {
    }

    /**
     * Heap and direct memory in use.
     *
     * @param uncounted what is to be left out of it, at the same moment
     */
    static long bytes(LongSupplier uncounted) {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            long now = bytesNow() - uncounted.getAsLong();
            if (now < least - NOISE_BYTES) {
                i = 0; // what tests before this one have left is still being freed
            }
            least = Math.min(least, now);
        }
        return least;
    }

    private static long bytesNow() {
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct")).mapToLong(BufferPoolMXBean::getMemoryUsed).sum();
        return direct + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
