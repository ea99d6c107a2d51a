package org.nettyrdma.benchmarks;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;

/** Memory of this process. */
final class MemoryUse {

    private MemoryUse() {
    }

    /** Heap in use after a garbage collection, and direct buffers, those included that Netty takes past the JVM's count; in bytes. */
    static long bytes() {
        System.gc();
        long sum = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            sum += pool.getMemoryUsed();
        }
        return sum + Math.max(0, PlatformDependent.usedDirectMemory());
    }
}
