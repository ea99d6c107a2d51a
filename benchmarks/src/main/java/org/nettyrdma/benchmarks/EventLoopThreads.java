package org.nettyrdma.benchmarks;

import com.sun.management.ThreadMXBean;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** What the JVM counts for the threads of an event loop group. */
final class EventLoopThreads {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final long[] ids;

    /** Starts those of the group's threads that do not run yet. */
    EventLoopThreads(EventExecutorGroup group) {
        List<Long> found = new ArrayList<>();
        for (EventExecutor executor : group) {
            found.add(executor.submit(() -> Thread.currentThread().getId()).syncUninterruptibly().getNow());
        }
        ids = found.stream().mapToLong(Long::longValue).toArray();
    }

    long allocatedBytes() {
        long sum = 0;
        for (long bytes : THREADS.getThreadAllocatedBytes(ids)) {
            sum += bytes;
        }
        return sum;
    }
}
