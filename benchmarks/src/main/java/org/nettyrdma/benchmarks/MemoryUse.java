package org.nettyrdma.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Memory of this process. */
final class MemoryUse {

    private static final Path STATUS = Path.of("/proc/self/status");
    private static final String RESIDENT = "VmRSS:";

    private MemoryUse() {
    }

    /** Heap in use after a garbage collection, plus what is resident outside of the heap, in bytes. */
    static long bytes() throws IOException {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return runtime.totalMemory() - runtime.freeMemory();
    }

    static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(STATUS)) {
            if (line.startsWith(RESIDENT)) {
                return Long.parseLong(line.substring(RESIDENT.length(), line.length() - "kB".length()).trim()) * 1024;
            }
        }
        throw new IOException(STATUS + " has no " + RESIDENT);
    }
}
