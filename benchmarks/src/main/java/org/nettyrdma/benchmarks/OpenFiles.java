package org.nettyrdma.benchmarks;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How many files a process may have open. */
final class OpenFiles {

    /** What a JVM needs for itself, and for selectors. */
    private static final int RESERVED = 500;

    private OpenFiles() {
    }

    /** Connections that one end may have; a JVM raises its limit to what {@code ulimit -Hn} says. */
    static long mostConnections() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? system.getMaxFileDescriptorCount() - RESERVED : Long.MAX_VALUE;
    }
}
