package org.nettyrdma.benchmarks;

import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;

/**
 * Memory of a process.
 *
 * @param heapBytes   what a garbage collection has left
 * @param directBytes direct buffers, those included that Netty takes past the JVM's count
 */
record MemoryUse(long heapBytes, long directBytes) {

    /** That of this process, after a garbage collection. */
    static MemoryUse now() {
        System.gc();
        long heapBytes = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            // Not what is in use by now: calls that are under way make garbage again.
            MemoryUsage left = pool.getType() == MemoryType.HEAP ? pool.getCollectionUsage() : null;
            heapBytes += left == null ? 0 : left.getUsed();
        }
        long directBytes = Math.max(0, PlatformDependent.usedDirectMemory());
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            directBytes += pool.getMemoryUsed();
        }
        return new MemoryUse(heapBytes, directBytes);
    }

    long bytes() {
        return heapBytes + directBytes;
    }
}
