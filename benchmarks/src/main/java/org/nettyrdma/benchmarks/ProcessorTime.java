package org.nettyrdma.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Processor time of this process.
 *
 * @param nanos           of all of its threads, those that have ended not counted where the kernel tells nanoseconds
 * @param refinementNanos of it, that of the threads by which the collector G1 looks through stored references; 0 where the kernel
 *                        does not tell that of single threads
 */
record ProcessorTime(long nanos, long refinementNanos) {

    private static final Path THREADS = Path.of("/proc/self/task");
    private static final String REFINEMENT = "G1 Refine";

    static final ProcessorTime NONE = new ProcessorTime(0, 0);

    static ProcessorTime now() {
        try {
            return ofThreads();
        } catch (IOException e) { // a kernel without scheduler statistics; ticks of 10 ms instead
            var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            return new ProcessorTime(system.getProcessCpuTime(), 0);
        }
    }

    ProcessorTime plus(ProcessorTime other, int sign) {
        return new ProcessorTime(nanos + sign * other.nanos, refinementNanos + sign * other.refinementNanos);
    }

    private static ProcessorTime ofThreads() throws IOException {
        long sum = 0;
        long refinement = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                try {
                    String statistics = Files.readString(thread.resolve("schedstat"));
                    long nanos = Long.parseLong(statistics.substring(0, statistics.indexOf(' ')));
                    sum += nanos;
                    refinement += Files.readString(thread.resolve("comm")).startsWith(REFINEMENT) ? nanos : 0;
                } catch (NoSuchFileException e) {
                    if (Files.exists(thread)) {
                        throw e;
                    }
                    // else the thread has just ended
                }
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
        return new ProcessorTime(sum, refinement);
    }
}
